package delay

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxViews and maxRadii bound the cache: at 10,000 nodes a view takes 120 kB and a radius 1.3 kB.
	maxViews = 256
	maxRadii = 4096
)

type viewKey struct {
	ref        NodeID
	percentile Percentile
}

type radiusKey struct {
	ref   NodeID
	query Query
}

// demandFor is how long a radius that nobody asks for tells which nodes are in demand.
const demandFor = 10 * time.Minute

// cachedRadius is a radius and when it was asked for last, in Unix seconds.
type cachedRadius struct {
	radius *Radius
	used   atomic.Int64
}

// radiusCache remembers views and radii by the version of their reference's row.
type radiusCache struct {
	mu    sync.RWMutex
	views map[viewKey]*view
	radii map[radiusKey]*cachedRadius
}

// radius returns the radius as it is now.
func (s *Store) radius(key radiusKey, now time.Time) *Radius {
	s.cache.mu.RLock()
	cached := s.cache.radii[key]
	s.cache.mu.RUnlock()
	if cached != nil && s.current(key.ref, cached.radius.view) {
		cached.used.Store(now.Unix())
		return cached.radius
	}
	r := newRadius(s.view(viewKey{ref: key.ref, percentile: key.query.Percentile}), key.query)
	fresh := &cachedRadius{radius: r}
	fresh.used.Store(now.Unix())
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if len(s.cache.radii) >= maxRadii {
		s.cache.evictLocked()
	}
	s.cache.radii[key] = fresh
	return r
}

// evictLocked drops the half of the radii that were not used for longest.
func (c *radiusCache) evictLocked() {
	keys := make([]radiusKey, 0, len(c.radii))
	for key := range c.radii {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b radiusKey) int {
		return cmp.Compare(c.radii[a].used.Load(), c.radii[b].used.Load())
	})
	for _, key := range keys[:len(keys)/2] {
		delete(c.radii, key)
	}
}

// current reports that nothing has changed that the view was made from.
func (s *Store) current(ref NodeID, v *view) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.currentLocked(ref, v)
}

func (s *Store) currentLocked(ref NodeID, v *view) bool {
	return v.topology == s.topology.Load() && v.version == s.nodes[ref].version &&
		(!v.guessed || v.estimates == s.estimates.Load())
}

func (s *Store) view(key viewKey) *view {
	s.cache.mu.RLock()
	v := s.cache.views[key]
	s.cache.mu.RUnlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if v != nil && s.currentLocked(key.ref, v) {
		return v
	}
	v = s.viewLocked(key.ref, key.percentile)
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if len(s.cache.views) >= maxViews {
		clear(s.cache.views) // radii keep the views that they need
	}
	s.cache.views[key] = v
	return v
}

// Scarce returns the sets of nodes within recently asked bounds that hold fewer nodes than size, the smallest first, at
// most limit: nodes in them are in demand by pods that have few others.
func (s *Store) Scarce(size, limit int, now time.Time) []*Radius {
	since, topology := now.Add(-demandFor).Unix(), s.topology.Load()
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	var scarce []*Radius
	for _, cached := range s.cache.radii {
		r := cached.radius // after a change of nodes its numbers may mean others
		if r.Size > 0 && r.Size < size && cached.used.Load() >= since && r.view.topology == topology {
			scarce = append(scarce, r)
		}
	}
	slices.SortFunc(scarce, func(a, b *Radius) int { return cmp.Compare(a.Size, b.Size) })
	return scarce[:min(limit, len(scarce))]
}
