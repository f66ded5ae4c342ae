package tracesink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	notifySink = "notify"
	// notifyQueue bounds the events that wait for a slow service.
	notifyQueue   = 4096
	notifyTimeout = 5 * time.Second
)

// Notify sends what the predecessor's scheduler sent to what the predecessor's sidecar was: that a node was chosen, and
// that the pod was bound. Its calls are not repeated, but they leave one connection and nobody waits for them.
type Notify struct {
	conn    *grpc.ClientConn
	client  tracev1.SnifferServiceClient
	metrics *Metrics
	logger  logr.Logger
	queue   chan *tracev1.SendRequest
	cancel  context.CancelFunc
	done    chan struct{}
}

// NewNotify begins to send. Its goroutine ends with Close.
func NewNotify(ctx context.Context, args *configv1.SnifferNotifySink, metrics *Metrics) (*Notify, error) {
	conn, err := grpc.NewClient(args.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("connection to the predecessor's service: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	n := &Notify{
		conn: conn, client: tracev1.NewSnifferServiceClient(conn), metrics: metrics, logger: klog.FromContext(ctx),
		queue: make(chan *tracev1.SendRequest, notifyQueue), cancel: cancel, done: make(chan struct{}),
	}
	go n.run(ctx)
	return n, nil
}

// Write queues the events of an attempt that found a node.
func (n *Notify) Write(record *trace.Record) {
	for _, event := range LegacyEvents(record) {
		select {
		case n.queue <- LegacyRequest(&event):
		default:
			n.metrics.lost.WithLabelValues(notifySink, "queue full").Inc()
		}
	}
}

// LegacyEvents are what the predecessor's scheduler reported of an attempt: ScheduleSuccess when a node was chosen, whether
// or not the pod got there, and BindingSuccess when it was bound.
func LegacyEvents(r *trace.Record) []trace.Event {
	if r.Kind != trace.KindAttempt || r.Node == "" || r.Tentative {
		return nil
	}
	event := trace.Event{
		Object: "Pod", Name: r.Pod.Name, Namespace: r.Pod.Namespace, UID: r.Pod.UID, Endpoint: "schedulePod", Node: r.Node,
		Event: "ScheduleSuccess", Time: chosen(r),
	}
	if r.Outcome != trace.OutcomeBound {
		return []trace.Event{event}
	}
	bound := event
	bound.Endpoint, bound.Event, bound.Time = "bindingCycle", "BindingSuccess", r.End
	return []trace.Event{event, bound}
}

// chosen is when the search for a node ended, as far as phases tell.
func chosen(r *trace.Record) time.Time {
	at := r.Start
	for _, phase := range r.Phases {
		switch phase.Name {
		case "PreFilter", "Filter", "PreScore", "Score":
			at = r.Start.Add(phase.Offset + phase.Duration)
		}
	}
	return at
}

// LegacyRequest puts an event into the predecessor's message. What that has no field for goes into the payload, which its
// services do not read.
func LegacyRequest(e *trace.Event) *tracev1.SendRequest {
	request := &tracev1.SendRequest{Endpoint: e.Endpoint, Pod: e.Name, Node: e.Node, Event: e.Event, Timestamp: trace.LegacyTime(e.Time)}
	payload, err := json.Marshal(struct {
		Namespace string `json:"namespace,omitempty"`
		UID       string `json:"uid,omitempty"`
		Reason    string `json:"reason,omitempty"`
		Message   string `json:"message,omitempty"`
	}{e.Namespace, e.UID, e.Reason, e.Message})
	if err == nil && len(payload) > len("{}") {
		request.Payload = string(payload)
	}
	return request
}

func (n *Notify) run(ctx context.Context) {
	defer close(n.done)
	var reach health
	for {
		select {
		case <-ctx.Done():
			return
		case request, more := <-n.queue:
			if !more {
				return
			}
			err := n.send(ctx, request)
			if reach.changed(err) && err != nil {
				n.logger.Error(err, "Events for the predecessor's service are lost until it is back")
			}
		}
	}
}

func (n *Notify) send(ctx context.Context, request *tracev1.SendRequest) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := n.client.Send(ctx, request); err != nil {
		n.metrics.lost.WithLabelValues(notifySink, "receiver").Inc()
		return err
	}
	n.metrics.written.WithLabelValues(notifySink).Inc()
	return nil
}

// Close sends what is queued, until ctx ends.
func (n *Notify) Close(ctx context.Context) error {
	close(n.queue)
	var err error
	select {
	case <-n.done:
	case <-ctx.Done():
		err = fmt.Errorf("events for the predecessor's service: %w", context.Cause(ctx))
	}
	n.cancel()
	<-n.done
	return errors.Join(err, n.conn.Close())
}
