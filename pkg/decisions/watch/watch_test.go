package watch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func epoch() time.Time { return time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC) }

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch().Add(time.Duration(seconds) * time.Second))
}

// newWatcher is a watcher whose handlers the test calls itself, an hour after epoch.
func newWatcher(t *testing.T, s Store) *watcher {
	t.Helper()
	return &watcher{
		options: Options{Store: s, Clock: clocktesting.NewFakeClock(epoch().Add(time.Hour))}, notes: newNotes(),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "dropped_total"}), failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "failed_total"}),
	}
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func events(t *testing.T, s *store.Store) []string {
	t.Helper()
	found, err := s.Events(t.Context(), store.EventFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range slices.Backward(found) {
		out = append(out, fmt.Sprintf("%s %s %s %s", e.Time.Sub(epoch()), e.Name, e.Endpoint, e.Event.Event))
	}
	return out
}

// life is a pod's states as the API server shows them: pending, scheduled, running, over.
func life(uid string) []*corev1.Pod {
	base := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "web-0", UID: types.UID(uid), CreationTimestamp: at(0),
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", Controller: new(true)}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	scheduled := base.DeepCopy()
	scheduled.Spec.NodeName = "n1"
	scheduled.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(1)}}
	running := scheduled.DeepCopy()
	running.Status.Phase = corev1.PodRunning
	running.Status.Conditions = append(running.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(3)})
	running.Status.ContainerStatuses = []corev1.ContainerStatus{
		{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(3)}}},
		{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(2)}}},
	}
	over := running.DeepCopy()
	over.Status.Phase = corev1.PodSucceeded
	over.Status.Conditions[1].Status, over.Status.Conditions[1].LastTransitionTime = corev1.ConditionFalse, at(13)
	over.Status.ContainerStatuses = []corev1.ContainerStatus{
		{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(3), FinishedAt: at(12)}}},
		{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(2), FinishedAt: at(13)}}},
	}
	return []*corev1.Pod{&base, scheduled, running, over}
}

func (w *watcher) live(states []*corev1.Pod) {
	w.pod(nil, states[0])
	for i := range states[1:] {
		w.pod(states[i], states[i+1])
	}
}

func (w *watcher) mustFlush(t *testing.T) {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	if !w.flush(ctx) {
		t.Fatal("the notes could not be stored")
	}
}

