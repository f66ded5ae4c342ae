package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// load reads a text as one file and converts all of it.
func load(text string) (nodes []model.Node, pods, bound []model.Pod, list *faults.List) {
	list = &faults.List{}
	set := Parse("in.yaml", []byte(text), list)
	nodes = set.ModelNodes(list)
	pods, bound = ModelPods(set.Expand(list), list)
	return nodes, pods, bound, list
}

func clean(t *testing.T, list *faults.List) {
	t.Helper()
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if warnings := list.Warnings(); len(warnings) > 0 {
		t.Fatalf("want no warnings, found %q", warnings)
	}
}

func withoutSource() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreFields(model.Node{}, "Source"), cmpopts.IgnoreFields(model.Pod{}, "Source"), cmpopts.EquateEmpty(),
	}
}

const twoNodes = `# Source: chart/templates/nodes.yaml
apiVersion: v1
kind: Node
metadata: {name: gpu-a, labels: {kubernetes.io/hostname: gpu-a, alibabacloud.com/gpu-card-model: T4, rack: rack-0}}
status:
  allocatable: &r {cpu: 96000m, memory: 1Gi, pods: "1001", alibabacloud.com/gpu-count: "4", alibabacloud.com/gpu-milli: "4000"}
  capacity: *r
---
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nvidia", "labels": {"nvidia.com/gpu.product": "A100"}},
 "status": {"capacity": {"cpu": "8", "memory": "2Ki", "nvidia.com/gpu": "2"}}}
`

