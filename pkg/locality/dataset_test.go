package locality

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMergeLetsTheFresherStatementWin(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	datashim := Replica{At: OnNode("n1"), Source: "Datashim"}
	fluid := Replica{At: OnNode("n1"), Bytes: 5, BytesKnown: true, Source: "Fluid"}
	old := Replica{At: OnNode("n1"), Bytes: 10, BytesKnown: true, Observed: at(10), Source: "agent"}
	fresh := Replica{At: OnNode("n1"), Bytes: 20, BytesKnown: true, Observed: at(20), Source: "other agent"}
	cases := map[string]struct {
		said []Dataset
		want Dataset
	}{
		"nobody says anything": {},
		"different places are joined": {
			said: []Dataset{{Replicas: []Replica{datashim}}, {SizeBytes: 7, Replicas: []Replica{{At: OnNode("n2"), Source: "Fluid"}}}},
			want: Dataset{SizeBytes: 7, Replicas: []Replica{datashim, {At: OnNode("n2"), Source: "Fluid"}}},
		},
		"the later time wins, in either order": {
			said: []Dataset{{Replicas: []Replica{fresh}}, {Replicas: []Replica{old}}},
			want: Dataset{Replicas: []Replica{fresh}},
		},
		"a time wins over none": {
			said: []Dataset{{Replicas: []Replica{datashim}}, {Replicas: []Replica{old}}},
			want: Dataset{Replicas: []Replica{old}},
		},
		"of two without a time the first source wins": {
			said: []Dataset{{Replicas: []Replica{datashim}}, {Replicas: []Replica{fluid}}},
			want: Dataset{Replicas: []Replica{datashim}},
		},
		"what one source says of a place on several media stays together": {
			said: []Dataset{{Replicas: []Replica{datashim}}, {Replicas: []Replica{
				{At: OnNode("n1"), Medium: MediumSSD, Observed: at(5), Source: "agent"},
				{At: OnNode("n1"), Medium: MediumHDD, Observed: at(4), Source: "agent"},
			}}},
			want: Dataset{Replicas: []Replica{
				{At: OnNode("n1"), Medium: MediumSSD, Observed: at(5), Source: "agent"},
				{At: OnNode("n1"), Medium: MediumHDD, Observed: at(4), Source: "agent"},
			}},
		},
		"the first size known counts, a negative one is none": {
			said: []Dataset{{SizeBytes: -3}, {SizeBytes: 9}, {SizeBytes: 5}},
			want: Dataset{SizeBytes: 9},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Merge(tc.said...)); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeFresh(t *testing.T) {
	now := time.Unix(1000, 0)
	seen := func(node string, ago time.Duration) Replica {
		return Replica{At: OnNode(node), Observed: now.Add(-ago), Source: "agent"}
	}
	justStale := seen("n2", time.Minute+time.Nanosecond)
	agent := Dataset{SizeBytes: 3, NodeCached: true, Replicas: []Replica{seen("n1", time.Minute), justStale, seen("n3", -time.Hour)}}
	timeless := Dataset{Replicas: []Replica{{At: OnNode("n1"), Source: "Fluid"}, {At: OnNode("n2"), Source: "Fluid"}}}
	got, stale := MergeFresh(now, time.Minute, agent, timeless)
	want := Dataset{SizeBytes: 3, NodeCached: true, Replicas: []Replica{
		agent.Replicas[0], agent.Replicas[2], timeless.Replicas[1], // n2: what Fluid says, since the agent fell silent
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Replica{justStale}, stale); diff != "" {
		t.Errorf("stale (-want +got):\n%s", diff)
	}
}

func TestPatience(t *testing.T) {
	// Wait 30 s, three tiers: node until 30 s, rack until 60 s, zone until 90 s, region until 120 s, then anywhere.
	p := Patience{Wait: 30 * time.Second, Tiers: 3}
	cases := []struct {
		waited   time.Duration
		farthest Distance
		next     time.Duration
	}{
		{waited: -time.Second, farthest: 0, next: 30 * time.Second},
		{waited: 0, farthest: 0, next: 30 * time.Second},
		{waited: 30*time.Second - 1, farthest: 0, next: 30 * time.Second},
		{waited: 30 * time.Second, farthest: 1, next: 60 * time.Second},
		{waited: 119 * time.Second, farthest: 3, next: 120 * time.Second},
		{waited: 120 * time.Second, farthest: Nowhere},
		{waited: 1 << 60, farthest: Nowhere},
	}
	for _, tc := range cases {
		farthest, next := p.Admits(tc.waited)
		if farthest != tc.farthest || next != tc.next {
			t.Errorf("after %s: distance %d, next step at %s; want %d at %s", tc.waited, farthest, next, tc.farthest, tc.next)
		}
	}
	if farthest, next := (Patience{Tiers: 3}).Admits(0); farthest != Nowhere || next != 0 {
		t.Errorf("without patience: distance %d, next %s; want every node at once", farthest, next)
	}
}

func TestHomeIsStableAndEven(t *testing.T) {
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprint("node-", i))
	}
	homes := map[string]int{}
	for i := range 1000 {
		key := DatasetKey{Namespace: "team", Name: fmt.Sprint("ds-", i)}
		home := Home(key, slices.Values(names))
		homes[home]++
		// Order does not matter, and taking away another node does not move the dataset.
		var others []string
		for j := range names {
			if name := names[len(names)-1-j]; name == home || j%2 == 0 {
				others = append(others, name)
			}
		}
		if again := Home(key, slices.Values(others)); again != home {
			t.Fatalf("%s lives on %s, and on %s among %v", key, home, again, others)
		}
	}
	// 1,000 datasets on 10 nodes: 100 each, standard deviation sqrt(1000 x 0.1 x 0.9) = 9.5; five of those are 48.
	for name, n := range homes {
		if n < 52 || n > 148 {
			t.Errorf("%s is home to %d of 1,000 datasets, want 100 +- 48", name, n)
		}
	}
	if Home(DatasetKey{}, slices.Values([]string(nil))) != "" {
		t.Error("a home without nodes")
	}
}
