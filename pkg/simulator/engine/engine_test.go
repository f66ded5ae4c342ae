package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// log writes each event on a line.
type log struct{ lines []string }

func (l *log) Observe(e *model.Event) {
	kind := map[model.EventKind]string{model.Created: "on", model.Failed: "fails", model.Deleted: "leaves"}[e.Kind]
	line := fmt.Sprintf("%v %s %s", e.Time, e.PodSpec.Name, kind)
	if e.Binding.Node != model.Unplaced {
		line += fmt.Sprintf(" %d %v", e.Binding.Node, e.Binding.GPUs)
	}
	l.lines = append(l.lines, line)
}

func bestFit() engine.NewScheduler {
	return policy.Scheduler(&policy.Config{Scorers: []policy.Scorer{{Name: policy.BestFit, Weight: 1}}})
}

// play runs the pods on one node with two cores and one GPU.
func play(t *testing.T, queue engine.Queue, pods ...model.Pod) (*engine.Engine, []string) {
	t.Helper()
	observer := &log{}
	e := start(t, queue, observer, bestFit(), model.Node{Name: "n", CPUMilli: 2000, GPUs: 1})
	if err := e.Play(t.Context(), pods); err != nil {
		t.Fatal(err)
	}
	return e, observer.lines
}

func start(t *testing.T, queue engine.Queue, observer model.Observer, s engine.NewScheduler, nodes ...model.Node) *engine.Engine {
	t.Helper()
	setup := &engine.Setup{Cluster: &model.Cluster{Nodes: nodes}, Rand: dice.New(1), Typical: []gpushare.TypicalPod{
		{Class: gpushare.Class{CPUMilli: 1000, GPUs: 1, GPUMilli: 500}, Frequency: 1},
	}}
	e, err := engine.New(t.Context(), setup, s, engine.Config{Queue: queue, Observer: observer})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func gpu(name string, milli int, arrival, departure time.Duration) model.Pod {
	return model.Pod{Name: name, CPUMilli: 100, GPUs: 1, GPUMilli: milli, Arrival: arrival, Departure: departure}
}

func TestQueue(t *testing.T) {
	retry := engine.Queue{Retry: true, InitialBackoff: time.Second, MaxBackoff: 4 * time.Second}
	full := retry
	full.RunFullLength = true
	for _, c := range []struct {
		name  string
		queue engine.Queue
		pods  []model.Pod
		want  []string
	}{
		{
			name: "without a queue a pod that finds no room is dropped",
			pods: []model.Pod{gpu("a", 700, 0, 5*time.Second), gpu("b", 700, time.Second, 9*time.Second)},
			want: []string{"0s a on 0 [0]", "1s b fails", "5s a leaves 0 [0]"},
		},
		{
			name: "what has no times comes first, then what the trace lists first", queue: retry,
			pods: []model.Pod{gpu("late", 100, time.Second, 0), gpu("b", 100, 0, 0), gpu("a", 100, 0, 0)},
			want: []string{"0s b on 0 [0]", "0s a on 0 [0]", "1s late on 0 [0]"},
		},
		{
			name: "a waiting pod gets the room of one that leaves", queue: retry,
			pods: []model.Pod{gpu("a", 700, 0, 5*time.Second), gpu("b", 700, time.Second, 9*time.Second)},
			want: []string{"0s a on 0 [0]", "1s b fails", "5s a leaves 0 [0]", "5s b on 0 [0]", "9s b leaves 0 [0]"},
		},
		{
			name: "but not before its back-off ends", queue: retry,
			pods: []model.Pod{gpu("a", 700, 0, 1500*time.Millisecond), gpu("b", 700, time.Second, 9*time.Second)},
			want: []string{"0s a on 0 [0]", "1s b fails", "1.5s a leaves 0 [0]", "2s b on 0 [0]", "9s b leaves 0 [0]"},
		},
		{
			// c fits after a has left but arrives while b, which waited longer, has taken the room.
			name: "the back-off doubles with each attempt", queue: retry,
			pods: []model.Pod{
				gpu("a", 700, 0, 4*time.Second), gpu("b", 700, time.Second, 5*time.Second), gpu("c", 700, 1100*time.Millisecond, 0),
			},
			want: []string{
				"0s a on 0 [0]", "1s b fails", "1.1s c fails", "4s a leaves 0 [0]", "4s b on 0 [0]", "4s c fails",
				"5s b leaves 0 [0]", "6s c on 0 [0]",
			},
		},
		{
			name: "a pod whose time is over while it waits never runs", queue: retry,
			pods: []model.Pod{gpu("a", 700, 0, 5*time.Second), gpu("b", 700, time.Second, 3*time.Second)},
			want: []string{"0s a on 0 [0]", "1s b fails", "5s a leaves 0 [0]"},
		},
		{
			name: "unless pods run for their full length", queue: full,
			pods: []model.Pod{gpu("a", 700, 0, 5*time.Second), gpu("b", 700, time.Second, 3*time.Second)},
			want: []string{"0s a on 0 [0]", "1s b fails", "5s a leaves 0 [0]", "5s b on 0 [0]", "7s b leaves 0 [0]"},
		},
		{
			name: "room is given back before somebody new asks for it", queue: full,
			pods: []model.Pod{gpu("a", 700, 0, 5*time.Second), gpu("b", 700, 5*time.Second, 6*time.Second)},
			want: []string{"0s a on 0 [0]", "5s a leaves 0 [0]", "5s b on 0 [0]", "6s b leaves 0 [0]"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := play(t, c.queue, c.pods...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// unhinted hides that a native policy knows which departures help.
type unhinted struct{ engine.Scheduler }

// TestHintsChangeNothing plays random workloads with and without hints: only the number of attempts may differ.
func TestHintsChangeNothing(t *testing.T) {
	queue := engine.Queue{Retry: true, RunFullLength: true}
	nodes := []model.Node{{Name: "a", CPUMilli: 8000, GPUs: 2}, {Name: "b", CPUMilli: 4000, GPUs: 4}, {Name: "c", CPUMilli: 16000}}
	without := func(ctx context.Context, setup *engine.Setup) (engine.Scheduler, error) {
		s, err := bestFit()(ctx, setup)
		return unhinted{s}, err
	}
	for seed := range uint64(20) {
		pods := randomPods(seed, 300)
		hinted, plain := start(t, queue, nil, bestFit(), nodes...), start(t, queue, nil, without, nodes...)
		for _, e := range []*engine.Engine{hinted, plain} {
			if err := e.Play(t.Context(), pods); err != nil {
				t.Fatal(err)
			}
		}
		waited := false
		for i := range pods {
			a, b := hinted.Placements()[i], plain.Placements()[i]
			waited = waited || a.Attempts > 1
			a.Attempts, b.Attempts = 0, 0
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("seed %d, pod %d (-hints +none):\n%s", seed, i, diff)
			}
			if !a.Scheduled() || a.Placed < a.Arrived || a.Departed-a.Placed != pods[i].Departure-pods[i].Arrival {
				t.Fatalf("seed %d, pod %d did not run as long as it wanted: %+v", seed, i, a)
			}
		}
		if !waited {
			t.Fatalf("seed %d: no pod had to wait, so hints were not tried", seed)
		}
	}
}

func randomPods(seed uint64, count int) []model.Pod {
	random := rand.New(rand.NewPCG(seed, 0))
	pods := make([]model.Pod, count)
	for i := range pods {
		p := &pods[i]
		p.Name, p.CPUMilli = fmt.Sprintf("p%03d", i), 500*random.Int64N(8)
		if random.IntN(4) > 0 {
			p.GPUs, p.GPUMilli = 1, 100*(1+random.IntN(10))
		}
		p.Arrival = time.Duration(random.IntN(1000)) * time.Second
		p.Departure = p.Arrival + time.Duration(1+random.IntN(60))*time.Second
	}
	return pods
}

func TestEverythingIsGivenBack(t *testing.T) {
	setup := &engine.Setup{Cluster: &model.Cluster{Nodes: []model.Node{{Name: "a", CPUMilli: 8000, GPUs: 2}}}, Rand: dice.New(1)}
	e, err := engine.New(t.Context(), setup, bestFit(), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	empty := *setup.State.Usage()
	if err := e.Play(t.Context(), randomPods(1, 200)); err != nil {
		t.Fatal(err)
	}
	after := *setup.State.Usage()
	after.ArrivedGPUMilli = 0
	if diff := cmp.Diff(empty, after); diff != "" {
		t.Errorf("usage after the last pod has left (-want +got):\n%s", diff)
	}
}

func TestEvictAndWithdraw(t *testing.T) {
	e, _ := play(t, engine.Queue{}, gpu("a", 700, 0, 0), gpu("b", 700, 0, 0))
	if err := e.Evict(1); err == nil {
		t.Error("a pod that does not run was evicted")
	}
	if err := e.Evict(0); err != nil {
		t.Fatal(err)
	}
	if err := e.Again(t.Context(), []int{1, 0}); err != nil {
		t.Fatal(err)
	}
	if p := e.Placements(); p[0].Scheduled() || !p[1].Scheduled() || p[1].Reason != "" || p[0].Reason == "" {
		t.Errorf("got %+v, want the second to have taken the room of the first", p)
	}
	if err := e.Withdraw(1); err != nil {
		t.Fatal(err)
	}
	if err := e.Again(t.Context(), []int{0}); err != nil || !e.Placements()[0].Scheduled() {
		t.Errorf("the room of a withdrawn pod is not free: %v", err)
	}
	if len(e.Pods()) != 1 {
		t.Errorf("%d pods are left, want 1", len(e.Pods()))
	}
}

func TestCurve(t *testing.T) {
	// One device: 70 % arrive and run; then 100 % have arrived and 70 % still run; after 30 % more all of it does.
	e, _ := play(t, engine.Queue{}, gpu("a", 700, 0, 0), gpu("b", 310, 0, 0), gpu("c", 290, 0, 0), gpu("d", 10, 0, 0))
	curve := e.Curve()
	if len(curve) != 132 {
		t.Fatalf("the curve has %d points, want 0 to 131", len(curve))
	}
	for at, want := range map[int]float64{0: 0, 69: 0, 70: 70, 100: 70, 101: 70, 130: 99, 131: 100} {
		if got := curve[at].Allocation; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("at %d %% the allocation is %v, want %v", at, got, want)
		}
	}
}

// liar chooses what is not there.
type liar struct{ engine.Scheduler }

func (liar) Schedule(context.Context, int, *model.Pod) (model.Binding, error) {
	return model.Binding{Node: 7}, nil
}

func TestFaultsEndTheRun(t *testing.T) {
	lie := func(context.Context, *engine.Setup) (engine.Scheduler, error) { return liar{}, nil }
	e := start(t, engine.Queue{}, nil, lie, model.Node{Name: "n"})
	if err := e.Play(t.Context(), []model.Pod{{Name: "p"}}); err == nil || !strings.Contains(err.Error(), "chose what is not free") {
		t.Errorf("got %v, want an error about the choice", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e = start(t, engine.Queue{}, nil, bestFit(), model.Node{Name: "n"})
	if err := e.Play(ctx, []model.Pod{{Name: "p"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	broken := errors.New("no model")
	fail := func(context.Context, *engine.Setup) (engine.Scheduler, error) { return nil, broken }
	if _, err := engine.New(t.Context(), &engine.Setup{Cluster: &model.Cluster{}}, fail, engine.Config{}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the scheduler's error", err)
	}
}
