package edgedelay

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

func TestWhichEventsRequeue(t *testing.T) {
	logger, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	waiting, malformed, free := labelled("p", "delay_db", "5"), labelled("p", "delay_db", "x"), labelled("p")
	toNode := annotated("p", `[{"to":{"node":"n1"},"max":"5ms"},{"to":{"zone":"west"},"max":"5ms"}]`)
	west := st.MakeNode().Name("w").Label(corev1.LabelTopologyZone, "west").Obj()
	hints := map[string]struct {
		got  func() (fwk.QueueingHint, error)
		want fwk.QueueingHint
	}{
		"the bound changes": {func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, malformed, malformed, waiting) }, fwk.Queue},
		"a bound is taken away": {
			func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, waiting, waiting, free) }, fwk.Queue,
		},
		"the annotation appears": {
			func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, free, free, toNode) }, fwk.Queue,
		},
		"another label changes": {
			func() (fwk.QueueingHint, error) {
				return c.afterPodUpdate(logger, waiting, waiting, labelled("p", "delay_db", "5", "app", "x"))
			}, fwk.QueueSkip,
		},
		"the workload's pod is placed": {
			func() (fwk.QueueingHint, error) {
				return c.afterOtherPod(logger, waiting, nil, on("edge-1", labelled("db")))
			}, fwk.Queue,
		},
		"a pod of a Deployment of that name is placed": {
			func() (fwk.QueueingHint, error) {
				return c.afterOtherPod(logger, waiting, nil, ownedBy(labelled("db-1-x", "pod-template-hash", "1"), "ReplicaSet", "db-1"))
			}, fwk.Queue,
		},
		"the workload's pod goes": {
			func() (fwk.QueueingHint, error) { return c.afterOtherPod(logger, waiting, labelled("db"), nil) }, fwk.Queue,
		},
		"a pod of that name in another namespace is placed": {
			func() (fwk.QueueingHint, error) {
				return c.afterOtherPod(logger, waiting, nil, st.MakePod().Namespace("other").Name("db").Obj())
			}, fwk.QueueSkip,
		},
		"somebody else's pod is placed": {
			func() (fwk.QueueingHint, error) { return c.afterOtherPod(logger, waiting, nil, labelled("web")) }, fwk.QueueSkip,
		},
		"no pod mends a label": {
			func() (fwk.QueueingHint, error) { return c.afterOtherPod(logger, malformed, nil, labelled("db")) }, fwk.QueueSkip,
		},
		"the node joins": {func() (fwk.QueueingHint, error) { return c.afterNodeChange(logger, toNode, nil, node("n1")) }, fwk.Queue},
		"a node of the zone joins": {
			func() (fwk.QueueingHint, error) { return c.afterNodeChange(logger, toNode, nil, west) }, fwk.Queue,
		},
		"a node of the label's name joins": {
			func() (fwk.QueueingHint, error) { return c.afterNodeChange(logger, waiting, nil, node("db")) }, fwk.Queue,
		},
		"another node joins": {func() (fwk.QueueingHint, error) { return c.afterNodeChange(logger, toNode, nil, node("n2")) }, fwk.QueueSkip},
		"the cloud grows, for a pod that must be there": {
			func() (fwk.QueueingHint, error) { return c.afterNodeChange(logger, free, nil, cloudNode("c2")) }, fwk.Queue,
		},
	}
	for name, tc := range hints {
		t.Run(name, func(t *testing.T) {
			if got, err := tc.got(); err != nil || got != tc.want {
				t.Errorf("hint %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

// TestASetThatGainsANodeActivates: and one that only loses nodes, or whose delays move within the bound, does not.
func TestASetThatGainsANodeActivates(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	c.try(ctx, t, labelled("p", "delay_edge-1", "15"))
	c.measured("edge-1", map[string]float64{"edge-2": 11, "edge-3": 20, "cloud": 70})
	c.measured("edge-1", map[string]float64{"edge-2": 16, "edge-3": 20, "cloud": 70})
	select {
	case got := <-c.activated:
		t.Fatalf("activated %s although no node came within its bound", got)
	case <-time.After(5 * settleTime):
	}
	c.measured("edge-1", map[string]float64{"edge-2": 16, "edge-3": 15, "cloud": 70})
	select {
	case got := <-c.activated:
		if got != "team/p" {
			t.Errorf("activated %s, want team/p", got)
		}
	case <-time.After(testTimeout):
		t.Fatal("nothing was activated although edge-3 came within the bound")
	}
}

// TestANodeThatJoinsWithinTheBoundActivates: also where the bound is to a zone.
func TestANodeThatJoinsWithinTheBoundActivates(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	c.join(t, st.MakeNode().Name("west-1").Label(corev1.LabelTopologyZone, "west").Obj())
	c.try(ctx, t, annotated("p", `[{"to":{"zone":"west"},"max":"15ms"}]`))
	c.join(t, node("new"))
	c.measured("new", map[string]float64{"west-1": 3})
	select {
	case got := <-c.activated:
		if got != "team/p" {
			t.Errorf("activated %s, want team/p", got)
		}
	case <-time.After(testTimeout):
		t.Fatal("nothing was activated")
	}
}

// TestNothingIsWatchedWhenNobodyWaits: memory is bounded by the pods that wait.
func TestNothingIsWatchedWhenNobodyWaits(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := edges(ctx, t, configv1.EdgeDelayArgs{})
	pod := labelled("p", "delay_edge-1", "15")
	c.try(ctx, t, pod)
	c.waiting.Remove(pod.UID)
	c.watch.change([]string{"edge-1"})
	c.watch.look(testNow())
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	if len(c.watch.seen) != 0 || len(c.watch.byRef) != 0 || c.watch.zones != 0 {
		t.Errorf("still watched: %v", c.watch.seen)
	}
}
