package sniffer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	clocktesting "k8s.io/utils/clock/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func start() time.Time { return time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC) }

type kept struct {
	mu      sync.Mutex
	records []*trace.Record
}

func (k *kept) Write(r *trace.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, r)
}

func (k *kept) Close(context.Context) error { return nil }

type rig struct {
	*Recorder
	profile *Profile
	plugin  *Sniffer
	clock   *clocktesting.FakeClock
}

func newRig(t testing.TB, args configv1.SnifferArgs) *rig {
	t.Helper()
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(start())
	r := &rig{Recorder: NewRecorder(Identity{Scheduler: "host", Session: "s"}, clock, metrics), clock: clock}
	configv1.SetDefaults_SnifferArgs(&args)
	if r.profile, err = r.addProfile("default", &args); err != nil {
		t.Fatal(err)
	}
	r.profile.SetColumns([]Column{NewColumn("A", 2), NewColumn("B", 1)})
	r.plugin = &Sniffer{profile: r.profile}
	return r
}

// written runs the writer over what is in the ring and returns it.
func (r *rig) written(t testing.TB) []*trace.Record {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sink := &kept{}
	if err := r.Run(ctx, []Sink{sink}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return sink.records
}

func someone(name string, priority int32) *corev1.Pod {
	return st.MakePod().Namespace("team").Name(name).UID("uid-" + name).Priority(priority).Obj()
}

func (r *rig) begin(pod *corev1.Pod, number int) (*Attempt, fwk.CycleState) {
	state := framework.NewCycleState()
	return r.profile.Begin(state, Beginning{Pod: pod, Number: number, Cycle: int64(number), Nodes: 3}), state
}

// place takes a pod through its cycles.
func (r *rig) place(t testing.TB, pod *corev1.Pod, node string) {
	t.Helper()
	a, state := r.begin(pod, 1)
	a.Decided(state, Decision{Node: node, Feasible: 1})
	r.plugin.Reserve(t.Context(), state, pod, node)
	r.plugin.PostBind(t.Context(), state, pod, node)
}

func TestAFullQueueDropsAndLeavesAGap(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{QueueLength: 64})
	for i := range 64 + 10 {
		r.place(t, someone(fmt.Sprint("p", i), 0), "n")
	}
	if dropped := testutil.ToFloat64(r.metrics.dropped); dropped != 10 {
		t.Errorf("%v are counted as dropped, want 10", dropped)
	}
	<-r.ring // room for one: the 75th
	r.place(t, someone("late", 0), "n")
	records := r.written(t)
	var sequences []uint64
	for _, record := range records {
		sequences = append(sequences, record.Sequence)
	}
	if len(records) != 64 || sequences[0] != 2 || sequences[62] != 64 || sequences[63] != 75 {
		t.Errorf("sequences %v: want 2 to 64, and 75 after a gap of the ten that were dropped", sequences)
	}
}

// TestAReservationThatIsUndone says at which stage and why.
func TestAReservationThatIsUndone(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{})
	pod := someone("p", 0)
	a, state := r.begin(pod, 3)
	a.Decided(state, Decision{Node: "n2", Feasible: 1})
	r.plugin.Reserve(t.Context(), state, pod, "n2")
	a.Permitted(map[string]time.Duration{"Gang": time.Minute})
	a.Waited(20 * time.Second)
	a.Failed("WaitOnPermit", fwk.NewStatus(fwk.Unschedulable, "the others did not come").WithPlugin("Gang"))
	r.plugin.Unreserve(t.Context(), state, pod, "n2")
	r.profile.Fail(Beginning{Pod: pod, Number: 3}, Failure{Rejected: true, Message: "rejected"})
	records := r.written(t)
	if len(records) != 1 {
		t.Fatalf("%d records, want 1", len(records))
	}
	got := records[0]
	wantUndo := &trace.Undo{Stage: "WaitOnPermit", Plugin: "Gang", Reason: "the others did not come"}
	wantPermit := &trace.Permit{Waits: []trace.PermitWait{{Plugin: "Gang", Timeout: time.Minute}}, Waited: 20 * time.Second}
	if diff := cmp.Diff(wantUndo, got.Undo) + cmp.Diff(wantPermit, got.Permit); diff != "" {
		t.Errorf("undo, permit (-want +got):\n%s", diff)
	}
	if got.Outcome != trace.OutcomeUnschedulable || got.Node != "n2" || got.Plugin != "Gang" || got.Attempt != 3 {
		t.Errorf("found %+v", got)
	}
}