func TestNodes(t *testing.T) {
	nodes, _, _, list := load(twoNodes)
	clean(t, list)
	want := []model.Node{
		{
			Name: "gpu-a", CPUMilli: 96000, MemoryBytes: 1 << 30, MaxPods: 1001, GPUs: 4, GPUModel: "T4",
			Labels: map[string]string{"kubernetes.io/hostname": "gpu-a", "alibabacloud.com/gpu-card-model": "T4", "rack": "rack-0"},
		},
		// What is allocatable is taken from the capacity; a kubelet would set the hostname.
		{
			Name: "nvidia", CPUMilli: 8000, MemoryBytes: 2048, GPUs: 2, GPUModel: "A100",
			Labels: map[string]string{"kubernetes.io/hostname": "nvidia", "nvidia.com/gpu.product": "A100"},
		},
	}
	if diff := cmp.Diff(want, nodes, withoutSource()); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestPods(t *testing.T) {
	_, pods, bound, list := load(`apiVersion: v1
kind: Pod
metadata:
  name: shared
  namespace: team
  annotations:
    alibabacloud.com/gpu-count: "1"
    alibabacloud.com/gpu-milli: "460"
    alibabacloud.com/gpu-card-model: "V100M16|V100M32"
    alibabacloud.com/creation-time: "2023-01-01T00:00:10Z"
    alibabacloud.com/deletion-time: "2023-01-01T01:00:00Z"
spec: {containers: [{name: main, image: x, resources: {limits: {cpu: 6, memory: 1Gi}, requests: {memory: 1Mi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: whole, annotations: {alibabacloud.com/creation-time: "2023-01-01T00:00:00Z"}}
spec: {nodeSelector: {rack: rack-1}, containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: "2"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bound, annotations: {alibabacloud.com/gpu-count: "2", alibabacloud.com/gpu-index: "3-0"}}
spec: {nodeName: gpu-a, containers: [{name: main, image: x, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: failed-before, annotations: {simon/pod-unscheduled: "true"}}
spec: {containers: [{name: main, image: x}]}
---
apiVersion: v1
kind: Pod
metadata: {name: ended}
spec: {containers: [{name: main, image: x}]}
status: {phase: Succeeded}
`)
	clean(t, list)
	want := []model.Pod{
		// A limit without a request counts as one. The trace starts with the pod below, ten seconds earlier.
		{
			Namespace: "team", Name: "shared", CPUMilli: 6000, MemoryBytes: 1 << 20, GPUs: 1, GPUMilli: 460,
			GPUModels: []string{"V100M16", "V100M32"}, Arrival: 10 * time.Second, Departure: time.Hour,
		},
		// A pod that requests no CPU counts as 100m.
		{
			Namespace: "default", Name: "whole", CPUMilli: 100, GPUs: 2, GPUMilli: 1000,
			NodeSelector: map[string]string{"rack": "rack-1"},
		},
	}
	if diff := cmp.Diff(want, pods, withoutSource()); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	want = []model.Pod{{
		Namespace: "default", Name: "bound", CPUMilli: 1000, GPUs: 2, GPUMilli: 1000, GPUIndexes: []int{0, 3}, Node: "gpu-a",
	}}
	if diff := cmp.Diff(want, bound, withoutSource()); diff != "" {
		t.Errorf("bound pods (-want +got):\n%s", diff)
	}
}

func names(pods []model.Pod) []string {
	var all []string
	for i := range pods {
		all = append(all, pods[i].Key())
	}
	return all
}

const template = `{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 250m}}}]}}`

func TestWorkloads(t *testing.T) {
	tests := map[string]struct {
		text        string
		pods, bound []string
	}{
		"a deployment":                 {text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec: {replicas: 2, template: " + template + "}", pods: []string{"a/web-847989544-0", "a/web-864766c5f-1"}},
		"one without replicas has one": {text: "apiVersion: extensions/v1beta1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {template: " + template + "}", pods: []string{"default/web-*-0"}},
		"a set numbers its pods":       {text: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 3, template: " + template + "}", pods: []string{"default/db-0", "default/db-1", "default/db-2"}},
		"a job has its completions":    {text: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {completions: 2, parallelism: 1, template: " + template + "}", pods: []string{"default/j-*-0", "default/j-*-1"}},
		"or as many as run at once":    {text: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 2, template: " + template + "}", pods: []string{"default/j-*-0", "default/j-*-1"}},
		"an old cron job runs one job": {text: "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: '@daily', jobTemplate: {spec: {template: " + template + "}}}", pods: []string{"default/c-*-0"}},
		"a replication controller":     {text: "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: r}\nspec: {replicas: 1, template: " + template + "}", pods: []string{"default/r-*-0"}},
		"a typed list need not repeat": {text: "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}]", pods: []string{"default/p"}},
		"a list of anything":           {text: "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}]", pods: []string{"default/p"}},
		"no replicas, no pods":         {text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 0, template: " + template + "}"},
		"what a workload owns is not added to what it makes": {
			text: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 1, template: " + template + "}\n---\n" +
				"apiVersion: v1\nkind: Pod\nmetadata: {name: db-0, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}\n" +
				"spec: {containers: [{name: c, image: i}]}",
			pods: []string{"default/db-0"},
		},
		"a daemon runs where its selector and the taints let it": {
			text: "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {disk: ssd}}\nstatus: {allocatable: {cpu: 1, memory: 1Gi}}\n---\n" +
				"apiVersion: v1\nkind: Node\nmetadata: {name: n2}\nstatus: {allocatable: {cpu: 1, memory: 1Gi}}\n---\n" +
				"apiVersion: v1\nkind: Node\nmetadata: {name: n3, labels: {disk: ssd}}\nspec: {taints: [{key: k, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 1, memory: 1Gi}}\n---\n" +
				"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: i}]}}}",
			bound: []string{"default/d-n1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, pods, bound, list := load(tc.text)
			clean(t, list)
			_, again, _, _ := load(tc.text)
			if diff := cmp.Diff(names(pods), names(again)); diff != "" {
				t.Errorf("want the same names each time (-first +second):\n%s", diff)
			}
			matches(t, tc.pods, names(pods))
			matches(t, tc.bound, names(bound))
		})
	}
}

// matches compares names; a * stands for what a hash decides.
func matches(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("want %q, found %q", want, got)
	}
	for i := range want {
		ok, err := filepath.Match(strings.ReplaceAll(want[i], "/", ":"), strings.ReplaceAll(got[i], "/", ":"))
		if err != nil || !ok {
			t.Errorf("want %s, found %s, error %v", want[i], got[i], err)
		}
	}
}

const podHead = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"

const podSpec = "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"

func TestFaultsNameFileLineAndField(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: m1}\nstatus:\n  allocatable:\n    cpu: 4\n    memory: 1Gi\n"
	tests := map[string]struct{ text, want string }{
		"two GPUs in parts":       {podHead + "  annotations:\n    alibabacloud.com/gpu-count: \"2\"\n    alibabacloud.com/gpu-milli: \"500\"\n" + podSpec, "in.yaml:7: metadata.annotations[alibabacloud.com/gpu-milli]: want 1000 with 2 GPUs"},
		"more than a GPU":         {podHead + "  annotations:\n    alibabacloud.com/gpu-milli: \"5000\"\n" + podSpec, "in.yaml:6: metadata.annotations[alibabacloud.com/gpu-milli]: want a whole number from 0 to 1000, found \"5000\""},
		"GPUs that are no number": {podHead + "  annotations:\n    alibabacloud.com/gpu-count: \"many\"\n" + podSpec, "in.yaml:6: metadata.annotations[alibabacloud.com/gpu-count]: want a whole number from 0 to 256, found \"many\""},
		"no share of two GPUs":    {podHead + "  annotations:\n    alibabacloud.com/gpu-count: \"2\"\n    alibabacloud.com/gpu-milli: \"0\"\n" + podSpec, "in.yaml:7: metadata.annotations[alibabacloud.com/gpu-milli]: want 1 to 1000 per GPU"},
		"devices that repeat":     {podHead + "  annotations:\n    alibabacloud.com/gpu-count: \"2\"\n    alibabacloud.com/gpu-index: 1-1\n" + podSpec, "in.yaml:7: metadata.annotations[alibabacloud.com/gpu-index]: want different device numbers"},
		"a time of another form":  {podHead + "  annotations:\n    alibabacloud.com/creation-time: yesterday\n" + podSpec, "in.yaml:6: metadata.annotations[alibabacloud.com/creation-time]: want a time such as 2006-01-02T15:04:05Z, found \"yesterday\""},
		"a negative request":      {podHead + "spec:\n  containers:\n  - name: c\n    image: i\n    resources:\n      requests:\n        cpu: -1\n", "in.yaml:11: spec.containers[0].resources.requests.cpu: want a quantity from 0 to 1000000, found -1"},
		"no quantity at all":      {podHead + "spec:\n  containers:\n  - name: c\n    image: i\n    resources:\n      requests:\n        cpu: 1\n        memory: lots\n", "in.yaml:12: spec.containers[0].resources.requests.memory: "},
		"a text for a list":       {podHead + "spec:\n  containers: none\n", "in.yaml:6: spec.containers: "},
		"a negative node":         {strings.ReplaceAll(node, "cpu: 4", "cpu: -4"), "in.yaml:6: status.allocatable.cpu: want a quantity from 0 to 1000000, found -4"},
		"a node without anything": {"apiVersion: v1\nkind: Node\nmetadata: {name: m1}\n", "in.yaml:1: status: want status.allocatable"},
		"GPUs that do not add up": {node + "    alibabacloud.com/gpu-count: 4\n    alibabacloud.com/gpu-milli: 3000\n", "in.yaml:4: status.capacity[alibabacloud.com/gpu-milli]: want 4000 for 4 GPUs"},
		"two of one name":         {podHead + podSpec + "---\n" + podHead + podSpec, "in.yaml:10: metadata.name: Pod default/p is there twice; the first one is at in.yaml:1"},
		"no name":                 {"apiVersion: v1\nkind: Pod\nmetadata: {}\n", "in.yaml:3: metadata.name: want a name"},
		"no kind":                 {"\n# first\napiVersion: v1\n", "in.yaml:3: kind: want the kind"},
		"not YAML":                {"a: 1\n---\nkind: Pod\n\tname: x\n", "in.yaml:4: not YAML"},
		"not an object":           {"- 1\n", "in.yaml:1: want a Kubernetes object"},
		"too many replicas":       {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 2000000000\n  template: " + template, "in.yaml:5: spec.replicas: want 0 to 1000000 pods"},
		"a template with a fault": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers: [{name: c, image: i, resources: {requests: {memory: -1}}}]\n", "in.yaml:7: spec.template.spec.containers[0].resources.requests.memory: want"},
		"a template with nothing": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template: {}\n", "in.yaml:5: spec.template: want a template with containers"},
		"lists without an end":    {strings.Repeat("{kind: List, items: [", 30) + strings.Repeat("]}", 30), "Lists within Lists"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, _, list := load(tc.text)
			if err := list.Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, found %v", tc.want, err)
			}
		})
	}
}