// TestALifeInOneLineAChange, also when everything is shown again, and again after a restart.
func TestALifeInOneLineAChange(t *testing.T) {
	s := newStore(t)
	states := life("u1")
	for range 2 { // the second is a service that has been restarted
		w := newWatcher(t, s)
		w.live(states)
		for _, state := range states {
			w.pod(state, state) // nothing has changed
		}
		w.mustFlush(t)
	}
	want := []string{
		"0s web-0 podAdd Pending", "1s web-0 podUpdate PodScheduled", "2s web-0 podUpdate Running", "3s web-0 podUpdate Ready",
		"13s web-0 podUpdate Succeeded",
	}
	if diff := cmp.Diff(want, events(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err := s.PodByUID(t.Context(), "u1")
	if err != nil {
		t.Fatal(err)
	}
	pod := store.Pod{
		UID: "u1", Namespace: "team", Name: "web-0", Owner: "StatefulSet/web", Node: "n1", Phase: "Succeeded", Created: at(0).Time,
		Bound: at(1).Time, Started: at(2).Time, Ended: at(13).Time,
	}
	if diff := cmp.Diff(pod, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestANamesakeIsAnotherPod: a StatefulSet's pod that comes back on another node, seen as one update.
func TestANamesakeIsAnotherPod(t *testing.T) {
	s := newStore(t)
	w := newWatcher(t, s)
	first, second := life("u1"), life("u2")
	w.pod(nil, first[1])
	second[1].Spec.NodeName = "n2"
	w.pod(first[1], second[1])
	w.mustFlush(t)
	pods, err := s.Pods(t.Context(), "team", "web-0", 10)
	if err != nil || len(pods) != 2 {
		t.Fatalf("%+v, %v: want two pods", pods, err)
	}
	for _, pod := range pods {
		if want := map[string]string{"u1": "n1", "u2": "n2"}[pod.UID]; pod.Node != want || pod.Gone != (pod.UID == "u1") {
			t.Errorf("%+v: want it on %s, and u1 gone", pod, want)
		}
	}
}

func TestDeletionsThatWereNotSeen(t *testing.T) {
	s := newStore(t)
	w := newWatcher(t, s)
	pod := life("u1")[1]
	w.pod(nil, pod)
	w.podDeleted(cache.DeletedFinalStateUnknown{Key: "team/web-0", Obj: pod})
	w.podDeleted(cache.DeletedFinalStateUnknown{Key: "team/other", Obj: "what is this"})
	w.nodeDeleted(cache.DeletedFinalStateUnknown{Key: "n1", Obj: node("5m")})
	w.mustFlush(t)
	got, err := s.PodByUID(t.Context(), "u1")
	if err != nil || !got.Gone || !got.Ended.Equal(epoch().Add(time.Hour)) {
		t.Errorf("%+v, %v: want it gone now", got, err)
	}
	want := []string{
		"0s web-0 podAdd Pending", "1s web-0 podAdd PodScheduled", "1h0m0s web-0 podDelete Pending", "1h0m0s n1 nodeDeleted ",
	}
	if diff := cmp.Diff(want, events(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func node(cpu string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node-1", CreationTimestamp: at(0), Labels: map[string]string{corev1.LabelTopologyZone: "a"}},
		Status: corev1.NodeStatus{
			Capacity:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: at(5)}},
		},
	}
}

func TestHeartbeatsAreNoChanges(t *testing.T) {
	s := newStore(t)
	w := newWatcher(t, s)
	first := node("4")
	w.node(nil, first)
	w.mustFlush(t)
	for beat := range 5 {
		next := first.DeepCopy()
		next.Status.Conditions[0].LastHeartbeatTime = at(10 * beat)
		w.node(first, next)
	}
	if got := w.notes.take(); len(got.nodes)+len(got.events) != 0 {
		t.Errorf("notes of heartbeats: %+v", got)
	}
	w.node(first, node("8"))
	w.mustFlush(t)
	want := []string{"0s n1 nodeAdd ", "5s n1 nodeAdd Ready", "1h0m0s n1 nodeUpdate "}
	if diff := cmp.Diff(want, events(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	nodes, err := s.Nodes(t.Context(), epoch(), epoch().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Node{{UID: "node-1", Name: "n1", Zone: "a", Ready: true, Added: at(0).Time}}, nodes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatWentWhileNobodyWatched(t *testing.T) {
	s := newStore(t)
	now := epoch().Add(time.Hour)
	if err := s.SavePods(t.Context(), []store.Pod{
		{UID: "gone", Namespace: "team", Name: "a", LastAt: epoch()},
		{UID: "there", Namespace: "team", Name: "b", LastAt: epoch()},
		{UID: "new", Namespace: "team", Name: "c", LastAt: now.Add(-time.Second)},
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveNodes(t.Context(), []store.Node{{UID: "node-0", Name: "n0", Added: epoch()}}); err != nil {
		t.Fatal(err)
	}
	w := newWatcher(t, s)
	pods, nodes := cache.NewStore(cache.MetaNamespaceKeyFunc), cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := pods.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "b", UID: "there"}}); err != nil {
		t.Fatal(err)
	}
	_, ctx := ktesting.NewTestContext(t)
	if !w.buryMissing(ctx, pods, nodes) {
		t.Fatal("not buried")
	}
	w.mustFlush(t)
	living, livingNodes, err := s.Living(t.Context())
	if err != nil || len(living) != 2 || living["gone"].UID != "" || len(livingNodes) != 0 {
		t.Errorf("living: %v, %v, %v; want there and new, and no node", living, livingNodes, err)
	}
}

// broken is a store that fails as often as it is told to.
type broken struct {
	Store

	failures int
}

func (b *broken) SavePods(ctx context.Context, pods []store.Pod) error {
	if b.failures > 0 {
		b.failures--
		return errors.New("database is away")
	}
	return b.Store.SavePods(ctx, pods)
}

// TestNotesOutliveFailures: what could not be stored is stored later, and what is newer wins.
func TestNotesOutliveFailures(t *testing.T) {
	s := newStore(t)
	w := newWatcher(t, &broken{Store: s, failures: 1})
	states := life("u1")
	w.live(states[:2])
	_, ctx := ktesting.NewTestContext(t)
	if w.flush(ctx) {
		t.Fatal("want a failure")
	}
	w.pod(states[1], states[2])
	w.pod(states[2], states[3])
	w.mustFlush(t)
	if got := events(t, s); len(got) != 5 {
		t.Errorf("events %v: want five", got)
	}
	if pod, err := s.PodByUID(t.Context(), "u1"); err != nil || pod.Phase != "Succeeded" {
		t.Errorf("%+v, %v: want the latest state", pod, err)
	}
}

func TestNotesAreBounded(t *testing.T) {
	n := newNotes()
	n.addEvents(make([]store.Event, maxNotes-1))
	n.addEvents(make([]store.Event, 3))
	if got := n.take(); len(got.events) != maxNotes || got.dropped != 2 {
		t.Errorf("%d events and %d dropped, want %d and 2", len(got.events), got.dropped, maxNotes)
	}
}
