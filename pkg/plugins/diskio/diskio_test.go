package diskio

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const (
	most  = `{"rbps":"900Mi","wbps":"900Mi","blockSize":"4k"}`
	some  = `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`
	short = "disk IO read bandwidth is not enough"
)

// measured is the node's disks with a report of so much free, seen pods and age.
func measured(disks *blockio.Node, free blockio.Supply, age time.Duration, seen ...string) *blockio.Node {
	next := &blockio.Node{Disks: append([]blockio.Disk{}, disks.Disks...), ObservedAt: testNow().Add(-age), Seen: map[string]struct{}{}}
	next.Disks[0].Measured, next.Disks[0].HasMeasured = free, true
	for _, uid := range seen {
		next.Seen[uid] = struct{}{}
	}
	return next
}

func TestOnePodOnOneNode(t *testing.T) {
	big := oneDisk(supply(1000, 1000, 2000))
	kind := big.Disks[0].Kind
	twice, err := blockio.NewTable(blockio.TableConfig{
		Read: []blockio.RatioPoint{{Size: 4096, Ratio: 2}}, Write: []blockio.RatioPoint{{Size: 4096, Ratio: 1}}, Mixed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	otherScheduler := asking("foreign", most)
	otherScheduler.Spec.SchedulerName = "default-scheduler"
	unsupported := "node " + strings.TrimPrefix(blockio.ReasonUnsupported, "node ")
	cases := map[string]struct {
		disks  *blockio.Node // nil: nobody described them
		models modelTable
		args   configv1.DiskIOArgs
		on     []*corev1.Pod
		pod    *corev1.Pod
		want   string // reason; "" if placed
		score  int64  // -1: skipped or rejected
	}{
		// LeastAllocated: 100 x (1 - (900/1000 + 900/1000)/2) is 10, or 9.99... in floating point, cut off as the predecessor
		// does.
		"900 of 1000 are free": {disks: big, pod: asking("p", most), score: 9},
		"900 are taken, 100 are left": {
			disks: big, on: []*corev1.Pod{asking("first", most)}, pod: asking("p", most), want: short, score: -1,
		},
		"the total is checked too": {
			disks: oneDisk(supply(1000, 1000, 1000)), pod: asking("p", most), want: "disk IO total bandwidth is not enough", score: -1,
		},
		"MostAllocated: 100 x 0.9": {
			disks: big, args: configv1.DiskIOArgs{ScoreStrategy: configv1.DiskIOMostAllocated}, pod: asking("p", most), score: 90,
		},
		"a pod of another scheduler counts": {
			disks: big, on: []*corev1.Pod{otherScheduler}, pod: asking("p", most), want: short, score: -1,
		},
		"disks nobody described, and a pod that asks":                  {pod: asking("p", some), want: unsupported, score: -1},
		"disks nobody described, and an empty annotation":              {pod: asking("p", ""), want: unsupported, score: -1},
		"disks nobody described anywhere, and a pod that does not ask": {pod: asking("p", "-"), score: -1},
		// Best effort: 5 of 1000 in each direction, 100 x (1 - 0.005) = 99.5, rounded down.
		"best effort is charged the minimum": {disks: big, pod: asking("p", "-"), score: 99},
		"best effort on a full disk": {
			disks: oneDisk(supply(4, 4, 8)), pod: asking("p", "-"), want: short, score: -1,
		},
		"best effort pods fill a disk too": { // 2 x 5 are taken of 12
			disks: oneDisk(supply(12, 12, 24)), on: []*corev1.Pod{asking("a", "-"), asking("b", "-")}, pod: asking("p", "-"),
			want: short, score: -1,
		},
		"no disk is marked as the default one, and a pod that asks": {
			disks: &blockio.Node{Default: -1}, pod: asking("p", some), want: reasonNoDefault, score: -1,
		},
		"a namespace on the white list": {
			disks: oneDisk(supply(1, 1, 1)), args: configv1.DiskIOArgs{NSWhiteList: []string{"team"}}, pod: asking("p", most), score: -1,
		},
		"pods of a namespace on the white list take nothing": {
			disks: big, args: configv1.DiskIOArgs{NSWhiteList: []string{"system"}},
			on:  []*corev1.Pod{st.MakePod().Namespace("system").Name("s").UID("s").Annotation(vicinityv1alpha1.BlockIOAnnotation, most).Obj()},
			pod: asking("p", most), score: 9,
		},
		"a table doubles what reading 4k takes: 1800 of 1000": {
			disks: big, models: modelTable{kind: twice}, pod: asking("p", most), want: short, score: -1,
		},
		"a model that does not apply, and a pod that asks": {
			disks: big, models: modelTable{kind: brokenModel{}}, pod: asking("p", some),
			want: `disk model of "Intel" "P4510" does not apply to the pod: the ratio is not a number`, score: -1,
		},
		"a model that does not apply never blocks best effort": {
			disks: big, models: modelTable{kind: brokenModel{}}, pod: asking("p", "-"), score: 99,
		},
		"measured: 50 are free, whatever was asked for": {
			disks: measured(big, supply(50, 50, 100), time.Minute), pod: asking("p", most), want: short, score: -1,
		},
		"measured, and a pod that the report has not seen takes its part besides": {
			disks: measured(big, supply(1000, 1000, 2000), time.Minute), on: []*corev1.Pod{asking("new", most)},
			pod: asking("p", most), want: short, score: -1,
		},
		// 950 measured as free with the pod that asks for 30/20 in it; capacity less what is asked for: 970/980. 950 it is:
		// 100 x (1 - (30/950 + 20/950)/2) = 97.4.
		"measured with the pod in it": {
			disks: measured(big, supply(950, 950, 1900), time.Minute, "seen"), on: []*corev1.Pod{asking("seen", some)},
			pod: asking("p", some), score: 97,
		},
		"a report from the future does not count": {
			disks: measured(big, supply(0, 0, 0), -time.Hour), pod: asking("p", most), score: 9,
		},
		"a stale report does not count": {disks: measured(big, supply(0, 0, 0), time.Hour), pod: asking("p", most), score: 9},
		"capacity shrunk below what is placed": {
			disks: oneDisk(supply(10, 10, 20)), on: []*corev1.Pod{asking("first", most)}, pod: asking("p", "-"), want: short, score: -1,
		},
		"a capacity of nothing": {disks: oneDisk(supply(0, 0, 0)), pod: asking("p", "-"), want: short, score: -1},
		"a pod with a malformed annotation that somebody placed is charged the minimum": {
			disks: big, on: []*corev1.Pod{asking("bad", `{"rbps":`)}, pod: asking("p", `{"rbps":"995Mi","wbps":"995Mi"}`), score: 0,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			nodes := map[string]*blockio.Node{}
			if tc.disks != nil {
				nodes["n1"] = tc.disks
			}
			c := newCluster(ctx, t, tc.args, tc.models, nodes)
			reason, score := c.try(ctx, t, tc.pod, node("n1", tc.on...))
			if reason != tc.want || score != tc.score {
				t.Errorf("reason %q, score %d; want %q, %d", reason, score, tc.want, tc.score)
			}
		})
	}
}

func TestMalformedAnnotationIsNamed(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1, 1, 1))})
	for _, value := range []string{`{"rbps":`, `{"rbps":"many"}`, `{"rbps":"-1"}`, `{"rbps":"1Mi","blockSize":"5k"}`, "[]", "900Mi"} {
		reason, _ := c.try(ctx, t, asking("p", value), node("n1"))
		if !strings.Contains(reason, vicinityv1alpha1.BlockIOAnnotation) {
			t.Errorf("annotation %s: reason %q; want it to name the key", value, reason)
		}
	}
}

