package delay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reference is a store as simple as can be: every sample in a map, and every question answered by looking at all.
type reference struct {
	present map[string]bool
	known   map[sampleKey]Sample
}

type sampleKey struct {
	from, to string
	source   Source
}

func newReference() *reference {
	return &reference{present: map[string]bool{}, known: map[sampleKey]Sample{}}
}

func (r *reference) update(from string, source Source, peers []PeerSample) {
	last := map[sampleKey]Sample{}
	for key, sample := range r.known {
		if key.from == from && key.source == source {
			last[key] = sample
			delete(r.known, key)
		}
	}
	for _, peer := range peers {
		key := sampleKey{from, peer.Peer, source}
		if _, twice := r.known[key]; twice || peer.Peer == from {
			continue
		}
		sample := peer.Sample
		sample.Source = source
		if !sample.Known {
			sample.Loss = WholeLoss
			if before, ok := last[key]; ok && before.Known {
				sample.P50, sample.P99, sample.HasP99, sample.Known = before.P50, before.P99, before.HasP99, true
			}
		}
		r.known[key] = sample
	}
}

// better is the rule of the package's documentation, word by word.
func better(a, b Sample, now time.Time) bool {
	if a.Answered() != b.Answered() {
		return a.Answered()
	}
	at := func(s Sample) time.Time {
		if s.Source == SourceStatic || s.Source == SourceFiles {
			return now
		}
		return s.ObservedAt
	}
	if lead := at(a).Sub(at(b)); lead >= StaleAfter || lead <= -StaleAfter {
		return lead > 0
	}
	if a.Source != b.Source {
		return a.Source > b.Source
	}
	return at(a).After(at(b))
}

func (r *reference) lookup(from, to string, now time.Time) (best Sample, ok bool) {
	for source := SourceFiles; source < sourceCount; source++ {
		if sample, found := r.known[sampleKey{from, to, source}]; found && (!ok || better(sample, best, now)) {
			best, ok = sample, true
		}
	}
	return best, ok
}

// pair is what counts between a reference and another node: its own direction unless the other's is known better.
func (r *reference) pair(ref, other string, now time.Time) (Sample, bool) {
	own, ok := r.lookup(ref, other, now)
	back, hasBack := r.lookup(other, ref, now)
	switch {
	case !hasBack:
		return own, ok
	case !ok:
		return back, true
	case own.Source == back.Source && own.Answered() == back.Answered():
		if back.ObservedAt.Sub(own.ObservedAt) >= StaleAfter {
			return back, true
		}
		return own, true
	}
	if backWins(back, own) {
		return back, true
	}
	return own, true
}

func backWins(back, own Sample) bool {
	if back.Answered() != own.Answered() {
		return back.Answered()
	}
	if lead := back.ObservedAt.Sub(own.ObservedAt); lead >= StaleAfter || lead <= -StaleAfter {
		return lead > 0
	}
	if back.Source != own.Source {
		return back.Source > own.Source
	}
	return back.ObservedAt.After(own.ObservedAt)
}

// within lists the nodes within a bound when unmeasured ones are rejected.
func (r *reference) within(ref string, limit time.Duration, all []string, now time.Time) []string {
	reached := false
	for _, other := range all {
		if sample, ok := r.pair(ref, other, now); ok && other != ref && sample.Answered() {
			reached = true
		}
	}
	var within []string
	for _, other := range all {
		sample, ok := r.pair(ref, other, now)
		if other == ref || ok && sample.Known && sample.P50 <= limit && (sample.Answered() || !reached) {
			within = append(within, other)
		}
	}
	return within
}

func randomSample(random *rand.Rand, now time.Time) Sample {
	s := Sample{
		P50: time.Duration(random.IntN(40)) * time.Millisecond, Known: random.IntN(8) > 0,
		ObservedAt: now.Add(-time.Duration(random.IntN(12)) * time.Minute).Truncate(time.Millisecond), Count: 20,
	}
	if !s.Known {
		s.P50 = 0
	}
	if s.Known && random.IntN(6) == 0 {
		s.Loss = WholeLoss
	}
	return s
}

