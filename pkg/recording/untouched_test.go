package recording_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/recording"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func someNodes() []apiruntime.Object {
	capacity := map[corev1.ResourceName]string{"cpu": "32", "memory": "64Gi", "pods": "110"}
	return []apiruntime.Object{
		st.MakeNode().Name("n").Capacity(capacity).Obj(),
		st.MakeNode().Name("nn").Capacity(capacity).Obj(),
		st.MakeNode().Name("nnn").Capacity(capacity).Label("refuse", "not today").Obj(),
	}
}

func pod(name string) *corev1.Pod {
	return st.MakePod().Namespace("team").Name(name).UID(name).Req(map[corev1.ResourceName]string{"cpu": "100m", "memory": "1Mi"}).
		SchedulerName(corev1.DefaultSchedulerName).Obj()
}

// TestNothingIsEvaluatedTwice runs the same pods with the recorder and without.
func TestNothingIsEvaluatedTwice(t *testing.T) {
	const pods = 20
	calls := map[bool]map[string]int64{}
	for _, off := range []bool{true, false} {
		plugin := &counting{}
		r := newRig(t, settings{objects: someNodes(), more: plugin, off: off})
		for i := range pods {
			_, err := r.client.CoreV1().Pods("team").Create(t.Context(), pod(fmt.Sprint("p", i)), metav1.CreateOptions{})
			must(t, err)
			r.await(t, 1) // one after the other: the cycles are the same ones then
		}
		for plugin.postBind.Load() < pods { // comes after what await sees
			if t.Context().Err() != nil {
				t.Fatal("PostBind was not called for every pod")
			}
		}
		calls[off] = plugin.calls()
	}
	if diff := cmp.Diff(calls[true], calls[false]); diff != "" {
		t.Errorf("calls without the recorder (-) and with it (+):\n%s", diff)
	}
	if calls[true]["Filter"] != 3*pods || calls[true]["Score"] != 2*pods { // of three nodes one is refused
		t.Errorf("the comparison is about nothing: %v", calls[true])
	}
}

// TestQueueingHintsAreUntouched: the scheduler asks the profile for them once, and gets those of the plugins themselves.
func TestQueueingHintsAreUntouched(t *testing.T) {
	r := newRig(t, settings{objects: someNodes(), more: &counting{}})
	wrapped, ok := r.Profiles[corev1.DefaultSchedulerName].(*recording.Framework)
	if !ok || r.installed != 1 {
		t.Fatalf("profile is a %T, %d installed", r.Profiles[corev1.DefaultSchedulerName], r.installed)
	}
	events := func(f framework.Framework) map[string][]string {
		out := map[string][]string{}
		for _, plugin := range f.EnqueueExtensions() {
			registered, err := plugin.EventsToRegister(t.Context())
			must(t, err)
			out[plugin.Name()] = []string{}
			for _, event := range registered {
				out[plugin.Name()] = append(out[plugin.Name()], fmt.Sprint(event.Event, event.QueueingHintFn != nil))
			}
		}
		return out
	}
	found := events(wrapped)
	if diff := cmp.Diff(events(wrapped.Framework), found); diff != "" {
		t.Errorf("events of the profile (-) and of the recorded one (+):\n%s", diff)
	}
	if len(found["NodeResourcesFit"]) == 0 || len(found["Counting"]) != 1 || len(found[sniffer.Name]) != 0 {
		t.Errorf("want events of other plugins and none of %s, found %v", sniffer.Name, found)
	}
}

// TestBatchingGoesOn: equal pods, one for each node, are signed, and all but the first take the next best node of the
// one before, which their records say.
func TestBatchingGoesOn(t *testing.T) {
	var objects []apiruntime.Object
	for i := range 6 {
		objects = append(objects, st.MakeNode().Name(fmt.Sprint("n", i)).
			Capacity(map[corev1.ResourceName]string{"cpu": "1", "memory": "4Gi", "pods": "10"}).Obj())
	}
	for i := range 4 {
		one := pod(fmt.Sprint("p", i))
		one.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *st.MakePod().Req(map[corev1.ResourceName]string{"cpu": "1"}).Obj().
			Spec.Containers[0].Resources.Requests.Cpu()
		objects = append(objects, one)
	}
	r := newRig(t, settings{objects: objects, sign: true})
	r.await(t, 4)
	f := r.Profiles[corev1.DefaultSchedulerName]
	if f.SignPod(t.Context(), pod("another")) == nil {
		t.Error("a pod without demands is not signed: batching is off for the whole profile")
	}
	found := map[trace.Found]int{}
	for i := range 4 {
		record := r.record(t, fmt.Sprint("p", i), 1)
		found[record.Found]++
	}
	if found[trace.FoundScored] != 1 || found[trace.FoundHint] != 3 {
		t.Errorf("nodes were found like this: %v; want one that was scored and three by a hint", found)
	}
}

// TestWithoutThePluginTheSchedulerStaysAsItIs.
func TestWithoutThePluginTheSchedulerStaysAsItIs(t *testing.T) {
	r := newRig(t, settings{off: true})
	before := r.Profiles[corev1.DefaultSchedulerName]
	metrics, err := sniffer.NewMetrics(nobody{})
	must(t, err)
	if n := recording.Install(r.Scheduler, sniffer.NewRecorder(sniffer.Identity{}, nil, metrics)); n != 0 {
		t.Errorf("%d profiles are recorded, want none", n)
	}
	if r.Profiles[corev1.DefaultSchedulerName] != before {
		t.Error("the profile was replaced")
	}
}

var _ fwk.Plugin = (*counting)(nil)
