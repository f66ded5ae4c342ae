package delay

import (
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
	if len(changed) > 0 {
		s.tell(changed)
	}
	return dropped
}

// updateLocked returns the names of the nodes of which a delay changed, if anybody listens.
func (s *Store) updateLocked(from string, source Source, peers []PeerSample, now int64) (changed []string, dropped int) {
	if source == SourceNone || source >= sourceCount {
		return nil, len(peers)
	}
	if _, known := s.ids[from]; !known && len(peers) == 0 {
		return nil, 0
	}
	id, ok := s.idLocked(from)
	if !ok {
		return nil, len(peers)
	}
	n := s.nodes[id]
	row, dropped := s.rowLocked(id, source, peers)
	carryOn(row.row, n.bySource[source].row)
	n.bySource[source] = row
	changed = s.replaceLocked(id, n.merged(now))
	s.forgetLocked(id) // which it only does if nothing is left
	return changed, dropped
}

// rowLocked converts samples, by peer, each once.
func (s *Store) rowLocked(from NodeID, source Source, peers []PeerSample) (row told, dropped int) {
	if len(peers) == 0 {
		return told{}, 0
	}
	if row, ok := s.sameOrderLocked(&s.nodes[from].bySource[source], source, peers); ok {
		return row, 0
	}
	unsorted := make([]entry, 0, len(peers))
	keys := make([]uint64, 0, len(peers)) // the peer above the position
	for i := range peers {
		e, ok := entryOf(&peers[i].Sample)
		if ok {
			e.peer, ok = s.idLocked(peers[i].Peer)
		}
		if !ok || e.peer == from {
			continue
		}
		e.source = source
		keys = append(keys, uint64(e.peer)<<32|uint64(len(unsorted)))
		unsorted = append(unsorted, e)
	}
	slices.Sort(keys)
	row = told{row: make([]entry, 0, len(keys)), order: make([]int32, len(unsorted))}
	for _, key := range keys {
		e := unsorted[uint32(key)]
		if last := len(row.row) - 1; last >= 0 && row.row[last].peer == e.peer {
			continue // the first counts
		}
		row.order[uint32(key)] = int32(len(row.row))
		row.row = append(row.row, e)
	}
	if dropped = len(peers) - len(row.row); dropped > 0 {
		row.order = nil // the next report's positions are not these
	}
	return row, dropped
}

// sameOrderLocked converts samples of the same peers in the same order as the last time; ok is false if they are not.
func (s *Store) sameOrderLocked(last *told, source Source, peers []PeerSample) (row told, ok bool) {
	if len(last.order) != len(peers) {
		return told{}, false
	}
	row = told{row: make([]entry, len(peers)), order: last.order}
	for i := range peers {
		place := last.order[i]
		e, ok := entryOf(&peers[i].Sample)
		if !ok || s.nodes[last.row[place].peer].name != peers[i].Peer {
			return told{}, false
		}
		e.peer, e.source = last.row[place].peer, source
		row.row[place] = e
	}
	return row, true
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
	for i := range n.bySource {
		row := n.bySource[i].row
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
// of the nodes of which a delay changed, if anybody listens.
func (s *Store) replaceLocked(id NodeID, row []entry) (changed []string) {
	n := s.nodes[id]
	last, changes := n.row, 0
	n.row = row
	if len(s.listeners) > 0 {
		changed = make([]string, 0, len(row)+1)
	}
	note := func(peer *node) {
		changes++
		peer.version++
		if len(s.listeners) > 0 {
			changed = append(changed, peer.name)
		}
	}
	for i := range row {
		e := &row[i]
		for len(last) > 0 && last[0].peer < e.peer {
			note(s.dropLocked(&last[0]))
			last = last[1:]
		}
		peer := s.nodes[e.peer]
		if len(last) == 0 || last[0].peer != e.peer {
			e.slot = peer.admit(e.incoming(id))
			note(peer)
			continue
		}
		e.slot = last[0].slot
		peer.column[e.slot] = e.incoming(id)
		if !e.sameDelay(&last[0]) {
			note(peer)
		}
		last = last[1:]
	}
	for i := range last {
		note(s.dropLocked(&last[i]))
	}
	if changes == 0 {
		return nil
	}
	n.version++
	s.changes.Add(1)
	s.embedding.moved(id)
	if len(s.listeners) == 0 {
		return nil
	}
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
func (s *Store) dropLocked(e *entry) (peer *node) {
	peer = s.nodes[e.peer]
	peer.column[e.slot] = incoming{from: noNode}
	peer.holes = append(peer.holes, e.slot)
	s.forgetLocked(e.peer)
	return peer
}
