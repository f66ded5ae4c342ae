package tracesink

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// service is a decision service in memory.
type service struct {
	tracev1.UnimplementedDecisionServiceServer

	mu     sync.Mutex
	stored map[uint64]int // by sequence: how often it came
	order  []uint64
	// fail is asked before a batch is acknowledged; an error ends the stream as a killed service does.
	fail func(batch uint64) error
	// refuse lists sequences that are not stored.
	refuse []uint64
	delay  time.Duration
}

func (s *service) Ingest(stream tracev1.DecisionService_IngestServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		response := &tracev1.IngestResponse{AcknowledgedBatch: request.GetBatch()}
		s.mu.Lock()
		for _, r := range request.GetRecords() {
			if slices.Contains(s.refuse, r.GetSequence()) {
				response.Refused = append(response.Refused, &tracev1.RefusedRecord{Session: r.GetSession(), Sequence: r.GetSequence(), Reason: "no"})
				continue
			}
			s.stored[r.GetSequence()]++
			s.order = append(s.order, r.GetSequence())
		}
		fail, delay := s.fail, s.delay
		s.mu.Unlock()
		time.Sleep(delay)
		if fail != nil {
			if err := fail(request.GetBatch()); err != nil {
				return err
			}
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)
}

// serve listens on a socket until the test ends or stop is called.
func (s *service) serve(t *testing.T, socket string) (stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	tracev1.RegisterDecisionServiceServer(server, s)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	var once sync.Once
	stop = func() { once.Do(func() { server.Stop(); <-done }) }
	t.Cleanup(stop)
	return stop
}

// noLeaks looks for goroutines that are left. lumberjack keeps one for each file that it has rotated, to the end of the
// process.
func noLeaks(t *testing.T) {
	t.Helper()
	goleak.VerifyNone(t, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

func newService() *service { return &service{stored: map[uint64]int{}} }

type streamRig struct {
	*Stream
	metrics *Metrics
	next    uint64
}

// folder is short: the path of a socket is limited to some hundred bytes.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newStream(t *testing.T, dir string) *streamRig {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := NewStream(klog.NewContext(ctx, ktesting.NewLogger(t, ktesting.DefaultConfig)), &configv1.SnifferServiceSink{
		Address: "unix:" + filepath.Join(dir, "s"), SpoolDirectory: filepath.Join(dir, "spool"), SpoolMaxMiB: 16,
	}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	return &streamRig{Stream: stream, metrics: metrics}
}

func (r *streamRig) write(n int) {
	for range n {
		r.next++
		r.Write(&trace.Record{
			Version: 1, Session: "s", Sequence: r.next, Kind: trace.KindAttempt, Attempt: 1,
			Pod: trace.Pod{Namespace: "'; DROP TABLE", Name: "<script>", UID: "u"},
		})
	}
}

func (r *streamRig) end(t *testing.T, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), within)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 15 s: %s", what)
}

func TestRecordsAreDeliveredInOrder(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	stop := s.serve(t, filepath.Join(dir, "s"))
	r := newStream(t, dir)
	r.write(3000)
	r.end(t, time.Minute)
	stop()
	if !slices.IsSorted(s.order) || len(s.order) != 3000 {
		t.Errorf("%d records arrived, sorted: %v", len(s.order), slices.IsSorted(s.order))
	}
	if acked := testutil.ToFloat64(r.metrics.acked); acked != 3000 {
		t.Errorf("%v are counted as acknowledged", acked)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "spool")); err != nil || len(left) != 0 {
		t.Errorf("%d files are left in the spool, %v", len(left), err)
	}
}

// TestTheServiceIsAway at the start, comes, is killed while records are made, and comes again.
func TestTheServiceIsAway(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	r := newStream(t, dir)
	r.write(500)
	eventually(t, "records are on disk", func() bool { return testutil.ToFloat64(r.metrics.spooled) > 0 })
	stop := s.serve(t, filepath.Join(dir, "s"))
	eventually(t, "the first 500 are delivered", func() bool { return s.count() == 500 })
	stop()
	r.write(700)
	stop = s.serve(t, filepath.Join(dir, "s"))
	r.end(t, time.Minute)
	stop()
	if n := s.count(); n != 1200 {
		t.Errorf("%d records arrived, want 1200", n)
	}
	if lost := testutil.CollectAndCount(r.metrics.lost); lost != 0 {
		t.Errorf("%d kinds of loss are counted", lost)
	}
}

