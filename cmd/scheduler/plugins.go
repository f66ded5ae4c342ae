package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/cacheaware"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/edgedelay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/mlpscore"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// initialListTimeout bounds how long the scheduler waits at its start for custom resources to be listed. It then
// starts without them, and takes them into account once they arrive.
const initialListTimeout = 10 * time.Second

// plugins is the table of Vicinity's plugins and what they share. The framework builds a plugin once per
// profile; what is shared is built once, by the first factory that is called, because only a factory gets the
// scheduler's context, client configuration and informers.
type plugins struct {
	start      sync.Once
	err        error
	state      *state.State
	fills      *blockio.Fills // what CacheAware expects and DiskIO counts
	cacheAware *cacheaware.Shared
	diskIO     *diskio.Metrics
	models     *diskModels // of the first profile with DiskIO
	networks   *networks   // of the first profile with MLPScore
	edgeDelay  *edgedelay.Shared
	delays     *configv1.DelayFiles // of the first profile with EdgeDelay
	recorder   *sniffer.Recorder
}

func newPlugins() *plugins { return &plugins{fills: blockio.NewFills(configv1.MaxFillDuration)} }

// options registers every plugin with the scheduler.
func (p *plugins) options() []app.Option {
	return []app.Option{
		app.WithPlugin(cacheaware.Name, p.shared(p.newCacheAware)),
		app.WithPlugin(diskio.Name, p.shared(p.newDiskIO)),
		app.WithPlugin(edgedelay.Name, p.shared(p.newEdgeDelay)),
		app.WithPlugin(sniffer.Name, p.shared(p.newSniffer)),
		app.WithPlugin(mlpscore.Name, p.newMLPScore),
	}
}

func (p *plugins) newCacheAware(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return cacheaware.New(ctx, args, handle, p.cacheAware)
}

func (p *plugins) newDiskIO(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, ok := obj.(*configv1.DiskIOArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type DiskIOArgs, got %T", obj)
	}
	if p.models == nil {
		models, err := startDiskModels(ctx, args.DiskIOModelConfig, handle.ClientSet())
		if err != nil {
			return nil, err
		}
		p.models = models
	}
	if p.models.path != args.DiskIOModelConfig {
		return nil, fmt.Errorf("arguments of plugin %s, profile %s: diskIOModelConfig is %q, and %q in another profile; want the same in all",
			diskio.Name, handle.ProfileName(), args.DiskIOModelConfig, p.models.path)
	}
	return diskio.New(ctx, args, handle, p.state, p.models, p.fills, clock.RealClock{}, p.diskIO)
}

// newMLPScore needs none of the state, so a profile with this plugin alone watches no custom resource.
func (p *plugins) newMLPScore(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, ok := obj.(*configv1.MLPScoreArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type MLPScoreArgs, got %T", obj)
	}
	if p.networks == nil {
		networks, err := startNetworks(ctx, args, handle.ClientSet())
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", mlpscore.Name, err)
		}
		p.networks = networks
	}
	if p.networks.file != args.ModelFile || p.networks.configMap != args.ModelConfigMap {
		return nil, fmt.Errorf("arguments of plugin %s, profile %s: modelFile is %q and modelConfigMap %q, and %q and %q in another profile; "+
			"want the same in all", mlpscore.Name, handle.ProfileName(), args.ModelFile, args.ModelConfigMap, p.networks.file, p.networks.configMap)
	}
	nodes := func(name string) (fwk.NodeInfo, error) { return handle.SnapshotSharedLister().NodeInfos().Get(name) }
	return mlpscore.New(ctx, args, p.networks, p.networks.metrics, nodes, clock.RealClock{})
}

func (p *plugins) newEdgeDelay(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, ok := obj.(*configv1.EdgeDelayArgs)
	if !ok {
		return nil, fmt.Errorf("want args to be of type EdgeDelayArgs, got %T", obj)
	}
	if p.delays == nil {
		p.delays = &args.StaticFiles
		if args.StaticFiles != (configv1.DelayFiles{}) {
			if err := p.state.WatchDelayFiles(ctx, args.StaticFiles, registry{}); err != nil {
				return nil, err
			}
		}
	}
	if *p.delays != args.StaticFiles {
		return nil, fmt.Errorf("arguments of plugin %s, profile %s: staticFiles is %+v, and %+v in another profile; want the same in all",
			edgedelay.Name, handle.ProfileName(), args.StaticFiles, *p.delays)
	}
	return edgedelay.New(ctx, args, handle, p.edgeDelay)
}

func (p *plugins) newSniffer(_ context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return sniffer.New(args, handle, p.recorder)
}

// shared wraps a factory such that what the plugins share is there when it is called.
func (p *plugins) shared(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		p.start.Do(func() { p.err = p.startShared(ctx, handle) })
		if p.err != nil {
			return nil, p.err
		}
		return factory(ctx, args, handle)
	}
}

func (p *plugins) startShared(ctx context.Context, handle fwk.Handle) error {
	informers := handle.SharedInformerFactory()
	nodes, err := state.NewNodes(informers.Core().V1().Nodes().Informer())
	if err != nil {
		return err
	}
	known, err := state.New(handle.KubeConfig(), nodes, registry{})
	if err != nil {
		return err
	}
	metrics, err := cacheaware.NewMetrics(registry{})
	if err != nil {
		return err
	}
	if p.cacheAware, err = cacheaware.NewShared(known, nodes, informers, clock.RealClock{}, metrics, p.fills); err != nil {
		return err
	}
	delays, err := edgedelay.NewMetrics(registry{}, known.RTTs(), clock.RealClock{})
	if err != nil {
		return err
	}
	if p.edgeDelay, err = edgedelay.NewShared(known.RTTs(), informers, clock.RealClock{}, delays); err != nil {
		return err
	}
	if p.diskIO, err = diskio.NewMetrics(registry{}); err != nil {
		return err
	}
	if p.recorder, err = newRecorder(informers.Core().V1().Pods().Informer()); err != nil {
		return err
	}
	p.state = known
	go known.Run(ctx)
	awaitFirstList(ctx, known)
	return nil
}

func awaitFirstList(ctx context.Context, known *state.State) {
	listed, cancel := context.WithTimeoutCause(ctx, initialListTimeout, fmt.Errorf("not done after %s", initialListTimeout))
	defer cancel()
	if err := known.WaitForSync(listed); err != nil {
		klog.FromContext(ctx).Error(err, "Scheduling starts without them; they count once they are listed. "+
			"Is the scheduler allowed to get, list and watch them and customresourcedefinitions?")
	}
}

// registry puts collectors on the scheduler's own metrics endpoint. That registry panics on a collector it has
// already; plugins registers each one once.
type registry struct{}

// Register never fails.
func (registry) Register(c prometheus.Collector) error {
	legacyregistry.RawMustRegister(c)
	return nil
}
