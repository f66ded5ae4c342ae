package sniffer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Sink takes records. Its methods are called by one goroutine.
type Sink interface {
	// Write takes a record, which nobody changes from then on. It must not wait for anything slower than a disk, and deals
	// with its own errors: it counts them, because there is no one to report them to.
	Write(record *trace.Record)
	// Close ends the sink. It may wait until ctx ends for what it still has to deliver.
	Close(ctx context.Context) error
}

// Identity says who records.
type Identity struct {
	// Scheduler names the process for people; Session must differ after each restart.
	Scheduler, Session string
}

// Recorder collects the attempts of all profiles of a scheduler and writes them to sinks.
//
// Locking: mu guards the sequence together with the place in the ring, so that records are in the order of their
// sequence, and what is in flight. It is never held while anything waits. An Attempt belongs to the goroutine that runs
// its cycle until finish puts it into the ring, then to the writer.
type Recorder struct {
	identity Identity
	clock    clock.PassiveClock
	metrics  *Metrics
	pool     sync.Pool

	mu       sync.Mutex
	ring     chan *Attempt // made by the first profile
	sequence uint64
	flying   map[types.UID]*Attempt
	profiles map[string]*Profile
	first    *configv1.SnifferArgs // of the profile that came first
	evicted  evictions
	closed   bool
}

// NewRecorder returns a recorder without profiles. Sinks are given to Run.
func NewRecorder(identity Identity, c clock.PassiveClock, metrics *Metrics) *Recorder {
	return &Recorder{
		identity: identity, clock: c, metrics: metrics, pool: sync.Pool{New: func() any { return &Attempt{} }},
		flying: map[types.UID]*Attempt{}, profiles: map[string]*Profile{}, evicted: newEvictions(),
	}
}

// addProfile registers a profile. All profiles share the ring and the sinks.
func (r *Recorder) addProfile(name string, args *configv1.SnifferArgs) (*Profile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = args
		r.ring = make(chan *Attempt, args.QueueLength)
		r.metrics.watch(func() float64 { return float64(len(r.ring)) })
	}
	if args.QueueLength != r.first.QueueLength || !reflect.DeepEqual(args.Sinks, r.first.Sinks) {
		return nil, fmt.Errorf("profile %s: queueLength or sinks differ from those of another profile; want the same in all", name)
	}
	r.profiles[name] = newProfile(name, args, r)
	return r.profiles[name], nil
}

// Profile returns the named profile, or nil if it does not record.
func (r *Recorder) Profile(name string) *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.profiles[name]
}

// Sinks returns the sinks that the profiles ask for; false if no profile records.
func (r *Recorder) Sinks() (configv1.SnifferSinks, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		return configv1.SnifferSinks{}, false
	}
	return r.first.Sinks, true
}

// Begin starts an attempt and leaves it in the cycle's state. It returns nil if the pod is not recorded.
func (p *Profile) Begin(state fwk.CycleState, b Beginning) *Attempt {
	if !p.records(b.Pod) {
		return nil
	}
	a := p.attempt(b)
	p.Tally.reset(b.Nodes)
	state.Write(stateKey, a)
	p.recorder.takeOff(a)
	return a
}

func (p *Profile) attempt(b Beginning) *Attempt {
	a, _ := p.recorder.pool.Get().(*Attempt)
	a.Beginning, a.profile, a.recorder, a.kind, a.start = b, p, p.recorder, trace.KindAttempt, p.recorder.clock.Now()
	return a
}

// takeOff remembers the attempt by its pod. What is still there of an earlier cycle has ended without a word; what is of
// the same cycle is an earlier trial, and any of them may be the one that is carried out.
func (r *Recorder) takeOff(a *Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.flying[a.Pod.UID]; before != nil {
		if a.Tentative && before.Cycle == a.Cycle {
			a.older = before
		} else {
			r.finishTrials(before)
		}
	}
	r.flying[a.Pod.UID] = a
}

// Flying returns the attempt of the pod that is going on, or nil.
func (p *Profile) Flying(uid types.UID) *Attempt {
	p.recorder.mu.Lock()
	defer p.recorder.mu.Unlock()
	return p.recorder.flying[uid]
}

// commit makes a trial the attempt that is carried out.
func (r *Recorder) commit(a *Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	latest := r.flying[a.Pod.UID]
	r.flying[a.Pod.UID] = a
	a.Tentative, a.undo = false, trace.Undo{}
	for other := latest; other != nil; {
		older := other.older
		if other != a {
			r.finishTrial(other)
		}
		other = older
	}
	a.older = nil
}

