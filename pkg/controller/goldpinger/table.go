package goldpinger

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
)

const (
	// span is how far back pings count: ten of Goldpinger's rounds.
	span = 5 * time.Minute
	// forgetAfter is when a pair without news is dropped.
	forgetAfter = time.Hour
	// maxPeers bounds the entries of a node, the freshest ones: the object has to fit into etcd beside those of others.
	maxPeers = 2048
	// maxSamples is what the API takes.
	maxSamples = 1_000_000

	// minWriteInterval is the shortest time between two attempts to write one object.
	minWriteInterval = 15 * time.Second
	// heartbeat is when an object is written although nothing has changed.
	heartbeat = 2 * time.Minute
	// A median that differs by a tenth and by minChange is news.
	changePart = 10
	minChange  = time.Millisecond
	wholeLoss  = 1_000_000
)

// table keeps what is known of all pairs, by the node that measured. It belongs to one goroutine.
type table struct {
	nodes map[string]*nodeRow
}

// nodeRow is what one node measured.
type nodeRow struct {
	pairs map[string]*pair // by the other node
	// inherited says that the object's entries were read.
	inherited   bool
	written     map[string]vicinityv1alpha1.RTT // by the other node; nil before the first
	writtenAt   time.Time
	attemptedAt time.Time
}

type pair struct {
	source vicinityv1alpha1.RTTSource
	window window.Window
	latest time.Time // of the pings
}

func (t *table) row(node string) *nodeRow {
	r := t.nodes[node]
	if r == nil {
		r = &nodeRow{pairs: map[string]*pair{}}
		t.nodes[node] = r
	}
	return r
}

// take notes a ping between two nodes. One that was taken before is left out. It returns whether it was news.
func (t *table) take(from, to string, p *ping, source vicinityv1alpha1.RTTSource, now time.Time) bool {
	at := p.at
	if at.IsZero() || at.After(now) {
		at = now // a clock that is ahead makes nothing fresher than it is
	}
	if now.Sub(at) > forgetAfter {
		return false
	}
	row := t.row(from)
	known := row.pairs[to]
	if known == nil || known.source != source {
		known = &pair{source: source}
		row.pairs[to] = known
	}
	if !at.After(known.latest) {
		return false
	}
	known.latest = at
	if p.answered {
		known.window.Add(at, span, []time.Duration{p.rtt}, 0)
	} else {
		known.window.Add(at, span, nil, 1)
	}
	return true
}

// inherit takes over what an earlier process has written, of pairs that are not known yet.
func (r *nodeRow) inherit(peers []vicinityv1alpha1.PeerRTT) {
	r.inherited = true
	for i := range peers {
		p := &peers[i]
		if p.Source != vicinityv1alpha1.RTTSourceGoldpinger && p.Source != vicinityv1alpha1.RTTSourceGoldpingerUDP || r.pairs[p.Node] != nil {
			continue
		}
		r.pairs[p.Node] = &pair{source: p.Source, latest: p.ObservedAt.Time, window: window.Restored(window.Summary{
			At: p.ObservedAt.Time, Samples: int(p.Samples), Lost: int(int64(p.Samples) * int64(p.LossPartsPerMillion) / wholeLoss),
			P50: time.Duration(p.P50Microseconds) * time.Microsecond, P99: time.Duration(p.P99Microseconds) * time.Microsecond,
			Answered: p.P50Microseconds > 0,
		})}
	}
}

// entries returns what is to be written, ordered by node, and forgets what is too old or is about nodes that are gone.
func (r *nodeRow) entries(now time.Time, exists func(string) bool) []vicinityv1alpha1.PeerRTT {
	var list []vicinityv1alpha1.PeerRTT
	for name, p := range r.pairs {
		if now.Sub(p.latest) > forgetAfter || !exists(name) {
			delete(r.pairs, name)
			continue
		}
		if s := p.window.Summary(); s.Samples > 0 {
			list = append(list, vicinityv1alpha1.PeerRTT{Node: name, Source: p.source, RTT: rttOf(&s)})
		}
	}
	slices.SortFunc(list, func(a, b vicinityv1alpha1.PeerRTT) int {
		return cmp.Or(b.ObservedAt.Time.Compare(a.ObservedAt.Time), cmp.Compare(a.Node, b.Node))
	})
	list = list[:min(len(list), maxPeers)]
	slices.SortFunc(list, func(a, b vicinityv1alpha1.PeerRTT) int { return cmp.Compare(a.Node, b.Node) })
	return list
}

func rttOf(s *window.Summary) vicinityv1alpha1.RTT {
	micro := func(d time.Duration) int64 { return min(max(d.Microseconds(), 1), delay.MaxDelay.Microseconds()) }
	r := vicinityv1alpha1.RTT{
		ObservedAt: metav1.NewTime(s.At), Samples: int32(min(s.Samples, maxSamples)),
		LossPartsPerMillion: int32(int64(s.Lost) * wholeLoss / int64(s.Samples)),
	}
	if s.Answered {
		r.P50Microseconds = micro(s.P50)
	}
	if s.Answered && s.P99 > 0 {
		r.P99Microseconds = micro(s.P99)
	}
	return r
}

// due tells whether a node is to be written now.
func (r *nodeRow) due(list []vicinityv1alpha1.PeerRTT, now time.Time) bool {
	switch {
	case !r.attemptedAt.IsZero() && now.Sub(r.attemptedAt) < minWriteInterval:
		return false
	case r.written == nil:
		return len(list) > 0
	case now.Sub(r.writtenAt) >= heartbeat:
		return r.news(list)
	}
	for i := range list {
		last, ok := r.written[list[i].Node]
		if !ok || (last.LossPartsPerMillion == wholeLoss) != (list[i].LossPartsPerMillion == wholeLoss) {
			return true
		}
		changed := (list[i].P50Microseconds - last.P50Microseconds)
		if changed = max(changed, -changed); changed >= max(last.P50Microseconds/changePart, minChange.Microseconds()) {
			return true
		}
	}
	return false
}

// news tells whether anything at all differs from what was written. In an outage nothing does, and nothing is written.
func (r *nodeRow) news(list []vicinityv1alpha1.PeerRTT) bool {
	if len(list) != len(r.written) {
		return true
	}
	return slices.ContainsFunc(list, func(p vicinityv1alpha1.PeerRTT) bool {
		last, ok := r.written[p.Node]
		return !ok || !last.ObservedAt.Time.Equal(p.ObservedAt.Time)
	})
}

// wrote notes what was written.
func (r *nodeRow) wrote(list []vicinityv1alpha1.PeerRTT, now time.Time) {
	r.written, r.writtenAt = make(map[string]vicinityv1alpha1.RTT, len(list)), now
	for i := range list {
		r.written[list[i].Node] = list[i].RTT
	}
}
