package diskio

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// TestDisksThatChange: what is remembered of a node holds for the disks it was made of, and for the time.
func TestDisksThatChange(t *testing.T) {
	full := oneDisk(supply(1000, 1000, 2000))
	twoDefaults := &blockio.Node{Disks: []blockio.Disk{{ID: "a", Capacity: supply(10, 10, 20)}, {ID: "b", Capacity: supply(1000, 1000, 2000)}}}
	cases := map[string]struct {
		before, after *blockio.Node
		later         time.Duration // that passes in between
		on            []*corev1.Pod
		annotation    string
		wantBefore    string
		wantAfter     string
	}{
		"the disk disappears, and a pod that asks":                      {before: full, annotation: some, wantAfter: blockio.ReasonUnsupported},
		"the disk disappears, and a pod that does not ask":              {before: full, annotation: "-"},
		"the node's default disk disappears, and a pod that asks":       {before: full, after: &blockio.Node{Default: -1}, annotation: some, wantAfter: reasonNoDefault},
		"the node's default disk disappears below those that are there": {before: full, after: &blockio.Node{Default: -1}, on: []*corev1.Pod{asking("old", most)}, annotation: "-", wantAfter: ""},
		"the capacity shrinks below what is placed": {
			before: full, after: oneDisk(supply(100, 100, 200)), on: []*corev1.Pod{asking("old", `{"rbps":"500Mi"}`)},
			annotation: some, wantAfter: short,
		},
		"another disk becomes the default one": {before: full, after: twoDefaults, annotation: some, wantAfter: short},
		// The report says that nothing is free until it is too old.
		"a report becomes stale by itself": {
			before: measured(full, supply(0, 0, 0), time.Minute), after: measured(full, supply(0, 0, 0), time.Minute),
			later: 5 * time.Minute, annotation: some, wantBefore: short,
		},
		"a report from a clock ahead becomes one of now": {
			before: measured(full, supply(0, 0, 0), -3*time.Minute), later: 3 * time.Minute,
			after: measured(full, supply(0, 0, 0), -3*time.Minute), annotation: some, wantAfter: short,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			// Another node keeps the plugin from finding that nobody has disks.
			nodes := map[string]*blockio.Node{"n1": tc.before, "other": full}
			c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, nodes)
			info, pod := node("n1", tc.on...), asking("p", tc.annotation)
			if got, _ := c.try(ctx, t, pod, info); got != tc.wantBefore {
				t.Errorf("before: reason %q, want %q", got, tc.wantBefore)
			}
			if tc.later > 0 {
				c.clock.SetTime(testNow().Add(tc.later)) // and nothing is told
			} else {
				c.disks.set(tc.after)
			}
			if got, _ := c.try(ctx, t, pod, info); got != tc.wantAfter {
				t.Errorf("after: reason %q, want %q", got, tc.wantAfter)
			}
		})
	}
}

// TestDisksThatChangeWhileNodesAreFiltered: however changes and sums meet, the last change counts in the end.
func TestDisksThatChangeWhileNodesAreFiltered(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	small, large := oneDisk(supply(1, 1, 2)), oneDisk(supply(1000, 1000, 2000))
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": small})
	info, v := node("n1", asking("a", some)), c.views
	for round := range 200 {
		last := []*blockio.Node{small, large, nil}[round%3]
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() { v.of(info, testNow()) })
		}
		running.Go(func() { c.disks.set(large) })
		running.Wait()
		running.Go(func() { c.disks.set(last) })
		for range 4 {
			running.Go(func() { v.of(info, testNow()) })
		}
		running.Wait()
		switch got := v.of(info, testNow()); {
		case last == nil && (got != nil || len(v.byNode) != 0):
			t.Fatalf("round %d: a view of a node without disks: %+v", round, got)
		case last != nil && (got == nil || got.disks != last):
			t.Fatalf("round %d: a view of other disks than the last ones", round)
		}
	}
}

// FuzzAnnotation: whatever a pod says, it is placed or refused, and a pod beside it is charged and placed as before.
func FuzzAnnotation(f *testing.F) {
	for _, seed := range []string{"", most, some, `{"rbps":`, `{"rbps":"-1"}`, `{"work":{"requests":{"rbps":"50Mi/4k"}}}`, `{"rbps":"1E"}`} {
		f.Add(seed)
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	core := factory.Core().V1()
	args := &configv1.DiskIOArgs{}
	configv1.SetDefaults_DiskIOArgs(args)
	accounts := NewAccounts(args, modelTable{}, core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister())
	disks := oneDisk(supply(1000, 1000, 2000))
	f.Fuzz(func(t *testing.T, annotation string) {
		strange, neighbour := asking("strange", annotation), asking("neighbour", some)
		uses := make([]Use, 1)
		accounts.Charge(uses, strange, disks)
		own := uses[0].Requested
		if own.Bandwidth.Read < 0 || own.Bandwidth.Write < 0 || own.Bandwidth.Total < 0 || own.IOPS.Read < 0 || own.IOPS.Write < 0 {
			t.Fatalf("charged %+v", own)
		}
		accounts.Charge(uses, neighbour, disks)
		if want := own.Add(blockio.Demand{Bandwidth: supply(30, 20, 50).Bandwidth}); uses[0].Requested != want {
			t.Fatalf("with a neighbour of 30/20: %+v, want %+v", uses[0].Requested, want)
		}
		w, err := accounts.wishOf(strange)
		if (err == nil) != (len(w.targets) > 0) {
			t.Fatalf("targets %v with the error %v", w.targets, err)
		}
	})
}

// TestStrangeAnnotationsDoNotTouchOthers goes through the plugin: a refused pod leaves no trace in what others find.
func TestStrangeAnnotationsDoNotTouchOthers(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, map[string]*blockio.Node{"n1": oneDisk(supply(1000, 1000, 2000))})
	info := node("n1")
	_, before := c.try(ctx, t, asking("p", some), info)
	for _, annotation := range []string{"{", `{"rbps":"1e999999999"}`, `{"rbps":NaN}`, `[{}]`, "\x00", `{"a":{"requests":{"rbps":"1/0"}}}`} {
		if _, status := c.PreFilter(ctx, framework.NewCycleState(), asking("strange", annotation), nil); status.IsSuccess() {
			t.Errorf("annotation %q was taken", annotation)
		}
		if reason, score := c.try(ctx, t, asking("p", some), info); reason != "" || score != before {
			t.Errorf("after annotation %q: reason %q, score %d; want %d as before", annotation, reason, score, before)
		}
	}
}