// TestTrialsOfAPodGroup: a pod is tried on two placements in one cycle; the first is the one that is carried out.
func TestTrialsOfAPodGroup(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{})
	pod := someone("member", 0)
	trial := func(node string) *framework.CycleState {
		state := framework.NewCycleState()
		state.SetPodGroupSchedulingCycle(framework.NewCycleState())
		a := r.profile.Begin(state, Beginning{Pod: pod, Number: 1, Cycle: 7, Tentative: true, Nodes: 3})
		a.Decided(state, Decision{Node: node, Feasible: 1})
		r.plugin.Reserve(t.Context(), state, pod, node)
		r.plugin.Unreserve(t.Context(), state, pod, node)
		return state
	}
	first := trial("n1")
	trial("n2")
	first.SetPodGroupSchedulingCycle(nil)
	r.plugin.Reserve(t.Context(), first, pod, "n1")
	r.plugin.PostBind(t.Context(), first, pod, "n1")

	failed := someone("unlucky", 0)
	state := framework.NewCycleState()
	state.SetPodGroupSchedulingCycle(framework.NewCycleState())
	a := r.profile.Begin(state, Beginning{Pod: failed, Number: 1, Cycle: 8, Tentative: true, Nodes: 3})
	a.Decided(state, Decision{Node: "n3", Feasible: 1})
	r.plugin.Reserve(t.Context(), state, failed, "n3")
	r.plugin.Unreserve(t.Context(), state, failed, "n3")
	r.profile.Fail(Beginning{Pod: failed, Number: 1}, Failure{Rejected: true, Message: "the group does not fit"})
	r.profile.Fail(Beginning{Pod: someone("never-tried", 0), Number: 1}, Failure{Rejected: true, Message: "the group does not fit"})

	var got []string
	for _, record := range r.written(t) {
		undone := "kept"
		if record.Undo != nil {
			undone = record.Undo.Stage
		}
		got = append(got, fmt.Sprint(record.Pod.Name, " ", record.Outcome, " ", record.Node, " tentative=", record.Tentative, " ", undone))
	}
	want := []string{
		"member Fits n2 tentative=true Trial",
		"member Bound n1 tentative=false kept",
		"unlucky Unschedulable n3 tentative=true Trial",
		"never-tried Unschedulable  tentative=false kept",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func victim(name, node string, priority int32) *corev1.Pod {
	pod := someone(name, priority)
	pod.Spec.NodeName = node
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
		LastTransitionTime: metav1.NewTime(start()),
	}}
	return pod
}

