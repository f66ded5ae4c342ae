package delay

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/serf/coordinate"
)

const (
	// embedRounds is how often a node whose paths changed goes over them: Vivaldi takes a few hundred observations to
	// settle.
	embedRounds = 48
	// embedPeers is how many of its paths a node looks at in a round.
	embedPeers = 16
	// maxSerfRTT is the longest round-trip time that serf takes.
	maxSerfRTT = 10 * time.Second
	// noticeableShift is the relative change of an estimate's spread, or a coordinate's shift against its height and
	// length, from which on estimates count as changed.
	noticeableShift = 0.02
	// minSpread keeps error bars from vanishing: no clock and no path is that exact.
	minSpread = 0.02
)

// embedding places the nodes that do not report a coordinate of their own, by the paths that the store knows of them.
// It is guarded by Store.mu.
type embedding struct {
	config  *coordinate.Config
	clients map[NodeID]*coordinate.Client
	due     map[NodeID]int // rounds left
}

func (m *embedding) forget(id NodeID) {
	delete(m.clients, id)
	delete(m.due, id)
}

// moved says that paths of a node changed.
func (m *embedding) moved(id NodeID) {
	if m.due == nil {
		m.due = map[NodeID]int{}
	}
	m.due[id] = embedRounds
}

// SetCoordinate takes over the coordinate that a node reports; the zero Coordinate takes it back. ok is false when it
// cannot be compared with the others, and then nothing changes.
func (s *Store) SetCoordinate(name string, c Coordinate) (ok bool) {
	before := s.estimates.Load()
	if ok = s.setCoordinate(name, &c); s.estimates.Load() != before {
		s.tell(nil)
	}
	return ok
}

func (s *Store) setCoordinate(name string, c *Coordinate) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, known := s.ids[name]
	if len(c.Vector) == 0 {
		if known && s.nodes[id].place.reported {
			s.nodes[id].place = place{}
			s.embedding.moved(id)
			s.estimates.Add(1)
		}
		if known {
			s.forgetLocked(id) // which it only does if nothing is left
		}
		return true
	}
	p, ok := placeOf(c)
	if !ok || !c.serf().IsValid() {
		return false
	}
	if id, ok = s.idLocked(name); !ok {
		return false
	}
	n := s.nodes[id]
	p.reported, p.spread = true, max(c.Error, minSpread)
	if n.place.shifted(&p) {
		s.estimates.Add(1)
	}
	n.place = p
	s.embedding.forget(id)
	s.embedding.moved(id)
	return true
}

// Refine moves the coordinates of nodes whose paths changed nearer to what was measured, by at most about so many
// observations, and reports whether there is more to do. It is to be called from time to time, by one caller.
func (s *Store) Refine(observations int) (more bool) {
	for observations > 0 {
		batch := s.dueNodes(observations / embedPeers)
		if len(batch) == 0 {
			return false
		}
		shifted := false
		for _, id := range batch {
			done, moved := s.refineNode(id)
			observations -= done + 1
			shifted = shifted || moved
		}
		if shifted {
			s.estimates.Add(1)
			s.tell(nil)
		}
	}
	return true
}

// dueNodes returns nodes that have rounds left, in the order of their numbers so that the result does not depend on
// the map's.
func (s *Store) dueNodes(limit int) []NodeID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	batch := make([]NodeID, 0, len(s.embedding.due))
	for id := range s.embedding.due {
		batch = append(batch, id)
	}
	slices.Sort(batch)
	return batch[:min(len(batch), max(limit, 1))]
}

// refineNode plays one round of a node: it holds the lock for some tens of microseconds.
func (s *Store) refineNode(id NodeID) (observations int, shifted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, ok := s.embedding.due[id]
	if !ok {
		return 0, false
	}
	if left <= 1 {
		delete(s.embedding.due, id)
	} else {
		s.embedding.due[id] = left - 1
	}
	n := s.nodes[id]
	if n.endpoint {
		delete(s.embedding.due, id)
		return 0, false
	}
	paths := s.pathsLocked(n)
	last := n.place
	if !last.reported {
		observations = s.observeLocked(id, paths, left)
	}
	if n.place.valid {
		n.place.spread, n.place.slack = s.errorsLocked(n, paths)
	}
	// A settled node does not wake its cached sets at each last small step.
	return observations, left <= 1 && last.shifted(&n.place) || last.valid != n.place.valid || left%8 == 0 && last.shifted(&n.place)
}

// path is a measured path of a node.
type path struct {
	peer NodeID
	rtt  time.Duration
}

