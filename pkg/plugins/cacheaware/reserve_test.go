package cacheaware

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

func numbered(i int, datasets ...string) *corev1.Pod {
	pod := podWith(using(datasets...))
	pod.Name, pod.UID = fmt.Sprint("pod-", i), types.UID(fmt.Sprint("pod-", i))
	return pod
}

func (c *cluster) scores(ctx context.Context, t *testing.T, datasets ...string) map[string]int64 {
	t.Helper()
	return c.schedule(ctx, t, numbered(99, datasets...)).Scores
}

// TestNodeBecomesWarm: from the moment a pod of a cold dataset is placed, the next ones are drawn to its node, until
// the time to live ends, the pod is not bound after all, or the cache's own report takes over.
func TestNodeBecomesWarm(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	cold := map[string]int64{"gw": 5, "rack-mate": 0, "zone-mate": 0, "far": 0}
	warm := map[string]int64{"gw": 75, "rack-mate": 100, "zone-mate": 50, "far": 0}
	expect := func(c *cluster, want map[string]int64, when string) {
		t.Helper()
		if diff := cmp.Diff(want, c.scores(ctx, t, "nowhere")); diff != "" {
			t.Errorf("%s, scores (-want +got):\n%s", when, diff)
		}
	}

	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	expect(c, cold, "before any pod")
	c.place(ctx, t, numbered(1, "nowhere"), "rack-mate")
	expect(c, warm, "after the first pod")
	c.clock.SetTime(testNow().Add(10*time.Minute - 1))
	expect(c, warm, "just within the time to live")
	c.clock.SetTime(testNow().Add(10 * time.Minute))
	expect(c, cold, "after the time to live")

	c = newCluster(ctx, t, configv1.CacheAwareArgs{})
	state := framework.NewCycleState()
	pod := numbered(1, "nowhere")
	c.PreFilter(ctx, state, pod, nil)
	c.Reserve(ctx, state, pod, "rack-mate")
	c.place(ctx, t, numbered(2, "nowhere"), "rack-mate")
	c.Unreserve(ctx, state, pod, "rack-mate")
	expect(c, warm, "one of two pods taken back")

	// The cache reports half of the 100 bytes there: the report counts, not the expectation.
	c.datasets.change("nowhere", locality.Dataset{SizeBytes: 100, NodeCached: true, Replicas: []locality.Replica{
		{At: locality.OnNode("rack-mate"), Bytes: 50, BytesKnown: true, Observed: testNow()},
	}})
	expect(c, map[string]int64{"gw": 38, "rack-mate": 50, "zone-mate": 25, "far": 0}, "after the report")
}

// TestDataBehindAGatewayWarmsNoNode: pods read over the network; being there brings no bytes.
func TestDataBehindAGatewayWarmsNoNode(t *testing.T) {
	testWarmsNoNode(t, "on-gw")
}

// TestWithoutAgentsNoNodeBecomesWarm: nothing would ever show that it did.
func TestWithoutAgentsNoNodeBecomesWarm(t *testing.T) {
	testWarmsNoNode(t, "uncached")
}

func testWarmsNoNode(t *testing.T, dataset string) {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	before := c.scores(ctx, t, dataset)
	c.place(ctx, t, numbered(1, dataset), "far")
	if diff := cmp.Diff(before, c.scores(ctx, t, dataset)); diff != "" {
		t.Errorf("scores changed (-before +after):\n%s", diff)
	}
}

// TestWhatIsMissingIsExpectedToBeWritten: 1000 bytes, of which a node has 400; the rest is fetched to it.
func TestWhatIsMissingIsExpectedToBeWritten(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	c.datasets.change("images", locality.Dataset{SizeBytes: 1000, NodeCached: true, Replicas: []locality.Replica{
		{At: locality.OnNode("gw"), Bytes: 400, BytesKnown: true, Medium: locality.MediumMemory, Observed: testNow()},
	}})
	state, pod := framework.NewCycleState(), numbered(1, "images")
	c.PreFilter(ctx, state, pod, nil)
	c.Reserve(ctx, state, pod, "gw")
	c.place(ctx, t, numbered(2, "on-gw"), "far") // read over the network
	for node, want := range map[string]int64{"gw": 600, "far": 0} {
		if got := c.fills.On(node, testNow(), time.Minute); got != want {
			t.Errorf("%d bytes expected on %s, want %d", got, node, want)
		}
	}
	if c.Unreserve(ctx, state, pod, "gw"); c.fills.On("gw", testNow(), time.Minute) != 0 {
		t.Error("bytes are still expected of a pod that does not come")
	}
}

