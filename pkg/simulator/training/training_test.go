package training

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// small is a workload of 120 pods for 12 nodes, some with little CPU for each GPU and some with plenty.
func small(name string) Workload {
	random := rand.New(rand.NewPCG(21, 22))
	w := Workload{Name: name, Ratio: 1.3}
	for i := range 12 {
		cores := int64(16)
		if i%2 == 0 {
			cores = 96
		}
		w.Cluster.Nodes = append(w.Cluster.Nodes, model.Node{
			Name: fmt.Sprintf("n%02d", i), CPUMilli: cores * 1000, MemoryBytes: 256 << 30, GPUs: 4, GPUModel: "T4", MaxPods: 100,
		})
	}
	for i := range 120 {
		p := model.Pod{Namespace: "default", Name: fmt.Sprintf("p%03d", i), CPUMilli: 1000 * (1 + random.Int64N(12)), MemoryBytes: 4 << 30}
		switch random.IntN(3) {
		case 0:
			p.GPUs, p.GPUMilli = 1, 100*(1+random.IntN(9))
		case 1:
			p.GPUs, p.GPUMilli = 1+random.IntN(2), 1000
		}
		w.Pods = append(w.Pods, p)
	}
	return w
}

// The search begins where FGD is: the network's path hands on FGD's score, and nothing else has a weight.
func TestTheStartDecidesAsFGD(t *testing.T) {
	network, err := mlp.NewNetwork(layers(start(), 1))
	if err != nil {
		t.Fatal(err)
	}
	w := small("start")
	for seed := range int64(5) {
		want, err := play(t.Context(), &w, seed, FGD())
		if err != nil {
			t.Fatal(err)
		}
		got, err := play(t.Context(), &w, seed, Learned(network))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("seed %d: FGD allocates %v %%, its clone %v %%", seed, want, got)
		}
	}
}

func TestTheSameSeedGivesTheSameWeightsOnAnyNumberOfCores(t *testing.T) {
	train := func(cores int) []mlp.Layer {
		trained, _, err := Train(t.Context(), []Workload{small("a"), small("b")}, Options{Generations: 3, Seed: 7, FirstSeed: 100, Cores: cores})
		if err != nil {
			t.Fatal(err)
		}
		return trained
	}
	if diff := cmp.Diff(train(1), train(4)); diff != "" {
		t.Errorf("weights (-one core +four):\n%s", diff)
	}
}

// A strategy that was stopped after two of four generations ends where one does that was not.
func TestAStoppedTrainingGoesOnAsIfItHadNot(t *testing.T) {
	workloads := []Workload{small("a")}
	var half Strategy
	whole, _, err := Train(t.Context(), workloads, Options{Generations: 4, Seed: 7, FirstSeed: 100, Cores: 2, Done: func(p Progress) error {
		if p.Strategy.Generation == 2 {
			half = Strategy{
				Mean: append([]float64(nil), p.Strategy.Mean...), Steps: append([]float64(nil), p.Strategy.Steps...),
				Generation: 2, Seed: p.Strategy.Seed,
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	resumed, _, err := Train(t.Context(), workloads, Options{Generations: 4, Seed: 7, FirstSeed: 100, Cores: 2, Resume: &half})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, resumed); diff != "" {
		t.Errorf("weights (-whole +resumed):\n%s", diff)
	}
}

func TestHeldOutWorkloadsAreNotTrainedOn(t *testing.T) {
	held := small("held out")
	held.HeldOut = true
	if _, _, err := Train(t.Context(), []Workload{held}, Options{Generations: 1}); !errors.Is(err, ErrNoWorkload) {
		t.Errorf("want %v, got %v", ErrNoWorkload, err)
	}
	_, _, err := Train(t.Context(), []Workload{small("open"), held}, Options{Generations: 2, FirstSeed: 5, Cores: 2, Done: func(p Progress) error {
		for _, name := range p.Workloads {
			if name == held.Name {
				t.Errorf("generation %d played the workload that is held out", p.Strategy.Generation)
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACheckpointOfAnotherVersionIsRefused(t *testing.T) {
	_, _, err := Train(t.Context(), []Workload{small("a")}, Options{Generations: 1, Resume: &Strategy{Mean: []float64{1}, Steps: []float64{1}}})
	if err == nil {
		t.Error("want an error about the number of weights")
	}
}

func TestATrainingThatIsStoppedEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := Train(ctx, []Workload{small("a")}, Options{Generations: 1000, Cores: 2, Done: func(Progress) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
}

// The strategy finds the lowest point of a bowl whose sides are 100 times steeper in one direction than in the other.
func TestTheStrategyDescends(t *testing.T) {
	s := newStrategy([]float64{1, 1, 1}, 0.3, 3)
	height := func(x []float64) float64 { return x[0]*x[0] + 100*x[1]*x[1] + 10*x[2]*x[2] }
	for range 200 {
		drawn := s.ask()
		values := make([]float64, len(drawn))
		for i := range drawn {
			values[i] = -height(drawn[i])
		}
		s.tell(drawn, values)
	}
	if h := height(s.Mean); h > 0.01 {
		t.Errorf("want to be below 0.01 after 200 generations from 111, got %v at %v", h, s.Mean)
	}
}

func TestTheGate(t *testing.T) {
	better := Comparison{Workload: "default", Difference: 0.5, Deviation: 0.1}
	cases := []struct {
		name string
		all  []Comparison
		want bool
	}{
		{"clearly better where it counts, a little worse elsewhere", []Comparison{better, {Difference: -0.1, Deviation: 0.1}}, true},
		{"better by less than two deviations", []Comparison{{Difference: 0.19, Deviation: 0.1}}, false},
		{"worse by more than 0.2 points on one workload", []Comparison{better, {Difference: -0.21}}, false},
		{"as good as FGD on a workload that was held out", []Comparison{better, {Difference: 0, Deviation: 0, HeldOut: true}}, false},
		{"nothing was played", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Passes(c.all); got != c.want {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}

// Values alternate between FGD and the network: 90 and 91, 92 and 95. Means 91 and 93; the differences 1 and 3 have the
// mean 2 and the deviation sqrt((1 + 1) / 1).
func TestCompare(t *testing.T) {
	want := Comparison{FGD: 91, Network: 93, Difference: 2, Deviation: 1.4142135623730951}
	if diff := cmp.Diff(want, compare([]float64{90, 91, 92, 95})); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
}

func TestAPackedModelCanBeRead(t *testing.T) {
	data, err := Pack(t.Context(), "test", layers(start(), 1), []Workload{small("a")}, Options{Generations: 1, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlp.Decode(data, feature.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if m.TrainedOn != "a" || len(m.Lowest) != feature.Inputs || len(data) > 100_000 {
		t.Errorf("want a model trained on a, with ranges and below 100 kB, got %+v in %d bytes", m.Info, len(data))
	}
}

func BenchmarkRollout(b *testing.B) {
	network, err := mlp.NewNetwork(layers(start(), 1))
	if err != nil {
		b.Fatal(err)
	}
	w := small("benchmark")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := play(b.Context(), &w, 1, Learned(network)); err != nil {
			b.Fatal(err)
		}
	}
}