// pathsLocked returns the node's measured paths to other nodes, in either direction.
func (s *Store) pathsLocked(n *node) []path {
	paths := make([]path, 0, len(n.row))
	for i := range n.row {
		if e := &n.row[i]; e.answered() && !s.nodes[e.peer].endpoint {
			paths = append(paths, path{peer: e.peer, rtt: duration(e.p50)})
		}
	}
	for i := range n.column {
		if in := &n.column[i]; in.from != noNode && in.answered && !contains(n.row, in.from) {
			paths = append(paths, path{peer: in.from, rtt: duration(in.p50)})
		}
	}
	return paths
}

func contains(row []entry, peer NodeID) bool {
	_, ok := find(row, peer)
	return ok
}

// observeLocked lets the node observe some of its paths, others in each round.
func (s *Store) observeLocked(id NodeID, paths []path, round int) (observations int) {
	client := s.embedding.client(id, s.nodes[id].name)
	if client == nil || len(paths) == 0 {
		return 0
	}
	begin := round * embedPeers
	for i := range min(embedPeers, len(paths)) {
		p := paths[(begin+i)%len(paths)]
		other := s.placeLocked(p.peer)
		if other == nil || p.rtt > maxSerfRTT {
			continue
		}
		observations++
		peer := s.nodes[p.peer].name
		if _, err := client.Update(peer, other, p.rtt); err != nil {
			continue // a coordinate that is not valid; the next report brings another
		}
		client.ForgetNode(peer) // serf's filter of outliers is for single round trips, and takes memory by the path
	}
	if p := fromSerf(client.GetCoordinate()); observations > 0 {
		if at, ok := placeOf(&p); ok {
			at.spread, at.slack = s.nodes[id].place.spread, s.nodes[id].place.slack
			s.nodes[id].place = at
		}
	}
	return observations
}

// placeLocked returns where a peer is: what it reports, or where it has been embedded, which may be at the beginning.
func (s *Store) placeLocked(id NodeID) *coordinate.Coordinate {
	n := s.nodes[id]
	if !n.place.reported {
		if client := s.embedding.client(id, n.name); client != nil {
			return client.GetCoordinate()
		}
		return nil
	}
	return &coordinate.Coordinate{
		Vec: n.place.vector[:], Height: n.place.height, Adjustment: n.place.adjustment, Error: n.place.spread,
	}
}

// client returns the node's, which begins near the origin at a point that depends on its name only: nodes at one point
// would push each other in directions drawn by lot, and estimates would differ from run to run.
func (m *embedding) client(id NodeID, name string) *coordinate.Client {
	if client, ok := m.clients[id]; ok {
		return client
	}
	if m.config == nil {
		m.config = coordinate.DefaultConfig()
	}
	client, err := coordinate.NewClient(m.config)
	if err != nil {
		return nil // only for a configuration without dimensions
	}
	start := coordinate.NewCoordinate(m.config)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // never fails
	bits := hash.Sum64()
	for i := range start.Vec {
		start.Vec[i] = (float64(bits>>(8*i)&0xff) - 127.5) * 1e-7
	}
	if client.SetCoordinate(start) != nil {
		return nil
	}
	if m.clients == nil {
		m.clients = map[NodeID]*coordinate.Client{}
	}
	m.clients[id] = client
	return client
}

// minPaths is how many paths it takes to tell how wrong estimates are.
const minPaths = 3

// errorsLocked returns the relative and the absolute error that nine of ten of the node's measured paths stay within.
func (s *Store) errorsLocked(n *node, paths []path) (spread, slack float64) {
	relative, absolute := make([]float64, 0, len(paths)), make([]float64, 0, len(paths))
	for _, p := range paths {
		if other := &s.nodes[p.peer].place; other.valid {
			estimated := n.place.distance(other)
			wrong := math.Abs(p.rtt.Seconds() - estimated)
			relative, absolute = append(relative, wrong/estimated), append(absolute, wrong)
		}
	}
	if len(relative) < minPaths {
		return max(n.place.spread, 1), math.Inf(1)
	}
	slices.Sort(relative)
	slices.Sort(absolute)
	most := (len(relative)*9+9)/10 - 1
	return max(relative[most], minSpread), max(absolute[most], minEstimate)
}

// shifted reports that estimates from p noticeably differ from those from last.
func (p *place) shifted(to *place) bool {
	if p.valid != to.valid {
		return true
	}
	sum, size := 0.0, 0.0
	for i := range p.vector {
		d := p.vector[i] - to.vector[i]
		sum += d * d
		size += to.vector[i] * to.vector[i]
	}
	scale := max(math.Sqrt(size)+to.height, minEstimate)
	return math.Sqrt(sum)+math.Abs(p.height-to.height)+math.Abs(p.adjustment-to.adjustment) > noticeableShift*scale ||
		math.Abs(p.spread-to.spread) > noticeableShift*max(to.spread, minSpread)
}