// TestOverloadedGateway: threshold 2. With 2 pods nothing changes; with 4, twice the threshold, no node scores more
// than 100/2; with 8 the zone is no better than the region would be.
func TestOverloadedGateway(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	args := configv1.CacheAwareArgs{GatewayLoad: configv1.GatewayLoad{Threshold: 2}}
	c := newCluster(ctx, t, args)
	want := map[int]map[string]int64{
		0: {"gw": 100, "rack-mate": 75, "zone-mate": 50, "far": 0},
		2: {"gw": 100, "rack-mate": 75, "zone-mate": 50, "far": 0},
		4: {"gw": 50, "rack-mate": 50, "zone-mate": 50, "far": 0},
		8: {"gw": 25, "rack-mate": 25, "zone-mate": 25, "far": 0},
	}
	for pods := range 9 {
		if scores, ok := want[pods]; ok {
			if diff := cmp.Diff(scores, c.scores(ctx, t, "on-gw")); diff != "" {
				t.Errorf("with %d pods, scores (-want +got):\n%s", pods, diff)
			}
		}
		c.place(ctx, t, numbered(pods, "on-gw"), "gw")
	}
}

func TestLoadCountsBoundPodsOfEverySchedulerOnce(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	key := locality.DatasetKey{Namespace: "team", Name: "on-gw"}
	count := func(want int, when string) {
		t.Helper()
		if got := c.load.of(key); got != want {
			t.Errorf("%s: %d pods, want %d", when, got, want)
		}
	}
	foreign := numbered(1, "on-gw")
	foreign.Spec.SchedulerName = "default-scheduler"
	c.podSeen(foreign)
	count(0, "a pending pod")
	foreign.Spec.NodeName = "far"
	c.podSeen(foreign)
	c.podSeen(foreign)
	count(1, "bound by another scheduler, seen twice")
	c.place(ctx, t, numbered(2, "on-gw"), "gw")
	bound := numbered(2, "on-gw")
	bound.Spec.NodeName = "gw"
	c.podSeen(bound)
	count(2, "reserved here, then seen bound")
	malformed := podWith(map[string]string{"dataset.x.id": "on-gw"})
	malformed.Spec.NodeName = "gw"
	c.podSeen(malformed)
	c.load.gone("pod-1")
	c.load.gone("pod-1")
	count(1, "one deleted, twice")
	if c.load.gone("pod-2"); len(c.load.pods)+len(c.load.byDataset) != 0 {
		t.Errorf("left behind: %v %v", c.load.pods, c.load.byDataset)
	}
}

func TestWarmingIsBounded(t *testing.T) {
	w := newWarmingNodes(2)
	key := locality.DatasetKey{Namespace: "team", Name: "ds"}
	now := testNow()
	add := func(node string, at time.Time) bool { return w.add(key, node, "pod", at, at.Add(time.Minute)) }
	if !add("n1", now) || !add("n2", now.Add(30*time.Second)) {
		t.Fatal("want room for two")
	}
	if add("n3", now.Add(40*time.Second)) {
		t.Error("a third one was remembered although there is room for two")
	}
	if !add("n1", now.Add(40*time.Second)) {
		t.Error("what is remembered cannot be renewed")
	}
	if !add("n3", now.Add(95*time.Second)) {
		t.Error("n2's time is over; want its room used")
	}
	if got := len(w.nodes(key, now.Add(96*time.Second))); got != 2 {
		t.Errorf("%d nodes, want n1 and n3", got)
	}
	if got := len(w.nodes(key, now.Add(time.Hour))); got != 0 || w.pairs != 0 || len(w.byDataset) != 0 {
		t.Errorf("after all times: %d nodes, %d pairs, %v", got, w.pairs, w.byDataset)
	}
}

// TestBurstOnColdDatasetConverges: twenty pods with room for ten on each node use two nodes.
func TestBurstOnColdDatasetConverges(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	used := map[string]int{}
	for i := range 20 {
		best, node := int64(-1), ""
		for name, score := range c.schedule(ctx, t, numbered(i, "nowhere")).Scores {
			if used[name] < 10 && (score > best || score == best && name < node) {
				best, node = score, name
			}
		}
		used[node]++
		c.place(ctx, t, numbered(i, "nowhere"), node)
	}
	if len(used) != 2 {
		t.Errorf("20 pods went to %v, want two nodes", used)
	}
}
