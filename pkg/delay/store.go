package delay

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MaxNames is the number of nodes and endpoints that a store keeps. Samples of more are dropped.
	MaxNames = 65_536
	// StaleAfter is how much older a sample of a better source may be than that of a worse one before it no longer
	// counts: five of the agents' heartbeats.
	StaleAfter = 5 * time.Minute
)

// Store is the matrix of round-trip times. Its methods may be called from any goroutine.
//
// Rows are immutable and replaced as a whole; beside them each node has a column, what others know of the paths to it,
// so that everything about one reference lies together. Memory grows with the samples, not with the square of the nodes.
type Store struct {
	// mu guards everything but the atomics and the cache. Who builds a view holds it for reading.
	mu        sync.RWMutex
	ids       map[string]NodeID
	nodes     []*node
	free      []NodeID
	listeners []func(nodes []string)
	embedding embedding

	index atomic.Pointer[Index] // nil after names changed
	// topology counts changes of names, zones and membership, estimates those of coordinates, changes those of delays.
	topology, estimates, changes atomic.Uint64

	cache radiusCache
	zones zoneCache
}

// node is what is known about one node. All fields are guarded by Store.mu. What an update of another node's
// row touches stands first, on one cache line.
type node struct {
	name    string
	column  []incoming
	version uint64 // of row and column, as far as placement goes

	zone     string
	endpoint bool
	present  bool // in the cluster; others are only remembered
	bySource [sourceCount]told
	row      []entry // of the better samples, by peer
	holes    []int32 // slots of column that are free
	place    place
}

// told is the last row of one source.
type told struct {
	row []entry
	// order has, for each sample in the order in which they were told, its place in row. Reports name the same peers in
	// the same order most of the time, and then neither names nor order need to be found anew.
	order []int32
}

// Index finds the numbers of nodes without a lock. It is immutable.
type Index struct{ ids map[string]NodeID }

// ID returns the node's number; ok is false for a name that the store has not heard of. It does not allocate.
func (x *Index) ID(name string) (id NodeID, ok bool) {
	id, ok = x.ids[name]
	return id, ok
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		ids:   map[string]NodeID{},
		cache: radiusCache{views: map[viewKey]*view{}, radii: map[radiusKey]*cachedRadius{}},
		zones: zoneCache{medians: map[zonePair]zoneMedian{}, views: map[zoneViewKey]*view{}, members: map[string][]NodeID{}},
	}
}

// Index returns the names as they are now.
func (s *Store) Index() *Index {
	if x := s.index.Load(); x != nil {
		return x
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	x := &Index{ids: maps.Clone(s.ids)}
	s.index.Store(x) // names cannot change while the lock is held
	return x
}

// OnChange calls f with the names of the nodes of which a round-trip time, to or from it, has changed, and with none when
// estimates or the cluster's nodes have. f must return quickly, and must neither keep the names nor call back into the
// store.
func (s *Store) OnChange(f func(nodes []string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

// SetNode says that the node is in the cluster, and in which zone; "" means that it has none.
func (s *Store) SetNode(name, zone string) {
	if s.setNode(name, zone) {
		s.tell(nil)
	}
}

func (s *Store) setNode(name, zone string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.idLocked(name)
	if !ok {
		return false
	}
	n := s.nodes[id]
	if n.present && n.zone == zone {
		return false
	}
	n.present, n.zone = true, zone
	s.topology.Add(1)
	return true
}

// tell calls the listeners.
func (s *Store) tell(names []string) {
	s.mu.RLock()
	listeners := s.listeners
	s.mu.RUnlock()
	for _, f := range listeners {
		f(names)
	}
}

// RemoveNode says that the node left the cluster. What was measured to it stays as long as its peers report it.
func (s *Store) RemoveNode(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.ids[name]
	if !ok {
		return
	}
	s.nodes[id].present = false
	s.topology.Add(1)
	s.forgetLocked(id)
}

// Knows reports whether the store has a sample of a path to or from the name.
func (s *Store) Knows(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	id, ok := s.ids[name]
	return ok && (len(s.nodes[id].row) > 0 || len(s.nodes[id].column) > len(s.nodes[id].holes))
}

// Names returns the nodes and endpoints that the store has heard of, sorted.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.ids))
}

// idLocked returns the number of a name, a new one if need be; ok is false when there is no room.
func (s *Store) idLocked(name string) (id NodeID, ok bool) {
	if id, ok = s.ids[name]; ok {
		return id, true
	}
	if len(s.ids) >= MaxNames || name == "" {
		return 0, false
	}
	_, endpoint := EndpointOf(name)
	fresh := &node{name: name, endpoint: endpoint}
	if last := len(s.free) - 1; last >= 0 {
		id, s.free = s.free[last], s.free[:last]
		fresh.version = s.nodes[id].version + 1
		s.nodes[id] = fresh
	} else {
		id = NodeID(len(s.nodes))
		s.nodes = append(s.nodes, fresh)
	}
	s.ids[name] = id
	s.index.Store(nil)
	s.topology.Add(1)
	return id, true
}

// forgetLocked gives the number of a node back that nothing refers to any more.
func (s *Store) forgetLocked(id NodeID) {
	n := s.nodes[id]
	if n.present || len(n.row) > 0 || len(n.column) > len(n.holes) || s.ids[n.name] != id {
		return
	}
	for i := range n.bySource {
		if len(n.bySource[i].row) > 0 {
			return
		}
	}
	delete(s.ids, n.name)
	s.embedding.forget(id)
	n.place, n.column, n.holes = place{}, nil, nil
	s.free = append(s.free, id)
	s.index.Store(nil)
	s.topology.Add(1)
}
