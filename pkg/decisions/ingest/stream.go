package ingest

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

const (
	// maxMessage bounds a batch: one record with a full matrix, and as much again.
	maxMessage = 2 * trace.MaxMatrixRecordBytes
	// ahead is how many batches of one stream may wait, and so how much memory it may take.
	ahead = 8
	// together is how many records of waiting batches are stored in one transaction, about.
	together = 1000
	// maxRefusals bounds an answer; a client that sends nothing but rubbish learns of the first ones.
	maxRefusals = 1000
)

// Store is where decisions and events go.
type Store interface {
	SaveDecisions(ctx context.Context, now time.Time, batch []store.Decision) (store.Saved, error)
	SaveEvents(ctx context.Context, now time.Time, events []store.Event) (int, error)
}

// decisions is the service DecisionService.
type decisions struct {
	tracev1.UnimplementedDecisionServiceServer

	store   Store
	clock   clock.PassiveClock
	metrics *metrics
}

// Ingest stores what the stream brings until the client has no more.
func (d *decisions) Ingest(stream grpc.BidiStreamingServer[tracev1.IngestRequest, tracev1.IngestResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	requests := make(chan *tracev1.IngestRequest, ahead)
	ended := make(chan error, 1)
	// It ends with the stream, which gRPC ends when this function returns.
	go func() {
		defer close(requests)
		ended <- receive(ctx, stream, requests)
	}()
	var last uint64
	for request := range requests {
		batch := []*tracev1.IngestRequest{request}
		for records := len(request.GetRecords()); records < together; {
			next, ok := poll(requests)
			if !ok {
				break
			}
			batch = append(batch, next)
			records += len(next.GetRecords())
		}
		answer, err := d.save(ctx, last, batch)
		if err != nil {
			return err
		}
		last = answer.GetAcknowledgedBatch()
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
	return <-ended
}

// receive passes on what arrives until the client is done.
func receive(
	ctx context.Context, stream grpc.BidiStreamingServer[tracev1.IngestRequest, tracev1.IngestResponse], to chan<- *tracev1.IngestRequest,
) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case to <- request:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// poll takes what is there.
func poll(requests <-chan *tracev1.IngestRequest) (*tracev1.IngestRequest, bool) {
	select {
	case request, ok := <-requests:
		return request, ok
	default:
		return nil, false
	}
}

// save stores batches that follow the one numbered last.
func (d *decisions) save(ctx context.Context, last uint64, requests []*tracev1.IngestRequest) (*tracev1.IngestResponse, error) {
	answer := &tracev1.IngestResponse{AcknowledgedBatch: last}
	var batch []store.Decision
	for _, request := range requests {
		if want := answer.AcknowledgedBatch + 1; request.GetBatch() != want {
			return nil, status.Errorf(codes.InvalidArgument, "want batch %d, found %d: batches of a stream are numbered from 1, without gaps",
				want, request.GetBatch())
		}
		answer.AcknowledgedBatch++
		for _, message := range request.GetRecords() {
			decision, err := d.decode(message)
			if err == nil {
				batch = append(batch, decision)
				continue
			}
			d.metrics.refused.WithLabelValues(refusal(err)).Inc()
			if len(answer.Refused) < maxRefusals {
				answer.Refused = append(answer.Refused, &tracev1.RefusedRecord{
					Session: message.GetSession(), Sequence: message.GetSequence(), Reason: err.Error(),
				})
			}
		}
	}
	if len(batch) == 0 {
		return answer, nil
	}
	began := d.clock.Now()
	saved, err := d.store.SaveDecisions(ctx, began, batch)
	if err != nil {
		d.metrics.failures.Inc()
		klog.FromContext(ctx).Error(err, "Records could not be stored, their sender keeps them", "records", len(batch))
		return nil, status.Error(codes.Unavailable, "the records could not be stored: send them again later")
	}
	d.metrics.saved(saved, d.clock.Since(began))
	return answer, nil
}

// decode checks a record. Its payload is the message as it came, with fields that this version does not know.
func (d *decisions) decode(message *tracev1.Record) (store.Decision, error) {
	record := tracewire.ToRecord(message)
	if err := record.Validate(); err != nil {
		return store.Decision{}, err
	}
	payload, err := proto.Marshal(message)
	if err != nil {
		return store.Decision{}, err
	}
	if len(payload) > trace.MaxMatrixRecordBytes {
		return store.Decision{}, errTooLarge
	}
	return store.Decision{Record: &record, Payload: payload}, nil
}

// errTooLarge is a refusal.
var errTooLarge = errors.New("the record is larger than the largest that a scheduler writes")

// refusal is the metric's word for a reason.
func refusal(err error) string {
	switch {
	case errors.Is(err, trace.ErrNewerVersion):
		return "newer-version"
	case errors.Is(err, errTooLarge):
		return "too-large"
	default:
		return "invalid"
	}
}
