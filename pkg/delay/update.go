package delay

import (
	"cmp"
	"slices"
	"time"
)

// Update replaces what a source knows of the paths from a node; no samples remove it. now decides between sources that
// age and those that do not. Samples that contradict themselves, are about the node itself, or for which there is no
// room are left out; dropped counts them.
//
// A sample without an answer and without a time keeps the time that the same source knew last.
func (s *Store) Update(from string, source Source, peers []PeerSample, now time.Time) (dropped int) {
	s.mu.Lock()
	changed, dropped := s.updateLocked(from, source, peers, now.UnixMilli())
	s.mu.Unlock()
	s.tell(changed...)
	return dropped
}

// updateLocked returns the names of the nodes of which a delay changed.
func (s *Store) updateLocked(from string, source Source, peers []PeerSample, now int64) (changed []string, dropped int) {
	if source == SourceNone || source >= sourceCount {
		return nil, len(peers)
	}
	id, ok := s.ids[from]
	if !ok && len(peers) == 0 {
		return nil, 0
	}
	if id, ok = s.idLocked(from); !ok {
		return nil, len(peers)
	}
	n := s.nodes[id]
	row, dropped := s.rowLocked(id, source, peers)
	carryOn(row, n.bySource[source])
	n.bySource[source] = row
	changed = s.replaceLocked(id, n.merged(now))
	s.forgetLocked(id) // which it only does if nothing is left
	return changed, dropped
}

// rowLocked converts samples, by peer, each once.
func (s *Store) rowLocked(from NodeID, source Source, peers []PeerSample) (row []entry, dropped int) {
	if len(peers) == 0 {
		return nil, 0
	}
	row = make([]entry, 0, len(peers))
	sorted := true
	for i := range peers {
		e, ok := entryOf(&peers[i].Sample)
		if ok {
			e.peer, ok = s.idLocked(peers[i].Peer)
		}
		if !ok || e.peer == from {
			dropped++
			continue
		}
		e.source = source
		sorted = sorted && (len(row) == 0 || row[len(row)-1].peer < e.peer)
		row = append(row, e)
	}
	if sorted {
		return row, dropped
	}
	slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.peer, b.peer) })
	once := slices.CompactFunc(row, func(a, b entry) bool { return a.peer == b.peer })
	return once, dropped + len(row) - len(once)
}

// carryOn keeps, in a new row, the times that are known no longer from the same source's last one.
func carryOn(row, last []entry) {
	j := 0
	for i := range row {
		if row[i].known {
			continue
		}
		for j < len(last) && last[j].peer < row[i].peer {
			j++
		}
		if j < len(last) && last[j].peer == row[i].peer && last[j].known {
			row[i].p50, row[i].p99, row[i].known = last[j].p50, last[j].p99, true
		}
	}
}

// merged is the row of the better samples of all sources. It shares memory with the only source's.
func (n *node) merged(now int64) []entry {
	var merged []entry
	for _, row := range n.bySource {
		switch {
		case len(row) == 0:
		case merged == nil:
			merged = row
		default:
			merged = mergeRows(merged, row, now)
		}
	}
	return merged
}

func mergeRows(a, b []entry, now int64) []entry {
	out := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].peer < b[0].peer:
			out, a = append(out, a[0]), a[1:]
		case a[0].peer > b[0].peer:
			out, b = append(out, b[0]), b[1:]
		default:
			better := a[0]
			if b[0].worthOf(now).compare(better.worthOf(now), StaleAfter) > 0 {
				better = b[0]
			}
			out, a, b = append(out, better), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// replaceLocked puts a row in the place of the node's last one, in the columns of its peers too, and returns the names
// of the nodes of which a delay changed.
func (s *Store) replaceLocked(id NodeID, row []entry) (changed []string) {
	n := s.nodes[id]
	last := n.row
	// The row may be one of a source's, which the merged row of another update was made from: slots are the merged row's.
	row = slices.Clone(row)
	n.row = row
	note := func(peer *node) {
		peer.version.Add(1)
		changed = append(changed, peer.name)
	}
	for i := range row {
		e := &row[i]
		for len(last) > 0 && last[0].peer < e.peer {
			s.dropLocked(&last[0])
			note(s.nodes[last[0].peer])
			last = last[1:]
		}
		peer := s.nodes[e.peer]
		if len(last) > 0 && last[0].peer == e.peer {
			e.slot = last[0].slot
			peer.column[e.slot] = e.incoming(id)
			if !e.sameDelay(&last[0]) {
				note(peer)
			}
			last = last[1:]
			continue
		}
		e.slot = peer.admit(e.incoming(id))
		note(peer)
	}
	for i := range last {
		s.dropLocked(&last[i])
		note(s.nodes[last[i].peer])
	}
	if len(changed) == 0 {
		return nil
	}
	n.version.Add(1)
	s.changes.Add(1)
	s.embedding.moved(id)
	return append(changed, n.name)
}

// admit puts what another node knows into the column and returns where.
func (n *node) admit(in incoming) (slot int32) {
	if last := len(n.holes) - 1; last >= 0 {
		slot, n.holes = n.holes[last], n.holes[:last]
		n.column[slot] = in
		return slot
	}
	n.column = append(n.column, in)
	return int32(len(n.column) - 1)
}

// dropLocked takes a sample of an old row out of its peer's column.
func (s *Store) dropLocked(e *entry) {
	peer := s.nodes[e.peer]
	peer.column[e.slot] = incoming{from: noNode}
	peer.holes = append(peer.holes, e.slot)
	s.forgetLocked(e.peer)
}
