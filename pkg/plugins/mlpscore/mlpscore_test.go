package mlpscore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// Free CPU after a pod of 2 cores: 2/4, 6/8 and 14/16, that is 50, 75 and 87 hundredths. (75-50) x 99 / (87-50) is 66.
func TestScoresAreTheNetworksOutputs(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	nodes := []fwk.NodeInfo{node("small", "4", 0), node("medium", "8", 0), node("large", "16", 0)}
	want := map[string]int64{"small": 0, "medium": 66, "large": 100}
	if diff := cmp.Diff(want, f.scores(t, pod("2"), nodes)); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
	t.Run("Score alone, as in the seed's failing profile, gives the same", func(t *testing.T) {
		fresh := newFixture(t, active(), clock.RealClock{})
		if diff := cmp.Diff(want, fresh.normalised(t, framework.NewCycleState(), pod("2"), nodes)); diff != "" {
			t.Errorf("scores (-want +got):\n%s", diff)
		}
	})
}

func TestOutputsAreKeptUntilTheNodeChanges(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	info := node("n", "16", 0)
	other := node("m", "16", 0)
	nodes := []fwk.NodeInfo{info, other}
	f.scores(t, pod("2"), nodes)
	f.scores(t, pod("2"), nodes)
	if n := testutil.ToFloat64(f.metrics.candidates); n != 2 {
		t.Errorf("two pods of one shape on two nodes: want 2 evaluations, got %v", n)
	}
	podInfo, err := framework.NewPodInfo(pod("8"))
	if err != nil {
		t.Fatal(err)
	}
	info.AddPodInfo(podInfo)
	got := f.scores(t, pod("2"), nodes)
	if got["m"] != 100 || got["n"] != 0 {
		t.Errorf("after n has lost 8 cores: want m to win, got %v", got)
	}
	if n := testutil.ToFloat64(f.metrics.candidates); n != 3 {
		t.Errorf("after one of two nodes has changed: want 3 evaluations in all, got %v", n)
	}
	f.models.model = cpuModel(t, -1)
	if got := f.scores(t, pod("2"), nodes); got["n"] != 100 {
		t.Errorf("after the model has changed to prefer full nodes: want n to win, got %v", got)
	}
}

func TestModes(t *testing.T) {
	nodes := []fwk.NodeInfo{node("small", "4", 0), node("large", "16", 0)}
	t.Run("Off skips", func(t *testing.T) {
		f := newFixture(t, configv1.MLPScoreArgs{}, clock.RealClock{})
		if status := f.PreScore(t.Context(), framework.NewCycleState(), pod("1"), nodes); !status.IsSkip() {
			t.Errorf("want Skip, got %v", status)
		}
	})
	t.Run("Shadow skips, and counts whether it would have chosen the same", func(t *testing.T) {
		f := newFixture(t, configv1.MLPScoreArgs{Mode: configv1.MLPScoreShadow}, clock.RealClock{})
		state := framework.NewCycleState()
		if status := f.PreScore(t.Context(), state, pod("1"), nodes); !status.IsSkip() {
			t.Errorf("want Skip, got %v", status)
		}
		for _, chosen := range []string{"large", "small", "small"} {
			f.Reserve(t.Context(), state, pod("1"), chosen)
		}
		same, other := testutil.ToFloat64(f.metrics.shadow.WithLabelValues("true")), testutil.ToFloat64(f.metrics.shadow.WithLabelValues("false"))
		if same != 1 || other != 2 {
			t.Errorf("want 1 same and 2 other decisions, got %v and %v", same, other)
		}
	})
}

// ticking is a clock that is so much later at each look.
type ticking struct {
	*clocktesting.FakePassiveClock
	step time.Duration
}

func (c *ticking) Since(at time.Time) time.Duration {
	c.SetTime(c.Now().Add(c.step))
	return c.FakePassiveClock.Since(at)
}

