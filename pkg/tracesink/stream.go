package tracesink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

const (
	// A batch is what one message carries. Messages stay below gRPC's usual limit of 4 MiB.
	batchEntries, batchBytes = 256, 2 << 20
	// window is how many batches may be under way.
	window = 8
	// flushInterval is how long a record may wait in memory. It bounds what a killed scheduler loses.
	flushInterval = 50 * time.Millisecond
	// The pause between attempts to reach the service doubles from one to the other.
	minPause, maxPause = 250 * time.Millisecond, 15 * time.Second
)

const streamSink = "service"

// Stream sends records to a vicinity-sniffer. Each goes to disk first and is deleted there when the service has
// acknowledged it, so what it misses is delivered later: after the service was away, and after this process was.
type Stream struct {
	spool   *spool
	conn    *grpc.ClientConn
	client  tracev1.DecisionServiceClient
	address string
	metrics *Metrics
	logger  logr.Logger
	disk    health
	buffer  []byte

	cancel    context.CancelFunc
	done      chan struct{}
	mu        sync.Mutex
	delivered place         // behind the last acknowledged record
	progress  chan struct{} // closed and replaced when delivered moves
}

// NewStream opens the spool and begins to send. The goroutines end with ctx, or with Close.
func NewStream(ctx context.Context, args *configv1.SnifferServiceSink, metrics *Metrics) (*Stream, error) {
	credentials, err := transport(args)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(args.Address, grpc.WithTransportCredentials(credentials))
	if err != nil {
		return nil, fmt.Errorf("connection to the decision service: %w", err)
	}
	sp, err := openSpool(args.SpoolDirectory, int64(args.SpoolMaxMiB)<<20)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{
		spool: sp, conn: conn, client: tracev1.NewDecisionServiceClient(conn), address: args.Address, metrics: metrics,
		logger: klog.FromContext(ctx), cancel: cancel, done: make(chan struct{}), delivered: sp.first(), progress: make(chan struct{}),
	}
	go s.run(ctx)
	return s, nil
}

// Write puts the record into the spool.
func (s *Stream) Write(record *trace.Record) {
	entry, err := proto.MarshalOptions{}.MarshalAppend(s.buffer[:0], tracewire.FromRecord(record))
	if err != nil || len(entry) > batchBytes {
		s.metrics.lost.WithLabelValues(streamSink, "too large").Inc()
		return
	}
	s.buffer = entry
	s.spooled(s.spool.append(entry))
	s.metrics.written.WithLabelValues(streamSink).Inc()
}

// spooled counts what came of writing to the spool.
func (s *Stream) spooled(lost int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lost > 0 {
		reason := "spool full"
		if err != nil {
			reason = "disk"
		}
		s.metrics.lost.WithLabelValues(streamSink, reason).Add(float64(lost))
	}
	if s.disk.changed(err) {
		if err != nil {
			s.logger.Error(err, "Decision records cannot be spooled; they are lost until there is room on the disk again")
		} else {
			s.logger.Info("Decision records are spooled again")
		}
	}
}

// run keeps a stream to the service open until ctx ends.
func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	var reach health
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		before := s.deliveredPlace()
		err := s.converse(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.deliveredPlace() != before {
			pause = minPause
		}
		if reach.changed(err) {
			s.logger.Error(err, "The decision service is away; records are kept on disk until it is back", "address", s.address)
		}
		// The spool goes on meanwhile.
		s.wait(ctx, pause)
		reach.failing = s.deliveredPlace() == before
	}
}

// wait flushes the spool until the time is over.
func (s *Stream) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-ticker.C:
			s.flush()
		}
	}
}

func (s *Stream) flush() {
	s.spooled(s.spool.flush())
	s.metrics.spooled.Set(float64(s.spool.bytes()))
}

// sent is a batch under way.
type sent struct {
	number  uint64
	records int
	next    place
}

// converse opens a stream and sends from the first record on that is not acknowledged, until something fails.
func (s *Stream) converse(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.client.Ingest(ctx)
	if err != nil {
		return fmt.Errorf("opening the stream: %w", err)
	}
	underway := make(chan sent, window)
	failed := make(chan error, 1)
	go func() { failed <- s.receive(stream, underway); cancel() }()
	sendErr := s.send(ctx, stream, underway)
	cancel()
	if err := <-failed; err != nil && !errors.Is(err, context.Canceled) {
		return err // what the service said is the cause; that sending failed follows from it
	}
	return sendErr
}

// send sends batches, at most a window ahead of the acknowledgements.
func (s *Stream) send(ctx context.Context, stream tracev1.DecisionService_IngestClient, underway chan<- sent) error {
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	at, number := s.deliveredPlace(), uint64(0)
	for {
		next, err := s.spool.read(at, batchEntries, batchBytes)
		if err != nil {
			return err
		}
		s.metrics.corrupt.Add(float64(next.corrupt))
		if len(next.entries) > 0 {
			number++
			// Before sending: the acknowledgement may be faster than the next line.
			select {
			case underway <- sent{number: number, records: len(next.entries), next: next.next}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := stream.Send(&tracev1.IngestRequest{Batch: number, Records: s.decode(next.entries)}); err != nil {
				return fmt.Errorf("sending records: %w", err)
			}
			at = next.next
			continue
		}
		at = next.next
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			s.flush()
		}
	}
}

// decode turns entries into messages. An entry whose checksum is right and that is no record was written by another
// version of this program.
func (s *Stream) decode(entries [][]byte) []*tracev1.Record {
	records := make([]*tracev1.Record, 0, len(entries))
	for _, entry := range entries {
		record := &tracev1.Record{}
		if err := proto.Unmarshal(entry, record); err != nil {
			s.metrics.corrupt.Inc()
			continue
		}
		records = append(records, record)
	}
	return records
}

// receive takes acknowledgements.
func (s *Stream) receive(stream tracev1.DecisionService_IngestClient, underway <-chan sent) error {
	var oldest sent
	for {
		response, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("waiting for acknowledgements: %w", err)
		}
		for _, refused := range response.GetRefused() {
			s.metrics.lost.WithLabelValues(streamSink, "refused").Inc()
			s.logger.V(2).Info("The decision service refused a record", "sequence", refused.GetSequence(), "reason", refused.GetReason())
		}
		for {
			if oldest.number == 0 {
				select {
				case oldest = <-underway:
				default:
				}
			}
			if oldest.number == 0 || oldest.number > response.GetAcknowledgedBatch() {
				break
			}
			s.acknowledge(oldest)
			oldest = sent{}
		}
	}
}

func (s *Stream) acknowledge(b sent) {
	s.metrics.acked.Add(float64(b.records))
	s.spool.release(b.next)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered = b.next
	close(s.progress)
	s.progress = make(chan struct{})
}

func (s *Stream) deliveredPlace() place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delivered
}

// Close waits until everything is delivered, or ctx ends; then what is left stays on disk for the next process.
func (s *Stream) Close(ctx context.Context) error {
	s.flush()
	for {
		s.mu.Lock()
		delivered, progress := s.delivered, s.progress
		s.mu.Unlock()
		if s.spool.empty(delivered) {
			break
		}
		select {
		case <-progress:
			continue
		case <-ctx.Done():
		}
		break
	}
	s.cancel()
	<-s.done
	return errors.Join(s.spool.close(s.deliveredPlace()), s.conn.Close())
}
