package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	// waiting is how many calls may wait for the next transaction.
	waiting = 256
	// maxField bounds each text of an event.
	maxField = 4 << 10
	// object is what all events of this service are about: it has a field for a pod's name and none for anything else.
	object = "Pod"
)

// events is the predecessor's service.
type events struct {
	tracev1.UnimplementedSnifferServiceServer

	store   Store
	clock   clock.PassiveClock
	metrics *metrics
	queue   chan call
}

// call is an event that somebody waits for.
type call struct {
	event store.Event
	done  chan<- error // with room for the answer
}

// Send stores one event.
func (e *events) Send(ctx context.Context, r *tracev1.SendRequest) (*tracev1.SendResponse, error) {
	event, err := e.event(r)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	done := make(chan error, 1)
	select {
	case e.queue <- call{event, done}:
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	select {
	case err := <-done:
		if err != nil {
			return nil, status.Error(codes.Unavailable, "the event could not be stored: send it again later")
		}
		return &tracev1.SendResponse{}, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// run stores events until ctx ends: all that wait, in one transaction.
func (e *events) run(ctx context.Context) {
	for {
		var calls []call
		select {
		case first := <-e.queue:
			calls = append(calls, first)
		case <-ctx.Done():
			return
		}
		for more := true; more && len(calls) < waiting; {
			select {
			case next := <-e.queue:
				calls = append(calls, next)
			default:
				more = false
			}
		}
		e.answer(ctx, calls)
	}
}

func (e *events) answer(ctx context.Context, calls []call) {
	batch := make([]store.Event, len(calls))
	for i, c := range calls {
		batch[i] = c.event
	}
	stored, err := e.store.SaveEvents(ctx, e.clock.Now(), batch)
	if err != nil {
		e.metrics.failures.Inc()
		klog.FromContext(ctx).Error(err, "Events could not be stored", "events", len(calls))
	}
	e.metrics.events.Add(float64(stored))
	for _, c := range calls {
		c.done <- err
	}
}

// payload is what our clients say in the field that the predecessor's leave empty.
type payload struct {
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

func (e *events) event(r *tracev1.SendRequest) (store.Event, error) {
	if r.GetPod() == "" {
		return store.Event{}, errors.New("want the name of a pod, found none")
	}
	if r.GetEndpoint() == "" && r.GetEvent() == "" {
		return store.Event{}, errors.New("want an endpoint or an event, found neither")
	}
	for _, field := range []string{r.GetPod(), r.GetNode(), r.GetEvent(), r.GetEndpoint(), r.GetPayload(), r.GetTimestamp()} {
		if len(field) > maxField {
			return store.Event{}, errors.New("a field is longer than 4096 bytes")
		}
	}
	event := store.Event{Event: trace.Event{
		Object: object, Name: r.GetPod(), Endpoint: r.GetEndpoint(), Node: r.GetNode(), Event: r.GetEvent(),
	}}
	var more payload
	// Free text is as good a payload as any; it is only not understood.
	if json.Unmarshal([]byte(r.GetPayload()), &more) == nil {
		event.Namespace, event.UID, event.Reason, event.Message = more.Namespace, more.UID, more.Reason, more.Message
	}
	if at, err := trace.ParseTime(r.GetTimestamp()); err == nil {
		event.Time = at
	}
	event.Identity = e.identity(r)
	return event, nil
}

// identity is the same for a call that is repeated. Calls without a time cannot be told from repeated ones, except by
// the time at which they come.
func (e *events) identity(r *tracev1.SendRequest) string {
	when := r.GetTimestamp()
	if when == "" {
		when = e.clock.Now().Format(time.RFC3339Nano)
	}
	hash := sha256.New()
	for _, field := range []string{r.GetEndpoint(), r.GetPod(), r.GetNode(), r.GetEvent(), r.GetPayload(), when} {
		// No error: a hash has none. The zero byte keeps "ab", "c" apart from "a", "bc".
		_, _ = hash.Write(append([]byte(field), 0))
	}
	return "send/" + hex.EncodeToString(hash.Sum(nil)[:16])
}