func TestBeyondTheDeadlineTheFallbackDecides(t *testing.T) {
	var nodes []fwk.NodeInfo
	for i := range 2*batch + 1 {
		nodes = append(nodes, node(fmt.Sprintf("n%04d", i), "16", 1))
	}
	args := active()
	args.Deadline = metav1.Duration{Duration: time.Millisecond}
	f := newFixture(t, args, &ticking{FakePassiveClock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), step: 2 * time.Millisecond})
	half := pod("2", vicinityv1alpha1.GPUMilliAnnotation, "500")
	state := framework.NewCycleState()
	f.PreScore(t.Context(), state, half, nodes)
	if n := testutil.ToFloat64(f.metrics.fallbacks.WithLabelValues(causeDeadline)); n != 1 {
		t.Fatalf("want one fallback for the deadline, got %v", n)
	}
	// The one typical pod takes halves: no fragment before or after, so FGD's score is 50. The network would say 87.
	if score, _ := f.Score(t.Context(), state, half, nodes[0]); score != 50 {
		t.Errorf("want FGD's 50, got %d", score)
	}
	// What was evaluated is kept: the third pod of the shape finds everything done.
	for range 2 {
		state = framework.NewCycleState()
		f.PreScore(t.Context(), state, half, nodes)
	}
	if score, _ := f.Score(t.Context(), state, half, nodes[0]); score != 87 {
		t.Errorf("with everything evaluated: want the network's 87, got %d", score)
	}
}

func TestAnOutputThatIsNoNumberFallsBack(t *testing.T) {
	args := active()
	args.Fallback = configv1.MLPScoreFallbackNeutral
	f := newFixture(t, args, clock.RealClock{})
	// Weights are finite, but their products overflow: infinity minus infinity.
	huge := mlp.Layer{Inputs: feature.Inputs, Outputs: 2, Weights: make([]float32, 2*feature.Inputs), Bias: []float32{3e38, 3e38}}
	for i := range huge.Weights {
		huge.Weights[i] = 3e38
	}
	network, err := mlp.NewNetwork([]mlp.Layer{huge, {Inputs: 2, Outputs: 1, Weights: []float32{3e38, -3e38}, Bias: []float32{0}}})
	if err != nil {
		t.Fatal(err)
	}
	f.models.model = &feature.Model{Model: &mlp.Model{Network: network}}
	got := f.scores(t, pod("1"), []fwk.NodeInfo{node("a", "4", 0), node("b", "16", 0)})
	if n := testutil.ToFloat64(f.metrics.fallbacks.WithLabelValues(causeNoNumber)); n != 2 {
		t.Errorf("want two nodes scored by the fallback, got %v: %v", n, got)
	}
}

func TestThereIsOneWinner(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	var nodes []fwk.NodeInfo
	for i := range 500 {
		nodes = append(nodes, node(fmt.Sprintf("n%03d", i), "16", 0))
	}
	first := winners(f.scores(t, pod("1"), nodes))
	if len(first) != 1 {
		t.Fatalf("want one winner among equals, got %v", first)
	}
	again := newFixture(t, active(), clock.RealClock{})
	if diff := cmp.Diff(first, winners(again.scores(t, pod("1"), nodes))); diff != "" {
		t.Errorf("the winner of another process (-first +again):\n%s", diff)
	}
}

func winners(scores map[string]int64) (names []string) {
	for name, score := range scores {
		if score == fwk.MaxScore {
			names = append(names, name)
		}
	}
	return names
}

