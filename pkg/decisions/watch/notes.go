package watch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

// maxNotes bounds the events that wait to be stored: half a minute of a cluster that starts a thousand pods a second.
const maxNotes = 100_000

// notes are what has been seen and is not stored yet.
type notes struct {
	mu      sync.Mutex
	pods    map[string]store.Pod
	nodes   map[string]store.Node
	events  []store.Event
	dropped int
	// more has an entry when there is something.
	more chan struct{}
}

func newNotes() *notes {
	return &notes{pods: map[string]store.Pod{}, nodes: map[string]store.Node{}, more: make(chan struct{}, 1)}
}

func (n *notes) signal() {
	select {
	case n.more <- struct{}{}:
	default: // it is known
	}
}

func (n *notes) addEvents(events []store.Event) {
	room := min(maxNotes-len(n.events), len(events))
	n.events = append(n.events, events[:room]...)
	n.dropped += len(events) - room
}

// pod takes a note of a pod. What an earlier note said about its end and its deletion is not forgotten.
func (n *notes) pod(pod store.Pod, events []store.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.pods[pod.UID]; ok {
		pod.Ended = cmp.Or(known.Ended, pod.Ended)
		pod.Gone = pod.Gone || known.Gone
	}
	n.pods[pod.UID] = pod
	n.addEvents(events)
	n.signal()
}

func (n *notes) node(node store.Node, events []store.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	node.Removed = cmp.Or(node.Removed, n.nodes[node.UID].Removed)
	n.nodes[node.UID] = node
	n.addEvents(events)
	n.signal()
}

// taken is a set of notes on its way into the store.
type taken struct {
	pods    map[string]store.Pod
	nodes   map[string]store.Node
	events  []store.Event
	dropped int
}

func (n *notes) take() taken {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := taken{n.pods, n.nodes, n.events, n.dropped}
	n.pods, n.nodes, n.events, n.dropped = map[string]store.Pod{}, map[string]store.Node{}, nil, 0
	return t
}

// giveBack returns notes that could not be stored. Newer ones win.
func (n *notes) giveBack(t taken) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for uid, pod := range t.pods {
		if _, newer := n.pods[uid]; !newer {
			n.pods[uid] = pod
		}
	}
	for uid, node := range t.nodes {
		if _, newer := n.nodes[uid]; !newer {
			n.nodes[uid] = node
		}
	}
	newer := n.events
	n.events, n.dropped = nil, n.dropped+t.dropped
	n.addEvents(t.events)
	n.addEvents(newer)
}

// write stores what was taken.
func (t *taken) write(ctx context.Context, s Store, now time.Time) error {
	if len(t.nodes) > 0 {
		if err := s.SaveNodes(ctx, slices.Collect(maps.Values(t.nodes))); err != nil {
			return err
		}
	}
	if len(t.pods) > 0 {
		if err := s.SavePods(ctx, slices.Collect(maps.Values(t.pods))); err != nil {
			return err
		}
	}
	if len(t.events) == 0 {
		return nil
	}
	_, err := s.SaveEvents(ctx, now, t.events)
	return err
}