func TestWarningsNameWhatIsIgnored(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown key":           {podHead + "spec:\n  restartPolcy: Never\n  containers: [{name: c, image: i}]\n", "in.yaml:6: spec.restartPolcy: unknown key, ignored"},
		"the same in many":         {podHead + "spec: {x: 1, containers: [{name: c, image: i}]}\n---\n" + strings.Replace(podHead, "name: p", "name: q", 1) + "spec: {x: 1, containers: [{name: c, image: i}]}\n", "in.yaml:5: spec.x: unknown key, ignored (and 1 times more)"},
		"a kind without pods":      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "in.yaml: kind ConfigMap is no workload"},
		"a claim that is not here": {podHead + "spec: {containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n", "in.yaml: claim data is not there"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, _, list := load(tc.text)
			if err := list.Err(); err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, tc.want) {
				t.Errorf("want the warning %q, found %q", tc.want, all)
			}
		})
	}
}

func TestObstacles(t *testing.T) {
	list := &faults.List{}
	set := Parse("in.yaml", []byte("apiVersion: v1\nkind: Node\nmetadata: {name: m1}\nspec: {taints: [{key: k, effect: NoSchedule}]}\n---\n"+
		podHead+"spec: {affinity: {}, containers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: 1}]}]}\n"), list)
	want := []string{"taints (node m1)", "affinity (pod default/p)", "host ports (pod default/p)"}
	if diff := cmp.Diff(want, set.Obstacles(set.Expand(list))); diff != "" {
		t.Errorf("obstacles (-want +got):\n%s", diff)
	}
}