// TestVictims: one is seen before the attempt ends, one after it, one that others had to do with.
func TestVictims(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{})
	high, other := someone("high", 100), someone("other", 5)
	a, state := r.begin(high, 1)
	a.Decided(state, Decision{})
	r.podChanged(victim("early", "n1", 0))
	r.profile.Fail(Beginning{Pod: high}, Failure{Rejected: true, Nominates: true, Nominated: "n1"})
	a, state = r.begin(other, 1)
	a.Decided(state, Decision{})
	r.profile.Fail(Beginning{Pod: other}, Failure{Rejected: true, Nominates: true, Nominated: "n1"})

	r.podChanged(victim("late", "n1", 10)) // below high, not below other
	r.podChanged(victim("late", "n1", 10)) // informers repeat themselves
	r.podChanged(victim("elsewhere", "n2", 0))
	r.podDeleted(victim("late", "n1", 10))
	r.podChanged(someone("unmarked", 0))
	r.place(t, high, "n1")

	type seen struct {
		Pod     string
		Kind    trace.Kind
		Victims []string
	}
	var got []seen
	for _, record := range r.written(t) {
		s := seen{Pod: record.Pod.Name, Kind: record.Kind}
		if record.Preemption != nil {
			for _, v := range record.Preemption.Victims {
				s.Victims = append(s.Victims, v.Name)
			}
		}
		got = append(got, s)
	}
	want := []seen{
		{"high", trace.KindAttempt, []string{"early"}},
		{"other", trace.KindAttempt, nil},
		{"high", trace.KindVictims, []string{"late"}},
		{"high", trace.KindAttempt, []string{"early", "late"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestARecordOfFiveThousandNodesIsSmall: 4,500 of them are rejected for reasons that name the node, 500 are scored by
// twelve plugins.
func TestARecordOfFiveThousandNodesIsSmall(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{TopK: 20})
	pod := someone(strings.Repeat("p", 253), 0)
	state := framework.NewCycleState()
	a := r.profile.Begin(state, Beginning{Pod: pod, Number: 1, Nodes: 5000})
	name := func(i int) string { return fmt.Sprintf("%s-%04d", strings.Repeat("node", 30), i) }
	for i := range 4500 {
		r.profile.Tally.Reject(name(i), fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("%s is not for this pod", name(i))).WithPlugin("Picky"))
	}
	var scores []fwk.NodePluginScores
	for i := 4500; i < 5000; i++ {
		node := fwk.NodePluginScores{Name: name(i)}
		for p := range 12 {
			plugin := fmt.Sprint("NodeResourcesBalancedAllocation", p)
			node.RawScores = append(node.RawScores, fwk.PluginScore{Name: plugin, Score: int64(i) << 40})
			node.Scores = append(node.Scores, fwk.PluginScore{Name: plugin, Score: 100})
			node.TotalScore += 100
		}
		scores = append(scores, node)
	}
	a.Decided(state, Decision{Node: name(4999), Feasible: 500, Scores: scores})
	r.plugin.Reserve(t.Context(), state, pod, name(4999))
	r.plugin.PostBind(t.Context(), state, pod, name(4999))
	got := r.written(t)[0]
	line, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(line) > 8<<10 {
		t.Errorf("the record has %d bytes, want at most 8 KiB", len(line))
	}
	rejected := 0
	for _, rejection := range got.Rejections {
		rejected += rejection.Nodes
	}
	if rejected != 4500 || got.Nodes != (trace.NodeCounts{Total: 5000, Rejected: 4500, Feasible: 500}) {
		t.Errorf("%d rejected in the reasons, counts %+v", rejected, got.Nodes)
	}
	if got.Scores.Top[0].Node != name(4999) || got.Scores.Margin != 0 {
		t.Errorf("the chosen node is not the first: %+v", got.Scores.Top[0])
	}
}

func TestSamplingChoosesPodsNotAttempts(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{SamplePercent: 25})
	chosen := 0
	for i := range 4000 {
		pod := someone(fmt.Sprint("p", i), 0)
		first, _ := r.begin(pod, 1)
		second, _ := r.begin(pod, 2)
		if (first == nil) != (second == nil) {
			t.Fatalf("pod %d is recorded with one attempt and not with the other", i)
		}
		if first != nil {
			chosen++
		}
	}
	if chosen < 800 || chosen > 1200 {
		t.Errorf("%d of 4000 pods are recorded, want about 1000", chosen)
	}
}

// TestWhatIsNotRecordedAllocatesNothing: a pod that is left out costs no memory, at any call.
func TestWhatIsNotRecordedAllocatesNothing(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{Namespaces: configv1.SnifferNamespaces{Exclude: []string{"team"}}})
	pod, state, ctx := someone("p", 0), fwk.CycleState(framework.NewCycleState()), t.Context()
	allocations := testing.AllocsPerRun(1000, func() {
		if r.profile.Begin(state, Beginning{Pod: pod, Number: 1, Nodes: 5000}) != nil {
			t.Fatal("the pod is recorded")
		}
		r.plugin.Reserve(ctx, state, pod, "n")
		r.plugin.Unreserve(ctx, state, pod, "n")
		r.plugin.PostBind(ctx, state, pod, "n")
		r.profile.Fail(Beginning{Pod: pod}, Failure{})
	})
	if allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

func TestProfilesMustAgreeOnSinks(t *testing.T) {
	r := newRig(t, configv1.SnifferArgs{})
	other := configv1.SnifferArgs{Sinks: configv1.SnifferSinks{File: &configv1.SnifferFileSink{Path: "/tmp/x"}}}
	configv1.SetDefaults_SnifferArgs(&other)
	if _, err := r.addProfile("other", &other); err == nil || !strings.Contains(err.Error(), "want the same in all") {
		t.Errorf("error %v", err)
	}
}

// TestTheWriterEnds with its context, having written what was recorded.
func TestTheWriterEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newRig(t, configv1.SnifferArgs{})
	ctx, cancel := context.WithCancel(t.Context())
	sink, done := &kept{}, make(chan error, 1)
	go func() { done <- r.Run(ctx, []Sink{sink}, time.Minute) }()
	for i := range 100 {
		r.place(t, someone(fmt.Sprint("p", i), 0), "n")
	}
	cancel()
	if err := <-done; err != nil || len(sink.records) != 100 {
		t.Errorf("%d records, %v; want all 100", len(sink.records), err)
	}
	r.place(t, someone("after", 0), "n")
	if dropped := testutil.ToFloat64(r.metrics.dropped); dropped != 1 {
		t.Errorf("%v are counted as dropped after the end, want 1", dropped)
	}
}
