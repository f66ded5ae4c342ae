package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/simonconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/snapshot"
)

// Source names what to simulate. Either Config is set, or at least Nodes.
type Source struct {
	// Config is a file in the predecessor's format.
	Config string
	// Nodes and Pods are files or folders: manifests, or CSV of the openb trace. A folder may hold both kinds of objects.
	Nodes, Pods []string
	// Kubeconfig is a file whose current context is read; empty means none.
	Kubeconfig string
	// Times reads the times of CSV files.
	Times bool
	// EmptyCluster accepts an input without nodes.
	EmptyCluster bool
}

// Loaded is an experiment without a policy, and what else is known of it.
type Loaded struct {
	Experiment simulator.Experiment
	// Objects are what manifests held, for engines that look at more than the model.
	Objects *manifests.Set
	// Obstacles are features of the input that native policies do not know.
	Obstacles []string
	// Export is where the predecessor's configuration wants snapshots written; empty prefixes want none.
	Export simonconfig.Export
	// Origin says where cluster and pods come from, in the words of the predecessor's output.
	Origin simonconfig.Cluster
}

// Load reads a source. The error is a *faults.Error if files are faulty; warnings go to list in any case.
func Load(ctx context.Context, source *Source, list *faults.List) (*Loaded, error) {
	l := loader{list: list, source: source, loaded: &Loaded{Objects: &manifests.Set{}}}
	var err error
	if source.Config != "" {
		err = l.config(ctx)
	} else {
		err = l.files(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	return l.loaded, nil
}

type loader struct {
	list   *faults.List
	source *Source
	loaded *Loaded
}

// config reads the predecessor's configuration and what it names.
func (l *loader) config(ctx context.Context) error {
	file := l.source.Config
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the cluster configuration: %w", err)
	}
	config := simonconfig.Parse(file, data, l.list)
	if config == nil {
		return l.list.Err()
	}
	cluster := &config.Spec.Cluster
	l.loaded.Origin = *cluster
	l.loaded.Export = config.Spec.CustomConfig.ExportConfig
	l.loaded.Experiment.Trace = config.Metadata.Name
	switch {
	case cluster.CustomConfig != "":
		err = l.path(ctx, simonconfig.Resolve(file, cluster.CustomConfig))
	case cluster.KubeConfig != "":
		err = l.cluster(ctx, simonconfig.Resolve(file, cluster.KubeConfig))
	}
	if err != nil {
		return err
	}
	l.convert()
	l.customise(&config.Spec.CustomConfig)
	return l.beside(ctx, config)
}

// customise copies how the workload is made. The predecessor takes the seed of the tuning for everything.
func (l *loader) customise(custom *simonconfig.Custom) {
	e := &l.loaded.Experiment
	e.Workload = simulator.Workload{
		Seed:        custom.WorkloadTuningConfig.Seed,
		Shuffle:     custom.ShufflePod,
		TuningRatio: max(custom.WorkloadTuningConfig.Ratio, 0),
	}
	e.Typical = simulator.Typical{
		IncludeCPUPods:      custom.TypicalPodsConfig.IsInvolvedCPUPods,
		PopularityThreshold: custom.TypicalPodsConfig.PodPopularityThreshold,
		IncreaseStep:        custom.TypicalPodsConfig.PodIncreaseStep,
		GPUWeight:           custom.TypicalPodsConfig.GPUResWeight,
	}
	e.Inflation.Ratio = custom.WorkloadInflationConfig.Ratio
	e.Deschedule = simulator.Deschedule{Policy: custom.DescheduleConfig.Policy, Ratio: custom.DescheduleConfig.Ratio}
}

// beside reads the applications and the workload of the next stage.
func (l *loader) beside(ctx context.Context, config *simonconfig.Config) error {
	for _, app := range config.Spec.AppList {
		if app.Path == "" || app.Chart {
			continue // noted by the reader of the configuration
		}
		set, err := manifests.Read(ctx, simonconfig.Resolve(l.source.Config, app.Path), l.list)
		if err != nil {
			return fmt.Errorf("application %s: %w", app.Name, err)
		}
		set.Nodes = l.loaded.Objects.Nodes // for its DaemonSets
		pods := set.Expand(l.list)
		l.note(set.Obstacles(pods))
		workload, bound := manifests.ModelPods(pods, l.list)
		l.loaded.Experiment.Apps = append(l.loaded.Experiment.Apps, simulator.App{Name: app.Name, Pods: append(bound, workload...)})
	}
	next := config.Spec.CustomConfig.NewWorkloadConfig
	if next == "" {
		return nil
	}
	set, err := manifests.Read(ctx, simonconfig.Resolve(l.source.Config, next), l.list)
	if err != nil {
		return fmt.Errorf("newWorkloadConfig: %w", err)
	}
	l.loaded.Experiment.NewWorkload, _ = manifests.ModelPods(set.Expand(l.list), l.list)
	return nil
}

func (l *loader) note(obstacles []string) {
	l.loaded.Obstacles = append(l.loaded.Obstacles, obstacles...)
}

// files reads what flags name.
func (l *loader) files(ctx context.Context) error {
	if l.source.Kubeconfig != "" {
		if err := l.cluster(ctx, l.source.Kubeconfig); err != nil {
			return err
		}
	}
	for _, path := range l.source.Nodes {
		if err := l.path(ctx, path); err != nil {
			return err
		}
		l.loaded.Experiment.Trace = traceName(path) // until a file of pods has a better one
	}
	for _, path := range l.source.Pods {
		if err := l.path(ctx, path); err != nil {
			return err
		}
		l.loaded.Experiment.Trace = traceName(path)
	}
	l.convert()
	return nil
}

// traceName is the file's name without what all files of the trace have in common.
func traceName(path string) string {
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return strings.TrimPrefix(stem, "openb_pod_list_")
}

func (l *loader) cluster(ctx context.Context, kubeconfig string) error {
	set, err := snapshot.Read(ctx, kubeconfig)
	if err != nil {
		return err
	}
	l.loaded.Objects.Merge(set, l.list)
	return nil
}

// convert turns all manifests that were read into the model, after what CSV files held.
func (l *loader) convert() {
	e, set := &l.loaded.Experiment, l.loaded.Objects
	pods := set.Expand(l.list)
	e.Cluster.Nodes = append(e.Cluster.Nodes, set.ModelNodes(l.list)...)
	workload, bound := manifests.ModelPods(pods, l.list)
	e.Pods, e.Daemons = append(e.Pods, workload...), append(e.Daemons, bound...)
	l.note(set.Obstacles(pods))
	l.checkSize()
}

// checkSize notes what leaves nothing to simulate.
func (l *loader) checkSize() {
	e := &l.loaded.Experiment
	from := faults.Position{File: firstOf(l.source.Config, l.source.Nodes, l.source.Kubeconfig)}
	if len(e.Cluster.Nodes) == 0 && !l.source.EmptyCluster {
		l.list.Add(from, "the cluster has no nodes: want at least one")
	}
	if len(e.Pods)+len(e.Daemons) == 0 {
		l.list.Warn(from, "there are no pods to place")
	}
}

func firstOf(config string, nodes []string, kubeconfig string) string {
	switch {
	case config != "":
		return config
	case len(nodes) > 0:
		return nodes[0]
	default:
		return kubeconfig
	}
}
