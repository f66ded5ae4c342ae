package framework_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/snapshot"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// onlyFit lets kube-scheduler's own NodeResourcesFit decide: the less is used, the better.
const onlyFit = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    preScore: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}
    score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 2}]}
`

func liveNode(name, cpu string) *st.NodeWrapper {
	return st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
		Capacity(map[corev1.ResourceName]string{"cpu": cpu, "memory": "8Gi", "pods": "10"})
}

// question reads a live cluster, through a client in memory, and a pod.
func question(t *testing.T, pod *corev1.Pod) *framework.Question {
	t.Helper()
	tainted := liveNode("tainted", "8").Taints([]corev1.Taint{{Key: "broken", Effect: corev1.TaintEffectNoSchedule}}).Obj()
	client := fake.NewClientset(
		liveNode("large", "8").Obj(), liveNode("small", "4").Obj(), liveNode("full", "1").Obj(), tainted,
		// The full node has promised more than the 100m that the predecessor would count for a pod without a request.
		st.MakePod().Namespace("team").Name("busy").UID("1").Node("full").Req(map[corev1.ResourceName]string{"cpu": "950m"}).Obj(),
		st.MakePod().Namespace("team").Name("idle").UID("2").Node("full").Container("i").Obj(),
		st.MakePod().Namespace("team").Name("gone").UID("3").Node("removed").Container("i").Obj(),
		st.MakePod().Namespace("team").Name("half").UID("4").Node("small").Req(map[corev1.ResourceName]string{"cpu": "1", "memory": "4Gi"}).Obj(),
	)
	set, err := snapshot.List(t.Context(), client, "test")
	if err != nil {
		t.Fatal(err)
	}
	list := &faults.List{}
	q := &framework.Question{Cluster: model.Cluster{Nodes: set.ModelNodes(list)}}
	_, q.Running = manifests.ModelPods(set.Expand(list), list)
	asked, _ := manifests.ModelPods(manifests.FromCluster("pod.yaml", nil, []*corev1.Pod{pod}).Expand(list), list)
	if err := list.Err(); err != nil || len(asked) != 1 {
		t.Fatalf("want one pod to be asked about, found %d and %v", len(asked), err)
	}
	q.Pod = asked[0]
	return q
}

// TestDryRun: a pod of 1 CPU and 2 GiB. On large 1/8 of the CPU and 2/8 of the memory would be used: (87 + 75) / 2 = 81
// of 100 are left. On small 2/4 and 6/8: (50 + 25) / 2 = 37. The weight doubles both.
func TestDryRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	pod := st.MakePod().Namespace("team").Name("new").Req(map[corev1.ResourceName]string{"cpu": "1", "memory": "2Gi"}).Obj()
	got, err := framework.DryRun(t.Context(), &framework.Options{Config: []byte(onlyFit)}, question(t, pod))
	if err != nil {
		t.Fatal(err)
	}
	want := &framework.Answer{Node: "large", Nodes: []framework.Verdict{
		{Node: "large", Total: 162, Scores: []framework.Score{{Plugin: "NodeResourcesFit", Raw: 81, Weighted: 162}}},
		{Node: "small", Total: 74, Scores: []framework.Score{{Plugin: "NodeResourcesFit", Raw: 37, Weighted: 74}}},
		{Node: "full", Plugin: "NodeResourcesFit", Reason: "Insufficient cpu"},
		{Node: "tainted", Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestDryRunOfPodsThatFitNowhere(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, tc := range map[string]struct {
		pod            *st.PodWrapper
		plugin, reason string
	}{
		"too large":           {st.MakePod().Req(map[corev1.ResourceName]string{"cpu": "9"}), "NodeResourcesFit", "0/4 nodes are available"},
		"a label nobody has":  {st.MakePod().NodeSelector(map[string]string{"a": "b"}).Container("c"), "NodeAffinity", "didn't match Pod's node affinity/selector"},
		"asks for its device": {st.MakePod().Annotation("alibabacloud.com/gpu-count", "1").Container("c"), framework.GPUShare, "too little idle on GPUs"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := tc.pod.Namespace("team").Name("new").Obj()
			got, err := framework.DryRun(t.Context(), &framework.Options{Config: []byte(onlyFit)}, question(t, pod))
			if err != nil {
				t.Fatal(err)
			}
			if got.Node != "" || !strings.Contains(got.Reason, tc.reason) {
				t.Errorf("want no node for %q, found %+v", tc.reason, got)
			}
			for _, v := range got.Nodes {
				if v.Node == "large" && v.Plugin != tc.plugin {
					t.Errorf("want large to be rejected by %s, found %+v", tc.plugin, v)
				}
			}
		})
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"nothing":               {"", "scheduler configuration"},
		"another kind":          {"apiVersion: v1\nkind: Pod\n", "scheduler configuration"},
		"a plugin nobody knows": {strings.ReplaceAll(onlyFit, "NodeResourcesFit", "Nobody"), "Nobody"},
		"arguments of the wrong type": {
			onlyFit + "  pluginConfig: [{name: Open-Gpu-Share, args: {gpuSelMethod: 3}}]\n", "gpuSelMethod",
		},
		"a device choice nobody knows": {
			onlyFit + "  pluginConfig: [{name: Open-Gpu-Share, args: {gpuSelMethod: bset}}]\n", `device choice "bset"`,
		},
		"a scorer that is not prepared": {
			strings.Replace(onlyFit, "score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 2}]",
				"score: {disabled: [{name: '*'}], enabled: [{name: FGDScore}]", 1), "enable it there, too",
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			pod := st.MakePod().Namespace("team").Name("new").Container("c").Obj()
			_, err := framework.DryRun(t.Context(), &framework.Options{Config: []byte(tc.config)}, question(t, pod))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, found %v", tc.want, err)
			}
		})
	}
}