// TestAKilledServiceGetsUnacknowledgedRecordsAgain: it takes a batch and dies before it says so, several times.
func TestAKilledServiceGetsUnacknowledgedRecordsAgain(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	deaths := 0
	s.fail = func(batch uint64) error {
		if batch == 2 && deaths < 3 {
			deaths++
			return errors.New("killed")
		}
		return nil
	}
	stop := s.serve(t, filepath.Join(dir, "s"))
	r := newStream(t, dir)
	r.write(5 * batchEntries)
	r.end(t, time.Minute)
	stop()
	repeated := 0
	for sequence := uint64(1); sequence <= 5*batchEntries; sequence++ {
		if s.stored[sequence] == 0 {
			t.Fatalf("record %d never arrived", sequence)
		}
		repeated = max(repeated, s.stored[sequence])
	}
	if deaths == 0 || repeated < 2 {
		t.Errorf("the service died %d times, a record came %d times at most: nothing was tried", deaths, repeated)
	}
}

// TestTheSchedulerEndsWhileTheServiceIsAway: the next process delivers what the first one left.
func TestTheSchedulerEndsWhileTheServiceIsAway(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	first := newStream(t, dir)
	first.write(300)
	first.end(t, 10*time.Millisecond)
	stop := s.serve(t, filepath.Join(dir, "s"))
	second := newStream(t, dir)
	second.next = 300
	second.write(1)
	second.end(t, time.Minute)
	stop()
	if n := s.count(); n != 301 {
		t.Errorf("%d records arrived, want 301", n)
	}
}

// TestASlowService holds up nobody: writing 4,000 records takes far less than the service needs for them.
func TestASlowService(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	s.delay = 100 * time.Millisecond
	stop := s.serve(t, filepath.Join(dir, "s"))
	r := newStream(t, dir)
	r.write(4000)
	if n := s.count(); n == 4000 {
		t.Error("the service had everything when writing was done: it was not slow")
	}
	r.end(t, time.Minute)
	stop()
	if n := s.count(); n != 4000 {
		t.Errorf("%d records arrived, want 4000", n)
	}
}

func TestRefusedRecordsAreNotSentForEver(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	s.refuse = []uint64{2, 5}
	stop := s.serve(t, filepath.Join(dir, "s"))
	r := newStream(t, dir)
	r.write(10)
	r.end(t, time.Minute)
	stop()
	if lost := testutil.ToFloat64(r.metrics.lost.WithLabelValues(streamSink, "refused")); lost != 2 || s.count() != 8 {
		t.Errorf("%v are counted as refused and %d arrived, want 2 and 8", lost, s.count())
	}
}

// TestWhatTheSpoolHoldsThatIsNoRecord is passed over.
func TestWhatTheSpoolHoldsThatIsNoRecord(t *testing.T) {
	defer noLeaks(t)
	dir, s := folder(t), newService()
	before := newSpool(t, filepath.Join(dir, "spool"), 1<<20)
	put(t, before, "\xff\xff\xff")
	if err := before.close(place{}); err != nil {
		t.Fatal(err)
	}
	stop := s.serve(t, filepath.Join(dir, "s"))
	r := newStream(t, dir)
	r.write(1)
	r.end(t, time.Minute)
	stop()
	if corrupt := testutil.ToFloat64(r.metrics.corrupt); corrupt != 1 || s.count() != 1 {
		t.Errorf("%v corrupt entries, %d records; want 1 and 1", corrupt, s.count())
	}
}

func TestARecordBeyondAllBoundsIsNotSent(t *testing.T) {
	defer noLeaks(t)
	r := newStream(t, folder(t))
	r.Write(&trace.Record{Message: string(make([]byte, 10<<20))})
	r.end(t, 10*time.Millisecond)
	if lost := testutil.ToFloat64(r.metrics.lost.WithLabelValues(streamSink, "too large")); lost != 1 {
		t.Errorf("%v are counted as too large, want 1", lost)
	}
}
