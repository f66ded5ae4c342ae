package edgedelay

import (
	"context"
	"sync"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// need is a set of nodes that a pod needs: those within a bound of a node, an endpoint or a zone.
type need struct {
	ref, zone string // one of them is ""
	query     delay.Query
}

func (n need) name() string {
	if n.zone != "" {
		return "zone " + n.zone
	}
	if endpoint, ok := delay.EndpointOf(n.ref); ok {
		return endpoint
	}
	return n.ref
}

// settleTime joins changes that come close together. Reports of thousands of nodes change the paths to a reference all
// the time; what matters is whether a set that somebody waits for gains a node.
const settleTime = 100 * time.Millisecond

// radiusWatch puts pods back into the queue when a set of nodes that they wait for gains a node. Sets that only lose
// nodes, or delays that move within their bounds, wake nobody.
type radiusWatch struct {
	within func(need, time.Time) (*delay.Radius, delay.Bits, error)
	pods   *waiting.Pods[need]
	wake   chan struct{}

	mu      sync.Mutex
	seen    map[need]delay.Bits // the last that was told of each set that is awaited
	byRef   map[string]int      // how many of them are about a node or endpoint
	zones   int                 // how many are about a zone
	changed map[string]struct{} // since the last look; "" is everything
}

// startRadiusWatch returns a watch whose goroutine ends with ctx.
func startRadiusWatch(ctx context.Context, store *delay.Store, within func(need, time.Time) (*delay.Radius, delay.Bits, error),
	pods *waiting.Pods[need],
) *radiusWatch {
	w := &radiusWatch{
		within: within, pods: pods, wake: make(chan struct{}, 1),
		seen: map[need]delay.Bits{}, byRef: map[string]int{}, changed: map[string]struct{}{},
	}
	store.OnChange(w.change)
	go w.run(ctx)
	return w
}

// await begins to watch sets.
func (w *radiusWatch) await(needs []need) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range needs {
		if _, ok := w.seen[n]; ok {
			continue
		}
		w.seen[n] = nil
		if n.zone != "" {
			w.zones++
		} else {
			w.byRef[n.ref]++
		}
	}
}

// saw notes what the scheduler knew of a set when it decided.
func (w *radiusWatch) saw(n need, nodes delay.Bits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.seen[n]; ok {
		w.seen[n] = nodes
	}
}

// change is called for each change of the store.
func (w *radiusWatch) change(nodes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) == 0 {
		return
	}
	before := len(w.changed)
	for _, node := range nodes {
		if w.byRef[node] > 0 || w.zones > 0 {
			w.changed[node] = struct{}{}
		}
	}
	if len(nodes) == 0 {
		w.changed[""] = struct{}{}
	}
	if len(w.changed) == before {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
}

func (w *radiusWatch) run(ctx context.Context) {
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		timer.Reset(settleTime)
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			w.look(now)
		}
	}
}

// look compares the sets that may have changed with what was seen of them.
func (w *radiusWatch) look(now time.Time) {
	for _, n := range w.touched() {
		if !w.pods.Awaits(n) {
			w.drop(n)
			continue
		}
		_, nodes, err := w.within(n, now)
		if err != nil {
			continue // the reference is not known; its appearance is a change of its own
		}
		w.mu.Lock()
		gained := nodes.Beyond(w.seen[n])
		w.seen[n] = nodes
		w.mu.Unlock()
		if gained {
			w.pods.Changed(n)
		}
	}
}

// touched returns the sets that the changes since the last call may concern.
func (w *radiusWatch) touched() []need {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, everything := w.changed[""]
	var touched []need
	for n := range w.seen {
		if _, ok := w.changed[n.ref]; ok || everything || n.zone != "" {
			touched = append(touched, n)
		}
	}
	clear(w.changed)
	return touched
}

func (w *radiusWatch) drop(n need) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.seen[n]; !ok {
		return
	}
	delete(w.seen, n)
	if n.zone != "" {
		w.zones--
	} else if w.byRef[n.ref]--; w.byRef[n.ref] == 0 {
		delete(w.byRef, n.ref)
	}
}
