package cacheaware

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// Name is the plugin's name in scheduler configurations.
const Name = "CacheAware"

// Datasets knows where datasets are. Its methods may be called from any goroutine.
type Datasets interface {
	// Datasets returns what the sources say of a dataset now, those that say something, in their order.
	Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset
	// Known reports whether a source has heard of a dataset of that name, wherever it is.
	Known(key locality.DatasetKey, from []configv1.DatasetSource) bool
	// OnDatasetChange registers a function that is called when something about a dataset may have changed.
	OnDatasetChange(listener func(locality.DatasetKey))
	// HoldsData reports whether a source says that the node holds or serves any dataset. It is called for each
	// node if the arguments ask for keepOthersAwayPercent.
	HoldsData(node locality.Node, from []configv1.DatasetSource) bool
}

// CacheAware implements the scheduler plugin.
type CacheAware struct {
	*Shared
	args    *configv1.CacheAwareArgs
	rules   *locality.Rules
	waiting *waiting.Pods[locality.DatasetKey]
}

var (
	_ fwk.PreFilterPlugin   = (*CacheAware)(nil)
	_ fwk.FilterPlugin      = (*CacheAware)(nil)
	_ fwk.PostFilterPlugin  = (*CacheAware)(nil)
	_ fwk.PreScorePlugin    = (*CacheAware)(nil)
	_ fwk.ScorePlugin       = (*CacheAware)(nil)
	_ fwk.ReservePlugin     = (*CacheAware)(nil)
	_ fwk.SignPlugin        = (*CacheAware)(nil)
	_ fwk.EnqueueExtensions = (*CacheAware)(nil)
)

// New builds the plugin for one profile. Its goroutines end with ctx.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle, shared *Shared) (*CacheAware, error) {
	args, ok := obj.(*configv1.CacheAwareArgs)
	if !ok {
		return nil, fmt.Errorf("arguments of plugin %s: want *CacheAwareArgs, found %T", Name, obj)
	}
	if err := configv1.ValidateCacheAwareArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	pods, err := waiting.Start[locality.DatasetKey](ctx, handle)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", Name, err)
	}
	shared.datasets.OnDatasetChange(pods.Changed)
	return &CacheAware{Shared: shared, args: args, rules: rulesOf(args), waiting: pods}, nil
}

func rulesOf(args *configv1.CacheAwareArgs) *locality.Rules {
	if args.Scoring == configv1.ScoringCompatible {
		rules := locality.Compatible(corev1.LabelTopologyZone, corev1.LabelTopologyRegion)
		return &rules
	}
	rules := &locality.Rules{}
	for _, tier := range args.Tiers {
		rules.Tiers = append(rules.Tiers, locality.Tier{LabelKey: tier.LabelKey, Factor: float64(tier.Percent) / 100})
	}
	media := map[vicinityv1alpha1.Medium]locality.Medium{
		vicinityv1alpha1.MediumMemory: locality.MediumMemory,
		vicinityv1alpha1.MediumSSD:    locality.MediumSSD,
		vicinityv1alpha1.MediumHDD:    locality.MediumHDD,
	}
	for _, m := range args.Media {
		rules.SetMedium(media[m.Medium], float64(m.Percent)/100)
	}
	return rules
}

// Name returns the plugin's name.
func (pl *CacheAware) Name() string { return Name }

// converges reports whether pods of one cold dataset are brought together.
func (pl *CacheAware) converges() bool { return pl.args.ColdData.Policy == configv1.ColdDataConverge }

func (pl *CacheAware) patience(wait time.Duration) locality.Patience {
	return locality.Patience{Wait: wait, Tiers: len(pl.rules.Tiers)}
}

// nodeOf is the part of a node that locality looks at.
func nodeOf(node *corev1.Node) locality.Node {
	return locality.Node{Name: node.Name, Labels: node.Labels}
}
