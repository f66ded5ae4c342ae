package input

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

const node = "apiVersion: v1\nkind: Node\nmetadata: {name: %}\nstatus: {allocatable: {cpu: 4, memory: 8Gi}}\n"

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: %}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func object(template, name string) string { return strings.ReplaceAll(template, "%", name) }

// TestLoadTheConfigurationOfThePredecessor also runs from another folder than that of the configuration.
func TestLoadTheConfigurationOfThePredecessor(t *testing.T) {
	folder := write(t, map[string]string{
		"c.yaml": `apiVersion: simon/v1alpha1
kind: Config
metadata: {name: demo}
spec:
  cluster: {customConfig: cluster}
  appList: [{name: web, path: apps/web}]
  newNode: node
  customConfig:
    shufflePod: true
    workloadTuningConfig: {ratio: 1.3, seed: 42}
    workloadInflationConfig: {ratio: 1.5, seed: 233}
    descheduleConfig: {ratio: 0.1, policy: cosSim}
    newWorkloadConfig: next
    typicalPodsConfig: {isInvolvedCpuPods: true, podPopularityThreshold: 95, podIncreaseStep: 1, gpuResWeight: 2}
`,
		"cluster/nodes.yaml": object(node, "m1") + "---\n" + object(node, "m2"),
		"cluster/pods.yaml":  object(pod, "p1"),
		"apps/web/all.yaml":  object(pod, "w1") + "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, image: i}]}}}\n",
		"next/pods.yaml":     object(pod, "x1"),
	})
	list := &faults.List{}
	loaded, err := Load(t.Context(), &Source{Config: filepath.Join(folder, "c.yaml")}, list)
	if err != nil {
		t.Fatal(err)
	}
	x := &loaded.Experiment
	if x.Trace != "demo" || len(x.Cluster.Nodes) != 2 || len(x.Pods) != 1 || len(x.NewWorkload) != 1 || x.NewWorkload[0].Name != "x1" {
		t.Errorf("want two nodes and a pod of each kind, found %+v", x)
	}
	want := simulator.Experiment{
		Workload:   simulator.Workload{Seed: 42, Shuffle: true, TuningRatio: 1.3},
		Typical:    simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1, GPUWeight: 2},
		Inflation:  simulator.Inflation{Ratio: 1.5},
		Deschedule: simulator.Deschedule{Policy: "cosSim", Ratio: 0.1},
	}
	got := simulator.Experiment{Workload: x.Workload, Typical: x.Typical, Inflation: x.Inflation, Deschedule: x.Deschedule}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("experiment (-want +got):\n%s", diff)
	}
	// The daemon runs on both nodes of the cluster.
	if len(x.Apps) != 1 || x.Apps[0].Name != "web" || len(x.Apps[0].Pods) != 3 {
		t.Errorf("want one application with three pods, found %+v", x.Apps)
	}
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "spec.newNode: has no effect") {
		t.Errorf("want a warning, found %q", all)
	}
}

func TestLoadFiles(t *testing.T) {
	folder := write(t, map[string]string{
		"nodes.csv":               "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,1,T4\n",
		"openb_pod_list_tiny.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\n",
		"mixed/nodes.csv":         "sn,cpu_milli,memory_mib,gpu,model\nb,1000,1024,1,T4\n",
		"mixed/more/pods.yaml":    object(pod, "q"),
		"tables/nodes.csv":        "sn,cpu_milli,memory_mib,gpu,model\nc,1000,1024,1,T4\n",
		"helm.yaml":               "# Source: web/templates/config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n# Source: web/templates/pod.yaml\n" + object(pod, "h"),
	})
	in := func(name string) string { return filepath.Join(folder, name) }
	list := &faults.List{}
	loaded, err := Load(t.Context(), &Source{
		Nodes: []string{in("nodes.csv"), in("mixed"), in("tables")}, Pods: []string{in("helm.yaml"), in("openb_pod_list_tiny.csv")},
	}, list)
	if err != nil {
		t.Fatal(err)
	}
	x := &loaded.Experiment
	var names []string
	for i := range x.Cluster.Nodes {
		names = append(names, x.Cluster.Nodes[i].Name)
	}
	for i := range x.Pods {
		names = append(names, x.Pods[i].Key())
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "paib-gpu/p", "default/q", "default/h"}, names); diff != "" || x.Trace != "tiny" {
		t.Errorf("trace %s, nodes and pods (-want +got):\n%s", x.Trace, diff)
	}
}

func TestLoadNotesAllFaults(t *testing.T) {
	folder := write(t, map[string]string{
		"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,x,1024,1,T4\n",
		"pods.yaml": object(pod, "false"),
	})
	_, err := Load(t.Context(), &Source{Nodes: []string{filepath.Join(folder, "nodes.csv")}, Pods: []string{filepath.Join(folder, "pods.yaml")}}, &faults.List{})
	var input *faults.Error
	if !errors.As(err, &input) || len(input.Faults) != 2 {
		t.Errorf("want both faults at once, found %v", err)
	}
	empty := write(t, map[string]string{"none.csv": "sn,cpu_milli,memory_mib,gpu,model\n"})
	source := &Source{Nodes: []string{filepath.Join(empty, "none.csv")}}
	if _, err := Load(t.Context(), source, &faults.List{}); err == nil || !strings.Contains(err.Error(), "the cluster has no nodes") {
		t.Errorf("want an error for a cluster without nodes, found %v", err)
	}
	source.EmptyCluster = true
	if _, err := Load(t.Context(), source, &faults.List{}); err != nil {
		t.Errorf("want an empty cluster where it is allowed, found %v", err)
	}
	for _, source := range []*Source{{Config: "absent"}, {Nodes: []string{"absent"}}, {Kubeconfig: "absent"}} {
		if _, err := Load(t.Context(), source, &faults.List{}); err == nil || !strings.Contains(err.Error(), "absent") {
			t.Errorf("want an error that names what is absent, found %v", err)
		}
	}
}
