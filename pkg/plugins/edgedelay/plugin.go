package edgedelay

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// Name is the plugin's name in scheduler configurations.
const Name = "EdgeDelay"

// EdgeDelay implements the scheduler plugin.
type EdgeDelay struct {
	*Shared
	args    *configv1.EdgeDelayArgs
	cloud   *cloud
	layers  *delay.Layers // nil: bounds are exact
	waiting *waiting.Pods[need]
	watch   *radiusWatch
}

var (
	_ fwk.PreFilterPlugin   = (*EdgeDelay)(nil)
	_ fwk.FilterPlugin      = (*EdgeDelay)(nil)
	_ fwk.PreScorePlugin    = (*EdgeDelay)(nil)
	_ fwk.ScorePlugin       = (*EdgeDelay)(nil)
	_ fwk.ReservePlugin     = (*EdgeDelay)(nil)
	_ fwk.SignPlugin        = (*EdgeDelay)(nil)
	_ fwk.EnqueueExtensions = (*EdgeDelay)(nil)
)

// New builds the plugin for one profile. Its goroutines end with ctx.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle, shared *Shared) (*EdgeDelay, error) {
	args, ok := obj.(*configv1.EdgeDelayArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type EdgeDelayArgs, got %T", obj)
	}
	if err := configv1.ValidateEdgeDelayArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	selector, err := labels.Parse(args.CloudSelector)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: cloudSelector: %w", Name, err)
	}
	pods, err := waiting.Start[need](ctx, handle)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", Name, err)
	}
	pl := &EdgeDelay{Shared: shared, args: args, cloud: newCloud(selector), waiting: pods}
	if err := pl.cloud.watch(handle.SharedInformerFactory().Core().V1().Nodes().Informer()); err != nil {
		return nil, fmt.Errorf("plugin %s: %w", Name, err)
	}
	if args.Clustering == configv1.DelayClusteringLayers {
		var initial []time.Duration
		for _, layer := range args.InitialClusterLayers {
			initial = append(initial, layer.Duration)
		}
		pl.layers = delay.NewLayers(shared.store, initial)
	}
	pl.watch = startRadiusWatch(ctx, shared.store, pl.nodesWithin, pods)
	return pl, nil
}

// Name returns the plugin's name.
func (pl *EdgeDelay) Name() string { return Name }

// query returns a bound in the words of package delay, with the arguments' defaults.
func (pl *EdgeDelay) query(bound *vicinityv1alpha1.DelayBound) delay.Query {
	q := delay.Query{Max: bound.Max, Percentile: delay.Percentile(pl.args.Percentile)}
	if bound.Percentile != 0 {
		q.Percentile = delay.Percentile(bound.Percentile)
	}
	policy := pl.args.OnUnknown
	if bound.OnUnknown != "" {
		policy = bound.OnUnknown
	}
	switch policy {
	case vicinityv1alpha1.DelayUnknownReject:
		q.OnUnknown = delay.PolicyReject
	case vicinityv1alpha1.DelayUnknownAllow:
		q.OnUnknown = delay.PolicyAllow
	default:
		q.OnUnknown = delay.PolicyEstimate
	}
	return q
}
