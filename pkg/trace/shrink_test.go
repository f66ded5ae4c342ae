package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// large is a record of a decision among 5,000 nodes with everything that a record can have, all names being long.
func large(name func(int) string) Record {
	r := Record{
		Version: 1, Session: "0198c2f1-6a5e-7bd0-8f0f-d5a7f0a3c111", Sequence: math.MaxInt64, Kind: KindAttempt, Scheduler: name(0),
		Profile: "vicinity-scheduler", Attempt: 12, Cycle: 123456, Start: time.Now(), End: time.Now(), Queued: time.Now(),
		FirstAttempt: time.Now(), QueueWait: time.Hour, Outcome: OutcomeBound, Found: FoundScored, Node: name(1),
		Pod:    Pod{Namespace: name(2), Name: name(3), UID: "6fdc2d5c-7a3e-4a62-94c3-3a6b7c0f3b51", Owner: &Owner{Kind: "ReplicaSet", Name: name(4)}},
		Nodes:  NodeCounts{Total: 5000, Rejected: 4000, Feasible: 500, NotEvaluated: 500},
		Scores: &Scores{RunnerUp: name(5), Margin: 12},
	}
	for i := range 12 {
		r.Phases = append(r.Phases, Phase{Name: fmt.Sprint("WaitOnPermit", i), Offset: time.Second, Duration: time.Minute})
		r.Scores.Plugins = append(r.Scores.Plugins, ScorePlugin{Name: fmt.Sprint("NodeResourcesBalancedAllocation", i), Weight: 10})
	}
	for i := range 20 {
		node := NodeScore{Node: name(10 + i), Total: 12345}
		for range 12 {
			node.Raw = append(node.Raw, math.MaxInt64)
			node.Normalised = append(node.Normalised, 100)
			node.Weighted = append(node.Weighted, 1000)
		}
		for plugin := range 3 {
			terms := PluginTerms{Plugin: fmt.Sprint("CacheAware", plugin)}
			for term := range 10 {
				terms.Terms = append(terms.Terms, Term{Name: fmt.Sprint("dataset", term), Value: 1.0 / 3, Unit: "share", Text: name(40 + term)})
			}
			node.Terms = append(node.Terms, terms)
		}
		r.Scores.Top = append(r.Scores.Top, node)
	}
	for i := range 25 {
		r.Rejections = append(r.Rejections, Rejection{
			Plugin: "NodeResourcesFit", Stage: "Filter", Reason: strings.Repeat("Insufficient memory, ", 20), Nodes: 160 - i,
			Sample: []string{name(100 + i), name(200 + i), name(300 + i)},
		})
	}
	for i := range 200 {
		victim := Victim{Namespace: name(2), Name: name(400 + i), UID: "6fdc2d5c-7a3e-4a62-94c3-3a6b7c0f3b51", Node: name(1), Time: time.Now()}
		if r.Preemption == nil {
			r.Preemption = &Preemption{NominatedNode: name(1), Message: strings.Repeat("no victims. ", 200)}
		}
		r.Preemption.Victims = append(r.Preemption.Victims, victim)
	}
	return r
}

func TestARecordIsSmallHoweverMuchThereIsToSay(t *testing.T) {
	for _, tc := range []struct {
		name string
		node func(int) string
	}{
		{"ordinary names", func(i int) string { return fmt.Sprintf("node-%04d", i) }},
		{"the longest names that nodes may have", func(i int) string { return strings.Repeat("n", 249) + fmt.Sprintf("%04d", i) }},
		{"names that need escaping", func(i int) string { return strings.Repeat("<", 60) + fmt.Sprintf("%04d", i) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := large(tc.node)
			r.Shrink(MaxRecordBytes)
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(line) > MaxRecordBytes || !r.Truncated {
				t.Errorf("record has %d bytes, truncated %v; want at most %d, and that it says so", len(line), r.Truncated, MaxRecordBytes)
			}
			if len(r.Scores.Top) < 2 || r.Scores.Top[0].Node != tc.node(10) || len(r.Rejections) == 0 {
				t.Errorf("%d scored nodes and %d rejections are left: want the winner, the next one, and reasons", len(r.Scores.Top), len(r.Rejections))
			}
			nodes := 0
			for i := range r.Rejections {
				nodes += r.Rejections[i].Nodes
			}
			if want := 25*160 - 25*24/2; nodes != want { // 160 + 159 + ... + 136
				t.Errorf("rejections count %d nodes, want all %d", nodes, want)
			}
		})
	}
}

func TestARecordWithinTheLimitIsNotTouched(t *testing.T) {
	r := Record{Version: 1, Pod: Pod{Name: "p"}, Rejections: []Rejection{{Reason: "Insufficient cpu", Nodes: 4, Sample: []string{"a", "b", "c"}}}}
	r.Matrix = make([]NodeVerdict, 5000) // does not count
	r.Shrink(MaxRecordBytes)
	if r.Truncated || len(r.Rejections[0].Sample) != 3 || len(r.Matrix) != 5000 {
		t.Errorf("found %+v", r.Rejections)
	}
}

// TestTheCheapBoundHolds compares with the size that it bounds.
func TestTheCheapBoundHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		r := large(func(i int) string { return fmt.Sprintf("%c%d\"<é", rune('a'+i%26), i) })
		r.Scores.Top = r.Scores.Top[:random.IntN(20)]
		r.Rejections = r.Rejections[:random.IntN(25)]
		r.Phases = r.Phases[:random.IntN(12)]
		r.Preemption.Victims = r.Preemption.Victims[:random.IntN(50)]
		for i := range r.Scores.Top {
			for j := range r.Scores.Top[i].Raw {
				r.Scores.Top[i].Raw[j] = int64(random.Uint64()) >> random.IntN(63)
			}
		}
		r.Matrix = nil
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.bound() < len(line) {
			t.Fatalf("bound %d, size %d: %s", r.bound(), len(line), line)
		}
	}
}