// TestStoreAgreesWithTheReference: random updates, losses, removals and bounds on twelve nodes.
func TestStoreAgreesWithTheReference(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		now, all := testNow(), names(12)
		s, r := NewStore(), newReference()
		for _, name := range all {
			s.SetNode(name, "")
			r.present[name] = true
		}
		for range 80 {
			now = now.Add(time.Minute)
			from, source := all[random.IntN(len(all))], SourceFiles+Source(random.IntN(int(sourceCount)-1))
			var peers []PeerSample
			for range random.IntN(8) {
				peers = append(peers, PeerSample{Peer: all[random.IntN(len(all))], Sample: randomSample(random, now)})
			}
			s.Update(from, source, peers, now)
			r.update(from, source, peers)
			// The store merges when a node reports; the rule depends on the time only for what was written down.
			for _, name := range all {
				for other := SourceFiles; other < sourceCount; other++ {
					s.Update(name, other, r.samples(name, other), now)
				}
			}
			compare(t, s, r, all, random, now)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (r *reference) samples(from string, source Source) []PeerSample {
	var peers []PeerSample
	for key, sample := range r.known {
		if key.from == from && key.source == source {
			peers = append(peers, PeerSample{Peer: key.to, Sample: sample})
		}
	}
	return peers
}

func compare(t *testing.T, s *Store, r *reference, all []string, random *rand.Rand, now time.Time) {
	t.Helper()
	for _, from := range all {
		for _, to := range all {
			got, ok := s.Lookup(from, to)
			want, wantOK := r.lookup(from, to, now)
			if ok != wantOK || !cmp.Equal(want, got) {
				t.Errorf("%s to %s at %s: %v, want %v\n%s", from, to, now, ok, wantOK, cmp.Diff(want, got))
			}
		}
	}
	ref, limit := all[random.IntN(len(all))], time.Duration(random.IntN(40))*time.Millisecond
	radius, ok := s.Radius(ref, Query{Max: limit, Percentile: P50, OnUnknown: PolicyReject}, now)
	if !ok {
		t.Fatalf("%s is not known", ref)
	}
	if want, got := r.within(ref, limit, all, now), members(s, radius.Nodes); !slices.Equal(want, got) || radius.Size != len(want) {
		t.Errorf("within %s of %s: %v, size %d; want %v", limit, ref, got, radius.Size, want)
	}
}

// members returns the names of the nodes in a set, sorted.
func members(s *Store, nodes Bits) []string {
	var found []string
	for _, name := range s.Names() {
		if id, _ := s.Index().ID(name); nodes.Has(id) {
			found = append(found, name)
		}
	}
	return found
}

// TestColumnsMirrorRows: after any sequence of updates, removals and returns, each row's entry is where its slot says.
func TestColumnsMirrorRows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s, now := NewStore(), testNow()
	for step := range 3000 {
		from := fmt.Sprint("n", random.IntN(30))
		switch random.IntN(6) {
		case 0:
			s.RemoveNode(from)
		case 1:
			s.SetNode(from, "")
		default:
			var peers []PeerSample
			for range random.IntN(6) {
				peers = append(peers, PeerSample{Peer: fmt.Sprint("n", random.IntN(30)), Sample: randomSample(random, now)})
			}
			s.Update(from, SourceAgent+Source(-random.IntN(2)), peers, now)
		}
		if fault := s.fault(); fault != "" {
			t.Fatalf("step %d: %s", step, fault)
		}
	}
}

// fault says what is inconsistent.
func (s *Store) fault() string {
	inColumns, inRows := 0, 0
	for id, n := range s.nodes {
		holes := 0
		for slot, in := range n.column {
			if in.from == noNode {
				holes++
				continue
			}
			inColumns++
			e, ok := find(s.nodes[in.from].row, NodeID(id))
			if !ok || int(e.slot) != slot || e.incoming(in.from) != in {
				return fmt.Sprintf("column of %s at %d: %+v, row %+v", n.name, slot, in, e)
			}
		}
		if holes != len(n.holes) {
			return fmt.Sprintf("column of %s: %d holes, noted %d", n.name, holes, len(n.holes))
		}
		inRows += len(n.row)
		if s.ids[n.name] != NodeID(id) && len(n.row)+len(n.column) > 0 {
			return fmt.Sprintf("%s was forgotten with %d samples and %d in its column", n.name, len(n.row), len(n.column))
		}
	}
	if inColumns != inRows {
		return fmt.Sprintf("%d samples in columns, %d in rows", inColumns, inRows)
	}
	if len(s.ids)+len(s.free) != len(s.nodes) {
		return fmt.Sprintf("%d names and %d free numbers of %d", len(s.ids), len(s.free), len(s.nodes))
	}
	return ""
}