// finishTrials ends an attempt and the trials before it, none of which was carried out.
func (r *Recorder) finishTrials(a *Attempt) {
	for a != nil {
		older := a.older
		r.finishTrial(a)
		a = older
	}
}

// finishTrial ends a trial that was not carried out.
func (r *Recorder) finishTrial(a *Attempt) {
	a.outcome = trace.OutcomeUnschedulable
	if a.node != "" {
		a.outcome = trace.OutcomeFits
	}
	r.finish(a)
}

// bound ends an attempt whose pod is bound.
func (r *Recorder) bound(a *Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.outcome, a.plugin, a.undo = trace.OutcomeBound, "", trace.Undo{}
	a.nominated, a.victims = r.evicted.end(a.Pod.UID)
	delete(r.flying, a.Pod.UID)
	r.finish(a)
}

// Failure is how an attempt failed.
type Failure struct {
	// Rejected says that the pod was found not to fit; otherwise something went wrong.
	Rejected bool
	// Message is the scheduler's text; empty where the counts of the attempt say the same.
	Message string
	// Nominates says that the pod's nomination changes to Nominated, the node that is being cleared for it, or to none.
	Nominates bool
	Nominated string
}

// Fail ends the attempt of a pod that was not bound. Where none is going on, as for members of a pod group that were
// never tried, it is recorded as b.
func (p *Profile) Fail(b Beginning, f Failure) {
	if !p.records(b.Pod) {
		return
	}
	r := p.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.flying[b.Pod.UID]
	if a == nil {
		a = p.attempt(b)
	}
	delete(r.flying, b.Pod.UID)
	older := a.older
	a.outcome = trace.OutcomeError
	if f.Rejected {
		a.outcome = trace.OutcomeUnschedulable
	}
	a.message = f.Message
	if f.Nominates {
		r.evicted.end(b.Pod.UID)
	}
	if f.Nominates && f.Nominated != "" {
		a.nominated = f.Nominated
		a.victims = r.evicted.nominate(&nomination{pod: a.Pod, attempt: a.Number, profile: p, node: f.Nominated, since: a.start})
	}
	r.finishTrials(older)
	r.finish(a)
}

// finish puts the attempt into the ring, or drops it. The caller has mu.
func (r *Recorder) finish(a *Attempt) {
	a.end, a.older = r.clock.Now(), nil
	r.sequence++
	a.sequence = r.sequence
	if r.closed {
		r.metrics.dropped.Inc()
		return
	}
	select {
	case r.ring <- a:
	default:
		r.metrics.dropped.Inc()
		a.reset()
		r.pool.Put(a)
	}
}

// errUnfinished is why sinks are closed while records are left.
var errUnfinished = errors.New("records were left in the queue when the time to stop was over")

// rest is how long the writer rests when it has written everything. Waking it for each record would cost as much as the
// record itself; what comes meanwhile waits in the ring.
const rest = 100 * time.Millisecond

// Run writes records to the sinks until ctx ends, then what is left in the ring, for at most grace.
func (r *Recorder) Run(ctx context.Context, sinks []Sink, grace time.Duration) error {
	resting := time.NewTimer(rest)
	defer resting.Stop()
	for {
		select {
		case a := <-r.ring:
			r.write(a, sinks)
		case <-ctx.Done():
			return r.stop(context.WithoutCancel(ctx), sinks, grace)
		}
		for n := len(r.ring); n > 0; n-- {
			r.write(<-r.ring, sinks)
		}
		resting.Reset(rest)
		select {
		case <-resting.C:
		case <-ctx.Done():
		}
	}
}

func (r *Recorder) stop(ctx context.Context, sinks []Sink, grace time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, grace, errUnfinished)
	defer cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	var errs []error
	for len(r.ring) > 0 && ctx.Err() == nil {
		r.write(<-r.ring, sinks)
	}
	if left := len(r.ring); left > 0 {
		errs = append(errs, fmt.Errorf("%d of them: %w", left, errUnfinished))
	}
	for _, sink := range sinks {
		errs = append(errs, sink.Close(ctx))
	}
	return errors.Join(errs...)
}

func (r *Recorder) write(a *Attempt, sinks []Sink) {
	record := a.record()
	r.metrics.recorded(record)
	for _, sink := range sinks {
		sink.Write(record)
	}
	a.reset()
	r.pool.Put(a)
}

// controllerOf returns the owner that controls the pod.
func controllerOf(pod *corev1.Pod) *trace.Owner {
	for i := range pod.OwnerReferences {
		if owner := &pod.OwnerReferences[i]; owner.Controller != nil && *owner.Controller {
			return &trace.Owner{Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID)}
		}
	}
	return nil
}