// FuzzNormalizeScore: whatever the outputs are, one node has 100, it has the highest output, and the others have 0 to 99
// in the order of their outputs.
func FuzzNormalizeScore(f *testing.F) {
	f.Add([]byte{1, 1, 1})
	f.Add([]byte{0, 255, 128, 255})
	f.Fuzz(func(t *testing.T, outputs []byte) {
		var list fwk.NodeScoreList
		for i, output := range outputs {
			list = append(list, fwk.NodeScore{Name: fmt.Sprint("node-", i), Score: 256*int64(output) - 32768})
		}
		if status := (&MLPScore{}).NormalizeScore(t.Context(), nil, nil, list); !status.IsSuccess() {
			t.Fatal(status)
		}
		best := 0
		for i := range list {
			switch {
			case list[i].Score == fwk.MaxScore:
				best++
			case list[i].Score < 0 || list[i].Score > fwk.MaxScore:
				t.Errorf("score %d is out of range", list[i].Score)
			}
			for j := range list {
				if outputs[i] > outputs[j] && list[i].Score < list[j].Score {
					t.Errorf("output %d scores %d, the lower %d scores %d", outputs[i], list[i].Score, outputs[j], list[j].Score)
				}
			}
		}
		if best != 1 && len(list) > 0 {
			t.Errorf("want one winner, got %d", best)
		}
	})
}

func TestDevicesOfANode(t *testing.T) {
	count, milli, index := vicinityv1alpha1.GPUCountAnnotation, vicinityv1alpha1.GPUMilliAnnotation, vicinityv1alpha1.GPUIndexAnnotation
	cases := []struct {
		name string
		pods []*corev1.Pod
		want []int
	}{
		{"nobody uses them", nil, []int{1000, 1000, 1000}},
		{"a pod with a device number", []*corev1.Pod{pod("1", milli, "300", index, "2")}, []int{1000, 1000, 700}},
		{"pods without a number take what the others leave", []*corev1.Pod{pod("1", count, "2"), pod("1", milli, "300", index, "0")}, []int{700, 0, 0}},
		{"a device that the node does not have", []*corev1.Pod{pod("1", milli, "300", index, "7")}, []int{1000, 1000, 1000}},
		{"more on a device than it has", []*corev1.Pod{pod("1", milli, "600", index, "0"), pod("1", milli, "600", index, "0")}, []int{0, 1000, 1000}},
		{"what cannot be read counts as nothing", []*corev1.Pod{pod("1", count, "many")}, []int{1000, 1000, 1000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r nodeReader
			r.devices(node("n", "16", 3, c.pods...))
			if diff := cmp.Diff(c.want, r.idle); diff != "" {
				t.Errorf("idle (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodThatFitsNoDeviceIsScoredAllTheSame(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	full := node("full", "16", 1, pod("1", vicinityv1alpha1.GPUCountAnnotation, "1"))
	got := f.scores(t, pod("1", vicinityv1alpha1.GPUMilliAnnotation, "500"), []fwk.NodeInfo{full, node("free", "16", 1)})
	if got["free"] != 100 {
		t.Errorf("want the node with a free device to win, got %v", got)
	}
}

func TestNoNodesAndNoLabels(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	if got := f.scores(t, pod("1"), nil); len(got) != 0 {
		t.Errorf("want no score without nodes, got %v", got)
	}
	bare := framework.NewNodeInfo()
	bare.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare"}})
	if got := f.scores(t, pod("1"), []fwk.NodeInfo{bare}); got["bare"] != 100 {
		t.Errorf("want the only node to win, got %v", got)
	}
}

func TestWrongArguments(t *testing.T) {
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(context.Background(), &configv1.DiskIOArgs{}, nil, metrics, noNodes, clock.RealClock{})
	if err == nil || !strings.Contains(err.Error(), "MLPScoreArgs") {
		t.Errorf("want an error that names MLPScoreArgs, got %v", err)
	}
}

// The shape of a pod changes what it is signed with, its name does not.
func TestSignatures(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	sign := func(p *corev1.Pod) any {
		fragments, status := f.SignPod(t.Context(), p)
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("want one fragment, got %v (%v)", fragments, status)
		}
		return fragments[0].Value
	}
	other := pod("1")
	other.Name = "q"
	if sign(pod("1")) != sign(other) || sign(pod("1")) == sign(pod("2")) {
		t.Error("want pods of one shape to have one signature, and those of another to have another")
	}
	if fragments, status := external(t, "http://127.0.0.1:1").SignPod(t.Context(), other); status.IsSuccess() || fragments != nil {
		t.Errorf("want pods scored by a server unsigned, got %v (%v)", fragments, status)
	}
}
