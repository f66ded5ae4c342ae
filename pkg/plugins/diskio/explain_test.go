package diskio

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// withNodes gives the plugin a snapshot of nodes to look up.
func withNodes(ctx context.Context, t *testing.T, c *cluster, names ...string) {
	t.Helper()
	var nodes []*corev1.Node
	for _, name := range names {
		nodes = append(nodes, st.MakeNode().Name(name).Obj())
	}
	handle, err := frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{}, nil,
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)),
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(nil, nodes)))
	if err != nil {
		t.Fatal(err)
	}
	c.handle = handle
}

// TestScoresAreExplained: of n1, with 1000 MiB/s each way, the pod takes 100 reading and 200 writing: shares of 0.1 and
// 0.2, 100 x (1 - 0.15) = 85 points.
func TestScoresAreExplained(t *testing.T) {
	c := newCluster(t.Context(), t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1000, 1000, 2000))})
	withNodes(t.Context(), t, c, "n1", "without-disks")
	pod, state := asking("p", `{"rbps":"100Mi","wbps":"200Mi","blockSize":"4k"}`), framework.NewCycleState()
	if _, status := c.PreFilter(t.Context(), state, pod, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := c.PreScore(t.Context(), state, pod, []fwk.NodeInfo{node("n1")}); !status.IsSuccess() {
		t.Fatal(status)
	}
	data, err := state.Read(trace.ExplainKeyPrefix + Name)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]trace.Term{}
	for _, name := range []string{"n1", "without-disks", "gone"} {
		got[name] = data.(trace.Explainer).Explain(name)
	}
	want := map[string][]trace.Term{
		"n1": {
			{Name: "dev0", Value: 85, Unit: "points"},
			{Name: "dev0.read", Value: 0.1, Unit: "share"},
			{Name: "dev0.write", Value: 0.2, Unit: "share"},
		},
		"without-disks": nil,
		"gone":          nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}
