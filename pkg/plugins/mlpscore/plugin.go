package mlpscore

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
)

// Name is the plugin's name in scheduler configurations.
const Name = "MLPScore"

// Models has the model to use now, which nobody changes. It may be called from any goroutine and does not block.
type Models interface {
	Current() *feature.Model
}

// MLPScore implements the scheduler plugin.
type MLPScore struct {
	args    *configv1.MLPScoreArgs
	models  Models
	metrics *Metrics
	clock   clock.PassiveClock
	outputs *outputs
	nodes   NodeInfos
	server  *server // nil: none is asked
}

var (
	_ fwk.PreScorePlugin  = (*MLPScore)(nil)
	_ fwk.ScorePlugin     = (*MLPScore)(nil)
	_ fwk.ScoreExtensions = (*MLPScore)(nil)
	_ fwk.ReservePlugin   = (*MLPScore)(nil)
	_ fwk.SignPlugin      = (*MLPScore)(nil)
)

// New builds the plugin for one profile.
func New(
	_ context.Context, obj runtime.Object, models Models, metrics *Metrics, nodes NodeInfos, now clock.PassiveClock,
) (*MLPScore, error) {
	args, ok := obj.(*configv1.MLPScoreArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type MLPScoreArgs, got %T", obj)
	}
	if err := configv1.ValidateMLPScoreArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	pl := &MLPScore{args: args, models: models, metrics: metrics, clock: now, outputs: newOutputs(metrics), nodes: nodes}
	if args.External != nil {
		pl.server = newServer(args.External)
	}
	return pl, nil
}

// Name returns the plugin's name.
func (pl *MLPScore) Name() string { return Name }
