package delay

import (
	"slices"
	"sync"
)

const (
	// zoneSamples bounds how many paths a zone median is taken from, and zoneLooks how many are looked at for it.
	zoneSamples, zoneLooks = 512, 4096
	// minZoneSamples is how many it takes at least.
	minZoneSamples = 3
)

// zonePair is two zones, the lesser name first.
type zonePair struct{ a, b string }

// zoneMedian is what is typical between nodes of two zones. bar reaches from the median to the 95th percentile.
type zoneMedian struct {
	p50, bar uint32
	samples  int
	changes  uint64 // Store.changes when it was taken
}

// zoneCache keeps medians, and views of whole zones, which are expensive: they are taken anew only when a good part of
// the store has changed.
type zoneCache struct {
	mu      sync.Mutex
	medians map[zonePair]zoneMedian
	views   map[zoneViewKey]*view
	// members are the nodes of each zone, as of a topology.
	members  map[string][]NodeID
	topology uint64
}

type zoneViewKey struct {
	zone       string
	percentile Percentile
}

// settled reports that less than an eighth of the nodes have reported something new since.
func (s *Store) settled(since uint64) bool { return s.changes.Load()-since <= uint64(len(s.nodes)/8) }

// zoneMedianLocked returns what is typical between two zones; ok is false when too few paths between them are measured.
func (s *Store) zoneMedianLocked(a, b string) (median zoneMedian, ok bool) {
	if a == "" || b == "" {
		return zoneMedian{}, false
	}
	pair := zonePair{a: min(a, b), b: max(a, b)}
	s.zones.mu.Lock()
	defer s.zones.mu.Unlock()
	median, ok = s.zones.medians[pair]
	if !ok || !s.settled(median.changes) {
		median = s.takeZoneMedianLocked(pair)
		if len(s.zones.medians) >= MaxNames {
			clear(s.zones.medians) // zones that came and went
		}
		s.zones.medians[pair] = median
	}
	return median, median.samples >= minZoneSamples
}

func (s *Store) takeZoneMedianLocked(pair zonePair) zoneMedian {
	median := zoneMedian{changes: s.changes.Load()}
	members := slices.Concat(s.zoneMembersLocked(pair.a), s.zoneMembersLocked(pair.b))
	// Every so many-th node, so that those looked at are not all of one corner.
	stride := max(1, len(members)*averageRow/zoneLooks)
	found := make([]uint32, 0, zoneSamples)
	for first := range stride {
		for at := first; at < len(members); at += stride {
			found = s.appendBetween(found, s.nodes[members[at]], pair)
		}
		if len(found) >= minZoneSamples {
			break
		}
	}
	if len(found) == 0 {
		return median
	}
	slices.Sort(found)
	median.samples, median.p50 = len(found), found[len(found)/2]
	median.bar = found[(len(found)*95+99)/100-1] - median.p50
	return median
}

// averageRow is the usual length of a row.
const averageRow = 64

// appendBetween appends the delays of the node's paths into the other zone of a pair.
func (s *Store) appendBetween(found []uint32, n *node, pair zonePair) []uint32 {
	other := pair.a
	if n.zone == pair.a {
		other = pair.b
	}
	for i := range n.row {
		if e := &n.row[i]; len(found) < zoneSamples && e.answered() && s.nodes[e.peer].zone == other {
			found = append(found, e.p50)
		}
	}
	return found
}

// zoneMembersLocked returns the nodes of a zone. Both locks are held.
func (s *Store) zoneMembersLocked(zone string) []NodeID {
	if topology := s.topology.Load(); s.zones.topology != topology {
		s.zones.topology = topology
		clear(s.zones.members)
		for id, n := range s.nodes {
			if n.present && n.zone != "" {
				s.zones.members[n.zone] = append(s.zones.members[n.zone], NodeID(id))
			}
		}
	}
	return s.zones.members[zone]
}
