package edgedelay

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// edges has edge-1 to edge-3 at 10, 12 and 20 ms, and a cloud at 60.
func edges(ctx context.Context, t *testing.T, args configv1.EdgeDelayArgs) *cluster {
	t.Helper()
	c := newCluster(ctx, t, args, node("edge-1"), node("edge-2"), node("edge-3"), cloudNode("cloud"))
	c.measured("edge-1", map[string]float64{"edge-2": 10, "edge-3": 20, "cloud": 60})
	c.measured("edge-2", map[string]float64{"edge-1": 10, "edge-3": 12, "cloud": 60})
	c.measured("edge-3", map[string]float64{"edge-1": 20, "edge-2": 12, "cloud": 60})
	return c
}

func TestOnePod(t *testing.T) {
	pinned := on("edge-3", ownedBy(labelled("db-5-x", "pod-template-hash", "5"), "ReplicaSet", "db-5"))
	far := func(nodes ...string) map[string]string {
		reasons := map[string]string{}
		for i := 0; i < len(nodes); i += 2 {
			reasons[nodes[i]] = nodes[i+1]
		}
		return reasons
	}
	cases := map[string]struct {
		args configv1.EdgeDelayArgs
		run  []*corev1.Pod
		pod  *corev1.Pod
		want outcome
	}{
		// The margins: edge-1 1, edge-2 1-10/25 = 0.6, edge-3 0.2; nobody else needs them, so (margin+1)/2.
		"25 ms of a node": {
			pod: labelled("p", "delay_edge-1", "25"),
			want: outcome{
				Scores:  map[string]int64{"edge-1": 100, "edge-2": 80, "edge-3": 60},
				Reasons: far("cloud", "node(s) were farther than 25ms from edge-1"),
			},
		},
		// edge-2: (1-10/15 + 1)/2 = 2/3, (1-12/12 ...): of edge-3 12 of 15 ms, 0.2. The mean of 1/3 and 0.2 is 0.27.
		"two bounds, and both hold": {
			pod: labelled("p", "delay_edge-1", "15", "delay_edge-3", "15"),
			want: outcome{
				Scores: map[string]int64{"edge-2": 63},
				Reasons: far("edge-1", "node(s) were farther than 15ms from edge-3", "edge-3", "node(s) were farther than 15ms from edge-1",
					"cloud", "node(s) were farther than 15ms from edge-1"),
			},
		},
		"no bound prefers the cloud": {
			pod:  labelled("p"),
			want: outcome{Scores: map[string]int64{"edge-1": 0, "edge-2": 0, "edge-3": 0, "cloud": 100}},
		},
		"no bound, and the cloud is required": {
			args: configv1.EdgeDelayArgs{UnconstrainedPods: configv1.UnconstrainedRequireCloud},
			pod:  labelled("p"),
			want: outcome{
				Scores:  map[string]int64{"cloud": skipped},
				Reasons: far("edge-1", reasonNotCloud, "edge-2", reasonNotCloud, "edge-3", reasonNotCloud),
			},
		},
		"no bound, and such pods are ignored": {
			args: configv1.EdgeDelayArgs{UnconstrainedPods: configv1.UnconstrainedIgnore},
			pod:  labelled("p"),
			want: outcome{Scores: map[string]int64{"edge-1": skipped, "edge-2": skipped, "edge-3": skipped, "cloud": skipped}},
		},
		"another selector for the cloud": {
			args: configv1.EdgeDelayArgs{CloudSelector: "provider in (a, b)"},
			pod:  labelled("p"),
			want: outcome{Scores: map[string]int64{"edge-1": skipped, "edge-2": skipped, "edge-3": skipped, "cloud": skipped}},
		},
		"a preferred bound rejects nobody": {
			pod:  annotated("p", `[{"to":{"node":"edge-1"},"max":"20ms","required":false}]`),
			want: outcome{Scores: map[string]int64{"edge-1": 100, "edge-2": 75, "edge-3": 50, "cloud": 50}},
		},
		"a preferred bound to nothing": {
			pod:  annotated("p", `[{"to":{"node":"nosuch"},"max":"20ms","required":false}]`),
			want: outcome{Scores: map[string]int64{"edge-1": 100, "edge-2": 100, "edge-3": 100, "cloud": 100}},
		},
		"a workload by the name of its Deployment": {
			run: []*corev1.Pod{pinned}, pod: labelled("p", "delay_db", "15"),
			want: outcome{
				Scores:  map[string]int64{"edge-2": 60, "edge-3": 100},
				Reasons: far("edge-1", "node(s) were farther than 15ms from edge-3", "cloud", "node(s) were farther than 15ms from edge-3"),
			},
		},
		"a node comes before a workload of its name": {
			run: []*corev1.Pod{on("edge-3", labelled("edge-1"))}, pod: labelled("p", "delay_edge-1", "5"),
			want: outcome{
				Scores: map[string]int64{"edge-1": 100},
				Reasons: far("edge-2", "node(s) were farther than 5ms from edge-1", "edge-3", "node(s) were farther than 5ms from edge-1",
					"cloud", "node(s) were farther than 5ms from edge-1"),
			},
		},
		"with clustering Layers": {
			args: configv1.EdgeDelayArgs{Clustering: configv1.DelayClusteringLayers},
			pod:  labelled("p", "delay_edge-2", "13"),
			want: outcome{
				Scores: map[string]int64{"edge-1": 62, "edge-2": 100},
				Reasons: far("edge-3", "node(s) were in another cluster of nodes than edge-2 at 13ms",
					"cloud", "node(s) were farther than 13ms from edge-2"),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := edges(ctx, t, tc.args)
			c.run(t, tc.run...)
			if diff := cmp.Diff(tc.want, c.try(ctx, t, tc.pod), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsThatWait(t *testing.T) {
	ended := on("edge-1", labelled("db"))
	ended.Status.Phase = corev1.PodSucceeded
	leaving := on("edge-1", labelled("db"))
	leaving.DeletionTimestamp = &metav1.Time{Time: testNow()}
	cases := map[string]struct {
		run  []*corev1.Pod
		pod  *corev1.Pod
		want string
	}{
		"nothing of that name": {
			pod:  labelled("p", "delay_nosuch", "5"),
			want: `label "delay_nosuch": nothing is called "nosuch", neither a node nor a workload in namespace "team"; the pod waits for one`,
		},
		"a part of a name": {pod: labelled("p", "delay_edge", "500"), want: `nothing is called "edge"`},
		"a workload of another namespace": {
			run: []*corev1.Pod{on("edge-1", st.MakePod().Namespace("other").Name("db").UID("x").Obj())},
			pod: labelled("p", "delay_db", "5"), want: `nothing is called "db"`,
		},
		"a workload that is not placed": {
			run: []*corev1.Pod{labelled("db")}, pod: labelled("p", "delay_db", "5"),
			want: `no pod of workload "db" of namespace "team" has a node yet; the pod waits for one`,
		},
		"a workload that has ended":     {run: []*corev1.Pod{ended}, pod: labelled("p", "delay_db", "5"), want: `nothing is called "db"`},
		"a workload that is going away": {run: []*corev1.Pod{leaving}, pod: labelled("p", "delay_db", "5"), want: `nothing is called "db"`},
		"a node that is not there": {
			pod: annotated("p", `[{"to":{"node":"nosuch"},"max":"5ms"}]`), want: `annotation "vicinity.dev/delay"[0]: there is no node "nosuch"`,
		},
		"a zone without nodes": {pod: annotated("p", `[{"to":{"zone":"west"},"max":"5ms"}]`), want: `no node is in zone "west"`},
		"a selector without pods": {
			pod: annotated("p", `[{"to":{"selector":"app=db"},"max":"5ms"}]`), want: `there is no pod of selector "app=db" of namespace "team"`,
		},
		"an endpoint that nobody measured": {
			pod: annotated("p", `[{"to":{"endpoint":"db.example.com"},"max":"5ms"}]`), want: `no agent has measured the way to endpoint "db.example.com" yet`,
		},
		"a label that cannot be read": {pod: labelled("p", "delay_edge-1", "abc"), want: `label "delay_edge-1": want milliseconds`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := edges(ctx, t, configv1.EdgeDelayArgs{})
			c.run(t, tc.run...)
			if got := c.try(ctx, t, tc.pod).Rejected; !strings.Contains(got, tc.want) {
				t.Errorf("rejected for %q, want %q", got, tc.want)
			}
		})
	}
}

func nodesOf(out outcome) (nodes []string) {
	for name := range out.Scores {
		nodes = append(nodes, name)
	}
	return nodes
}

func TestWhatABoundMayReferTo(t *testing.T) {
	zoned := st.MakeNode().Name("west-1").Label(corev1.LabelTopologyZone, "west").Obj()
	cases := map[string]struct {
		run  []*corev1.Pod
		pod  *corev1.Pod
		want []string
	}{
		"each pod of a workload": {
			run: []*corev1.Pod{on("edge-1", ownedBy(labelled("db-0"), "StatefulSet", "db")), on("edge-3", ownedBy(labelled("db-1"), "StatefulSet", "db"))},
			pod: labelled("p", "delay_db", "15"), want: []string{"edge-2"},
		},
		"one pod of a workload": {
			run: []*corev1.Pod{on("edge-1", ownedBy(labelled("db-0"), "StatefulSet", "db")), on("edge-3", ownedBy(labelled("db-1"), "StatefulSet", "db"))},
			pod: labelled("p", "delay_db-1", "5"), want: []string{"edge-3"},
		},
		"namespace.name": {
			run: []*corev1.Pod{on("edge-2", st.MakePod().Namespace("other").Name("db").UID("x").Obj())},
			pod: labelled("p", "delay_other.db", "5"), want: []string{"edge-2"},
		},
		"a selector of another namespace": {
			run: []*corev1.Pod{on("edge-2", st.MakePod().Namespace("other").Name("db").UID("x").Label("app", "db").Obj())},
			pod: annotated("p", `[{"to":{"selector":"app=db","namespace":"other"},"max":"5ms"}]`), want: []string{"edge-2"},
		},
		"the pod's own workload, of which it is the first": {
			run: []*corev1.Pod{ownedBy(labelled("web-0", "delay_web", "5"), "StatefulSet", "web")},
			pod: ownedBy(labelled("web-0", "delay_web", "5"), "StatefulSet", "web"), want: []string{"cloud", "edge-1", "edge-2", "edge-3", "west-1"},
		},
		"the pod's own workload, of which it is the second": {
			run: []*corev1.Pod{
				on("edge-1", ownedBy(labelled("web-0", "delay_web", "5"), "StatefulSet", "web")),
				ownedBy(labelled("web-1", "delay_web", "5"), "StatefulSet", "web"),
			},
			pod: ownedBy(labelled("web-1", "delay_web", "5"), "StatefulSet", "web"), want: []string{"edge-1"},
		},
		"a zone":      {pod: annotated("p", `[{"to":{"zone":"west"},"max":"8ms"}]`), want: []string{"edge-3", "west-1"}},
		"an endpoint": {pod: annotated("p", `[{"to":{"endpoint":"db.example.com:5432"},"max":"8ms"}]`), want: []string{"edge-2"}},
		"everything that is not known to be too far": {
			pod: annotated("p", `[{"to":{"node":"edge-1"},"max":"5ms","onUnknown":"Allow"}]`), want: []string{"edge-1", "west-1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := edges(ctx, t, configv1.EdgeDelayArgs{})
			c.join(t, zoned)
			c.measured("west-1", map[string]float64{"edge-3": 7, "edge-2": 9})
			c.measured("edge-2", map[string]float64{"edge-1": 10, "edge-3": 12, "cloud": 60, delay.EndpointName("db.example.com:5432"): 8})
			c.run(t, tc.run...)
			got := c.try(ctx, t, tc.pod)
			if diff := cmp.Diff(tc.want, nodesOf(got), cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s\nrejected %q, %v", diff, got.Rejected, got.Reasons)
			}
		})
	}
}

// TestAReservedPodIsPlaced: the informer shows it only after it is bound.
func TestAReservedPodIsPlaced(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	db, app := labelled("db"), labelled("app", "delay_db", "5")
	c.run(t, db)
	c.Reserve(ctx, nil, db, "edge-3")
	if diff := cmp.Diff([]string{"edge-3"}, nodesOf(c.try(ctx, t, app))); diff != "" {
		t.Errorf("while db is on its way (-want +got):\n%s", diff)
	}
	c.Unreserve(ctx, nil, db, "edge-3")
	if got := c.try(ctx, t, app).Rejected; !strings.Contains(got, "has a node yet") {
		t.Errorf("after it was turned back: rejected for %q", got)
	}
}

// TestADeadNodeKeepsItsName: as long as its peers report the way to it.
func TestADeadNodeKeepsItsName(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	if err := c.factory.Core().V1().Nodes().Informer().GetStore().Delete(c.infos[0].Node()); err != nil {
		t.Fatal(err)
	}
	c.store.RemoveNode("edge-1")
	c.store.Update("edge-1", delay.SourceAgent, nil, testNow())
	c.infos = c.infos[1:]
	if diff := cmp.Diff([]string{"edge-2"}, nodesOf(c.try(ctx, t, labelled("p", "delay_edge-1", "15")))); diff != "" {
		t.Errorf("15 ms of a node that died (-want +got):\n%s", diff)
	}
}

// TestScarceNodesAreKeptFree: one pod can go to edge-1 only. Another can go to three nodes, of which edge-1 is the
// nearest: there (1 + 1/3)/2 = 0.67, on edge-2 (1-10/100 + 1)/2 = 0.95.
func TestScarceNodesAreKeptFree(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	loose := labelled("loose", "delay_edge-1", "50")
	if before := c.try(ctx, t, loose).Scores; before["edge-1"] != 100 {
		t.Errorf("edge-1 scores %d before anybody needs it, want 100", before["edge-1"])
	}
	c.try(ctx, t, labelled("tight", "delay_edge-1", "1"))
	after := c.try(ctx, t, loose).Scores
	if after["edge-1"] != 67 || after["edge-2"] != 90 {
		t.Errorf("scores %v; want 67 on edge-1, which another needs, and 90 on edge-2", after)
	}
}

func TestANodeThatJustAppeared(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	info := framework.NewNodeInfo()
	info.SetNode(node("new")) // the scheduler's cache has it, the store has not heard of it
	c.infos = append(c.infos, info)
	if got := c.try(ctx, t, labelled("p", "delay_edge-1", "5")).Reasons["new"]; got != "node(s) had no known round-trip time to edge-1" {
		t.Errorf("rejected for %q", got)
	}
	if _, ok := c.try(ctx, t, annotated("p", `[{"to":{"node":"edge-1"},"max":"5ms","onUnknown":"Allow"}]`)).Scores["new"]; !ok {
		t.Error("a bound that takes unknown nodes rejected it")
	}
}

func TestFilterAndScoreDoNotAllocate(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	c.try(ctx, t, labelled("tight", "delay_edge-1", "1"))
	state, pod := framework.NewCycleState(), labelled("p", "delay_edge-1", "25")
	if _, status := c.PreFilter(ctx, state, pod, c.infos); !status.IsSuccess() {
		t.Fatal(status)
	}
	// Goroutines of other tests may allocate meanwhile; what the calls themselves allocate is there every time.
	fewest := math.Inf(1)
	for range 5 {
		fewest = min(fewest, testing.AllocsPerRun(100, func() {
			c.Filter(ctx, state, pod, c.infos[1])
			_, _ = c.Score(ctx, state, pod, c.infos[1])
		}))
	}
	if fewest != 0 {
		t.Errorf("Filter and Score allocate %v times, want 0", fewest)
	}
}

func TestSignatures(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	sign := func(pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) { return c.SignPod(ctx, pod) }
	same, _ := sign(labelled("a", "delay_edge-1", "5", "app", "x"))
	other, status := sign(labelled("b", "delay_edge-1", "5.0"))
	if !status.IsSuccess() || !cmp.Equal(same, other) {
		t.Errorf("equal bounds to nodes sign %v and %v", same, other)
	}
	if longer, _ := sign(labelled("a", "delay_edge-1", "6")); cmp.Equal(same, longer) {
		t.Error("different bounds sign alike")
	}
	if fragments, status := sign(labelled("a")); !status.IsSuccess() || fragments != nil {
		t.Errorf("a pod without bounds signs %v, %v", fragments, status)
	}
	for what, pod := range map[string]*corev1.Pod{
		"a bound to a workload":      labelled("a", "delay_db", "5"),
		"a bound to a selector":      annotated("a", `[{"to":{"selector":"a=b"},"max":"1ms"}]`),
		"a bound that is not read":   labelled("a", "delay_edge-1", "x"),
		"a bound to nothing as yet":  labelled("a", "delay_nosuch", "5"),
		"a bound among two to a pod": labelled("a", "delay_edge-1", "5", "delay_db", "5"),
	} {
		if _, status := sign(pod); status.IsSuccess() {
			t.Errorf("%s was signed", what)
		}
	}
}

func TestNewRefusesWrongArguments(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	if _, err := New(ctx, &configv1.DiskIOArgs{}, nil, nil); err == nil {
		t.Error("another plugin's arguments were taken")
	}
	if _, err := New(ctx, &configv1.EdgeDelayArgs{CloudSelector: "=", Percentile: 3}, nil, nil); err == nil || !strings.Contains(err.Error(), "percentile") {
		t.Errorf("error %v, want one that names the fields", err)
	}
}

// testTimeout bounds waiting for what happens at a moment that nothing announces.
const testTimeout = 30 * time.Second
