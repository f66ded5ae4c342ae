package diskio

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// Name is the plugin's name in scheduler configurations.
const Name = "DiskIO"

// Disks knows the nodes' disks. Its methods may be called from any goroutine.
type Disks interface {
	// Disks returns what is known of a node's disks, or nil when nobody described them.
	Disks(node string) *blockio.Node
	// DiskNodes returns the nodes whose disks are described.
	DiskNodes() []string
	// DiskKinds returns the kinds of all disks that are known.
	DiskKinds() []blockio.Kind
	// OnDiskChange registers a function that is called when something about a node's disks may have changed.
	OnDiskChange(listener func(node string))
}

// ChangingModels are models that tell when they change.
type ChangingModels interface {
	Models
	// Known reports whether a kind of disk has a model of its own.
	Known(kind blockio.Kind) bool
	// OnModelChange registers a function that is called after the generation has changed.
	OnModelChange(listener func())
}

// Fills knows how many bytes pods that were just placed will write to their nodes while they fetch data.
type Fills interface {
	// On returns the bytes expected on the node of pods that were placed less than within ago. It does not allocate.
	On(node string, now time.Time, within time.Duration) int64
}

// DiskIO implements the scheduler plugin.
type DiskIO struct {
	*Accounts

	handle  fwk.Handle
	disks   Disks
	fills   Fills
	clock   clock.PassiveClock
	args    *configv1.DiskIOArgs
	scorer  *blockio.Scorer
	metrics *Metrics
	views   *views
	waiting *waiting.Pods[anyNode]
}

// anyNode is what rejected pods wait for: that some node's disks change.
type anyNode struct{}

var (
	_ fwk.PreFilterPlugin   = (*DiskIO)(nil)
	_ fwk.FilterPlugin      = (*DiskIO)(nil)
	_ fwk.PreScorePlugin    = (*DiskIO)(nil)
	_ fwk.ScorePlugin       = (*DiskIO)(nil)
	_ fwk.SignPlugin        = (*DiskIO)(nil)
	_ fwk.EnqueueExtensions = (*DiskIO)(nil)
)

// New builds the plugin for one profile. Its goroutines end with ctx.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle, disks Disks, models ChangingModels, fills Fills,
	now clock.PassiveClock, metrics *Metrics,
) (*DiskIO, error) {
	args, ok := obj.(*configv1.DiskIOArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type DiskIOArgs, got %T", obj)
	}
	if err := configv1.ValidateDiskIOArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	scorer, err := newScorer(args)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	pods, err := waiting.Start[anyNode](ctx, handle)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", Name, err)
	}
	core := handle.SharedInformerFactory().Core().V1()
	pl := &DiskIO{
		Accounts: NewAccounts(args, models, core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister()),
		handle:   handle, disks: disks, fills: fills, clock: now, args: args, scorer: scorer, metrics: metrics, waiting: pods,
	}
	pl.views = &views{
		charge: pl.Charge, models: models.Generation, disks: disks.Disks, staleAfter: args.StaleAfter.Duration,
		byNode: map[string]*view{},
	}
	metrics.observe(handle.ProfileName(), observed{disks: disks, models: models, clock: now, staleAfter: args.StaleAfter.Duration})
	disks.OnDiskChange(func(node string) {
		pl.views.changed(node)
		pods.Changed(anyNode{})
	})
	models.OnModelChange(func() { pods.Changed(anyNode{}) })
	return pl, nil
}

func newScorer(args *configv1.DiskIOArgs) (*blockio.Scorer, error) {
	strategies := map[configv1.DiskIOScoreStrategy]blockio.Strategy{
		configv1.DiskIOLeastAllocated:           blockio.LeastAllocated,
		configv1.DiskIOMostAllocated:            blockio.MostAllocated,
		configv1.DiskIORequestedToCapacityRatio: blockio.RequestedToCapacityRatio,
	}
	config := blockio.ScorerConfig{
		Strategy:       strategies[args.ScoreStrategy],
		PressureWeight: float64(args.PressureWeightPercent) / 100,
	}
	for _, point := range args.Shape {
		config.Shape = append(config.Shape, blockio.ShapePoint{Utilization: point.Utilization, Score: point.Score})
	}
	return blockio.NewScorer(config)
}

// Name returns the plugin's name.
func (pl *DiskIO) Name() string { return Name }