func TestReadTakesTheCopyWithRacks(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a/nodes.yaml":      twoNodes,
		"a/nodes-hier.yaml": twoNodes,
		"a/gpu-a.json":      "{}",
		"b/pods.yml":        podHead + podSpec,
		"b/README.md":       "no manifest",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := &faults.List{}
	set, err := Read(t.Context(), folder, list)
	if err != nil || list.Err() != nil {
		t.Fatal(err, list.Err())
	}
	if len(set.Nodes) != 2 || len(set.Pods) != 1 {
		t.Errorf("want 2 nodes and 1 pod, found %d and %d", len(set.Nodes), len(set.Pods))
	}
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "nodes-hier.yaml") || !strings.Contains(all, "gpu-a.json") {
		t.Errorf("want warnings of both files that were left out, found %q", all)
	}
	if _, err := Read(t.Context(), t.TempDir(), list); err == nil || !strings.Contains(err.Error(), ".yaml") {
		t.Errorf("want an error for a folder without manifests, found %v", err)
	}
}

// FuzzParse: no input panics, and what is not refused is valid in the model.
func FuzzParse(f *testing.F) {
	f.Add(twoNodes)
	f.Add(podHead + "  annotations: {alibabacloud.com/gpu-count: \"2\", alibabacloud.com/gpu-milli: \"500\"}\n" + podSpec)
	f.Add("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 3, template: " + template + "}")
	f.Add("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: " + template + "}\n---\n" + twoNodes)
	f.Add(strings.Repeat("{kind: List, items: [", 12) + strings.Repeat("]}", 12))
	f.Add("---\n--- # x\n...\n--- {kind: Pod}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "replicas") && len(text) > 300 {
			return // numbers that grow into a million pods take long and show nothing
		}
		nodes, pods, bound, list := load(text)
		if list.Err() != nil {
			return
		}
		cluster := model.Cluster{Nodes: nodes}
		if err := cluster.Validate(); err != nil && len(nodes) > 0 {
			t.Errorf("a cluster was accepted that is not valid: %v", err)
		}
		if err := model.ValidatePods(append(pods, bound...)); err != nil {
			t.Errorf("pods were accepted that are not valid: %v", err)
		}
	})
}