// TestANodeWithoutDisksIsBestForBestEffort: the reference's integration case 2.
func TestANodeWithoutDisksIsBestForBestEffort(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"a": oneDisk(supply(1000, 1000, 2000))})
	if _, score := c.try(ctx, t, asking("p", "-"), node("b")); score != 100 {
		t.Errorf("score %d on a node without disks, want 100", score)
	}
}

// TestSumsFollowTheNode: what is remembered is forgotten when a pod comes or goes, and when the disks change.
func TestSumsFollowTheNode(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1000, 1000, 2000))})
	info := node("n1")
	expect := func(want, when string) {
		t.Helper()
		if got, _ := c.try(ctx, t, asking("p", most), info); got != want {
			t.Errorf("%s: reason %q, want %q", when, got, want)
		}
	}
	first := asking("first", most)
	expect("", "empty node")
	pod, err := framework.NewPodInfo(first)
	if err != nil {
		t.Fatal(err)
	}
	info.AddPodInfo(pod)
	expect(short, "after a pod came")
	preempted := info.Snapshot()
	if err := preempted.RemovePod(ktesting.NewLogger(t, ktesting.NewConfig()), first); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.try(ctx, t, asking("p", most), preempted); got != "" {
		t.Errorf("on a copy from which preemption took the pod: %q, want it placed", got)
	}
	expect(short, "on the node itself")
	c.disks.set(oneDisk(supply(2000, 2000, 4000)))
	expect("", "after the disk grew")
}

// TestBytesBeingFetchedCountAsWriting: 60,000 MiB to be fetched within a minute are 1,000 MiB/s of writing.
func TestBytesBeingFetchedCountAsWriting(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	nodes := map[string]*blockio.Node{"n1": oneDisk(supply(1000, 1000, 2000))}
	args := configv1.DiskIOArgs{FillDuration: metav1.Duration{Duration: time.Minute}}
	c := newCluster(ctx, t, args, nil, nodes)
	c.fills.Expect("n1", "fetching", 60000*mi, testNow().Add(-30*time.Second))
	if reason, _ := c.try(ctx, t, asking("p", some), node("n1")); reason != "disk IO write bandwidth is not enough" {
		t.Errorf("while bytes are fetched: reason %q", reason)
	}
	if reason, _ := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, nodes).try(ctx, t, asking("p", some), node("n1")); reason != "" {
		t.Errorf("when they are not to be counted: reason %q", reason)
	}
	c.fills.Expect("n1", "fetching", 60000*mi, testNow().Add(-time.Minute))
	if reason, _ := c.try(ctx, t, asking("p", some), node("n1")); reason != "" {
		t.Errorf("after the time: reason %q", reason)
	}
}

