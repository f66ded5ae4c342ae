package delay

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// The size of the budgets.
const (
	benchNodes = 5000
	benchPeers = 64
)

// reports are one report of each node. Everybody measures node 0, as they do what a bound refers to.
func reports(random *rand.Rand) (all []string, rows [][]PeerSample) {
	all = names(benchNodes)
	at := plane(benchNodes, 60, random)
	rows = make([][]PeerSample, benchNodes)
	for i := range rows {
		for k := range benchPeers {
			j := (i + 1 + k*random.IntN(70)) % benchNodes
			if k == 0 {
				j = 0
			}
			if j == i {
				j = (i + 1) % benchNodes
			}
			p50 := at.rtt(i, j)
			rows[i] = append(rows[i], PeerSample{Peer: all[j], Sample: Sample{
				P50: p50, P99: 2 * p50, HasP99: true, Known: true, Count: 20, ObservedAt: testNow(),
			}})
		}
	}
	return all, rows
}

// filled is a store with a report of each node.
func filled(b *testing.B) (s *Store, all []string, rows [][]PeerSample) {
	b.Helper()
	all, rows = reports(rand.New(rand.NewPCG(1, 1)))
	s = NewStore()
	for i, name := range all {
		s.SetNode(name, fmt.Sprint("zone-", i%5))
	}
	for i, name := range all {
		s.Update(name, SourceAgent, rows[i], testNow())
	}
	return s, all, rows
}

// BenchmarkFullUpdate: budget 50 ms for a report of each of 5,000 nodes about 64 peers, of which every delay changed.
func BenchmarkFullUpdate(b *testing.B) {
	s, all, rows := filled(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range rows {
			for k := range rows[i] {
				rows[i][k].P50 += time.Microsecond
				rows[i][k].P99 += time.Microsecond
			}
		}
		b.StartTimer()
		for i, name := range all {
			s.Update(name, SourceAgent, rows[i], testNow())
		}
	}
}

// BenchmarkMemory: budget 150 MB for 5,000 nodes with 64 peers each, coordinates included.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		b.StopTimer()
		_, rows := reports(rand.New(rand.NewPCG(1, 1)))
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		s := NewStore()
		for i, name := range names(benchNodes) {
			s.Update(name, SourceAgent, rows[i], testNow())
		}
		s.Refine(2 * benchNodes * embedPeers)
		s.Index()
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		runtime.KeepAlive(s)
		runtime.KeepAlive(rows)
		b.StartTimer()
	}
}

func reportP99(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-us")
}

// BenchmarkRadiusCached: budget p99 20 us.
func BenchmarkRadiusCached(b *testing.B) {
	s, all, _ := filled(b)
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		if _, ok := s.Radius(all[0], Query{Max: 25 * time.Millisecond, Percentile: P50}, testNow()); !ok {
			b.Fatal("the reference is not known")
		}
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// benchmarkRadiusCold makes the radius of a reference anew after each change of its row.
func benchmarkRadiusCold(b *testing.B, ref int, refined bool) {
	b.Helper()
	s, all, rows := filled(b)
	if refined {
		s.Refine(4 * benchNodes * embedPeers)
	}
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		rows[ref+1][0].P50 += time.Microsecond
		rows[ref][0].P50 += time.Microsecond
		rows[ref][0].P99, rows[ref+1][0].P99 = rows[ref][0].P50, rows[ref+1][0].P50
		s.Update(all[ref], SourceAgent, rows[ref], testNow())
		begin := time.Now()
		if _, ok := s.Radius(all[ref], Query{Max: 25 * time.Millisecond, Percentile: P50}, testNow()); !ok {
			b.Fatal("the reference is not known")
		}
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// BenchmarkRadiusColdMeasured: budget p99 1 ms, for a reference that every node measures.
func BenchmarkRadiusColdMeasured(b *testing.B) { benchmarkRadiusCold(b, 0, false) }

// BenchmarkRadiusColdEstimated: budget p99 1 ms, for a reference that few nodes measure; the others are estimated.
func BenchmarkRadiusColdEstimated(b *testing.B) { benchmarkRadiusCold(b, 7, true) }

// BenchmarkRadiusColdZones: likewise by the medians of zones.
func BenchmarkRadiusColdZones(b *testing.B) { benchmarkRadiusCold(b, 7, false) }

// BenchmarkHas is the bit test of Filter, with the search for the node's number.
func BenchmarkHas(b *testing.B) {
	s, all, _ := filled(b)
	radius, _ := s.Radius(all[0], Query{Max: 25 * time.Millisecond, Percentile: P50}, testNow())
	index, inside := s.Index(), 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if id, ok := index.ID(all[i%benchNodes]); ok && radius.Nodes.Has(id) {
			inside++
		}
	}
	if inside == 0 && b.N > benchNodes {
		b.Fatal("no node is within the bound")
	}
}

// BenchmarkStats is what reading the metrics costs.
func BenchmarkStats(b *testing.B) {
	s, _, _ := filled(b)
	b.ReportAllocs()
	for b.Loop() {
		if s.Stats(testNow()).Nodes != benchNodes {
			b.Fatal("nodes are missing")
		}
	}
}

// BenchmarkRefine is a quarter of a second's share of the embedding: 20,000 observations.
func BenchmarkRefine(b *testing.B) {
	s, all, rows := filled(b)
	b.ReportAllocs()
	for b.Loop() {
		if s.Refine(20_000) {
			continue
		}
		for i := range all {
			rows[i][0].P50++
			s.Update(all[i], SourceAgent, rows[i], testNow())
		}
	}
}