func TestPressureLowersTheScore(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	disks := measured(oneDisk(supply(1000, 1000, 2000)), supply(1000, 1000, 2000), time.Minute)
	disks.Disks[0].Pressure, disks.Disks[0].HasPressure = 0.5, true
	c := newCluster(ctx, t, configv1.DiskIOArgs{PressureWeightPercent: 100}, nil, map[string]*blockio.Node{"n1": disks})
	// LeastAllocated without pressure: 100 x (1 - 0.005) = 99; half of the time something waits.
	if _, score := c.try(ctx, t, asking("p", "-"), node("n1")); score < 48 || score > 50 {
		t.Errorf("score %d, want about half of 99", score)
	}
}

func TestFilterAndScoreDoNotAllocate(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1000, 1000, 2000))})
	state, pod, info := framework.NewCycleState(), asking("p", some), node("n1", asking("a", some), asking("b", "-"))
	if _, status := c.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	// Goroutines of other tests may allocate meanwhile; what the calls themselves allocate is there every time.
	fewest := math.Inf(1)
	for range 5 {
		fewest = min(fewest, testing.AllocsPerRun(100, func() {
			c.Filter(ctx, state, pod, info)
			_, _ = c.Score(ctx, state, pod, info)
		}))
	}
	if fewest != 0 {
		t.Errorf("Filter and Score allocate %v times, want 0", fewest)
	}
}

func TestWhichEventsRequeue(t *testing.T) {
	logger, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{NSWhiteList: []string{"system"}}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1, 1, 1))})
	waiting := asking("p", most)
	on := func(node, namespace string) *corev1.Pod {
		return st.MakePod().Namespace(namespace).Name("gone").Node(node).Obj()
	}
	labelled := waiting.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	hints := map[string]struct {
		got  func() (fwk.QueueingHint, error)
		want fwk.QueueingHint
	}{
		"the annotation changes":                   {func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, waiting, waiting, asking("p", some)) }, fwk.Queue},
		"a label changes":                          {func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, waiting, waiting, labelled) }, fwk.QueueSkip},
		"a pod on a node with disks goes":          {func() (fwk.QueueingHint, error) { return c.afterPodDelete(logger, waiting, on("n1", "team"), nil) }, fwk.Queue},
		"a pod on a node without disks goes":       {func() (fwk.QueueingHint, error) { return c.afterPodDelete(logger, waiting, on("n2", "team"), nil) }, fwk.QueueSkip},
		"a pod that was charged nothing goes":      {func() (fwk.QueueingHint, error) { return c.afterPodDelete(logger, waiting, on("n1", "system"), nil) }, fwk.QueueSkip},
		"a node whose disks are described appears": {func() (fwk.QueueingHint, error) { return c.afterNodeAdd(logger, waiting, nil, node("n1").Node()) }, fwk.Queue},
		"a node whose disks nobody knows appears":  {func() (fwk.QueueingHint, error) { return c.afterNodeAdd(logger, waiting, nil, node("n2").Node()) }, fwk.QueueSkip},
	}
	for name, tc := range hints {
		t.Run(name, func(t *testing.T) {
			if got, err := tc.got(); err != nil || got != tc.want {
				t.Errorf("hint %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestADiskChangeActivatesRejectedPods(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1, 1, 1))})
	c.try(ctx, t, asking("p", most), node("n1"))
	c.disks.set(oneDisk(supply(1000, 1000, 2000)))
	select {
	case got := <-c.activated:
		if got != "team/p" {
			t.Errorf("activated %s, want team/p", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was activated")
	}
}

func TestPodsWithEqualDemandsShareASignature(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, nil)
	sign := func(annotation string) []fwk.SignFragment {
		fragments, _ := c.SignPod(ctx, asking("p", annotation))
		return fragments
	}
	if diff := cmp.Diff(sign(some), sign(`{"wbps":"20Mi","rbps":"30Mi","blocksize":"4Ki"}`)); diff != "" {
		t.Errorf("the same demand in other words signs differently:\n%s", diff)
	}
	if cmp.Equal(sign(some), sign(most)) || cmp.Equal(sign("-"), sign("")) {
		t.Error("different demands sign alike")
	}
	if _, status := c.SignPod(ctx, asking("p", "{")); status.IsSuccess() {
		t.Error("a malformed annotation was signed")
	}
}
