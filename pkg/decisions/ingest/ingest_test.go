package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// service is a running ingest with a store of its own.
type service struct {
	t       *testing.T
	store   *store.Store
	metrics *prometheus.Registry
	address string
	broken  *breakable
}

// breakable is a store that can fail.
type breakable struct {
	ingest.Store

	mu  sync.Mutex
	err error
}

func (b *breakable) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *breakable) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *breakable) SaveDecisions(ctx context.Context, now time.Time, batch []store.Decision) (store.Saved, error) {
	if err := b.failure(); err != nil {
		return store.Saved{}, err
	}
	return b.Store.SaveDecisions(ctx, now, batch)
}

func start(t *testing.T, tls *ingest.TLS) *service {
	t.Helper()
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	if tls != nil {
		address = "127.0.0.1:0"
	}
	ln, err := ingest.Listen(t.Context(), address, tls != nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	out := &service{t: t, store: s, metrics: prometheus.NewRegistry(), broken: &breakable{Store: s}}
	out.address = "unix:" + ln.Addr().String()
	if tls != nil {
		out.address = ln.Addr().String()
	}
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- ingest.Serve(ctx, ingest.Options{
			Store: out.broken, Clock: clocktesting.NewFakePassiveClock(now()), Registerer: out.metrics, Listener: ln, TLS: tls,
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	})
	return out
}

func now() time.Time { return storetest.Epoch().Add(time.Hour) }

func (s *service) dial(transport credentials.TransportCredentials) *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(transport))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (s *service) stream() grpc.BidiStreamingClient[tracev1.IngestRequest, tracev1.IngestResponse] {
	s.t.Helper()
	stream, err := tracev1.NewDecisionServiceClient(s.dial(insecure.NewCredentials())).Ingest(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return stream
}

// send sends a batch and waits for its acknowledgement.
func (s *service) send(
	stream grpc.BidiStreamingClient[tracev1.IngestRequest, tracev1.IngestResponse], batch uint64, records ...*tracev1.Record,
) (*tracev1.IngestResponse, error) {
	if err := stream.Send(&tracev1.IngestRequest{Batch: batch, Records: records}); err != nil {
		return nil, err
	}
	return stream.Recv()
}

func wire(records ...*trace.Record) []*tracev1.Record {
	var out []*tracev1.Record
	for _, r := range records {
		out = append(out, tracewire.FromRecord(r))
	}
	return out
}

func (s *service) count() int {
	s.t.Helper()
	rows, err := s.store.List(s.t.Context(), store.Filter{Limit: 100000})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(rows)
}

func TestBatchesAreAcknowledgedOnceTheyAreStored(t *testing.T) {
	s := start(t, nil)
	stream := s.stream()
	for batch := range 10 {
		first := batch*5 + 1
		answer, err := s.send(stream, uint64(batch+1), wire(storetest.Bound("a", first), storetest.Bound("a", first+1), storetest.Bound("a", first+2))...)
		if err != nil {
			t.Fatal(err)
		}
		if answer.GetAcknowledgedBatch() != uint64(batch+1) || len(answer.GetRefused()) != 0 || s.count() != 3*(batch+1) {
			t.Fatalf("batch %d: answer %v with %d records stored", batch+1, answer, s.count())
		}
	}
	// The client did not get the last answers, and sends again on another stream.
	if answer, err := s.send(s.stream(), 1, wire(storetest.Bound("a", 1), storetest.Bound("a", 99))...); err != nil || answer.GetAcknowledgedBatch() != 1 {
		t.Fatalf("again: %v, %v", answer, err)
	}
	if got := s.count(); got != 31 {
		t.Errorf("%d records, want 31", got)
	}
}

// TestAClientThatSendsAhead: a hundred batches without waiting; the last acknowledgement covers them all.
func TestAClientThatSendsAhead(t *testing.T) {
	s := start(t, nil)
	stream := s.stream()
	for batch := range 100 {
		if err := stream.Send(&tracev1.IngestRequest{Batch: uint64(batch + 1), Records: wire(storetest.Bound("ahead", batch+1))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var last uint64
	for last < 100 {
		answer, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if answer.GetAcknowledgedBatch() <= last {
			t.Errorf("acknowledged %d after %d", answer.GetAcknowledgedBatch(), last)
		}
		last = answer.GetAcknowledgedBatch()
	}
	if got := s.count(); got != 100 {
		t.Errorf("%d records, want 100", got)
	}
}

func TestRecordsThatAreRefused(t *testing.T) {
	s := start(t, nil)
	newer, nameless, good := storetest.Bound("r", 1), storetest.Bound("r", 2), storetest.Bound("r", 3)
	newer.Version = trace.SchemaVersion + 1
	nameless.Pod.UID = ""
	answer, err := s.send(s.stream(), 1, wire(newer, nameless, good)...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, refused := range answer.GetRefused() {
		got = append(got, fmt.Sprintf("%s/%d: %.16s", refused.GetSession(), refused.GetSequence(), refused.GetReason()))
	}
	if diff := cmp.Diff([]string{"r/1: record of a newe", "r/2: invalid record: "}, got); diff != "" {
		t.Errorf("refused (-want +got)\n%s", diff)
	}
	if s.count() != 1 {
		t.Errorf("%d records are stored, want the good one", s.count())
	}
	const counted = `
# HELP vicinity_sniffer_refused_records_total Decision records that were refused: reason is invalid, newer-version (update the service) or too-large.
# TYPE vicinity_sniffer_refused_records_total counter
vicinity_sniffer_refused_records_total{reason="invalid"} 1
vicinity_sniffer_refused_records_total{reason="newer-version"} 1
`
	if err := testutil.GatherAndCompare(s.metrics, strings.NewReader(counted), "vicinity_sniffer_refused_records_total"); err != nil {
		t.Error(err)
	}
}

// TestFieldsOfANewerWriter: a field that this version does not know is stored with the record.
func TestFieldsOfANewerWriter(t *testing.T) {
	s := start(t, nil)
	message := wire(storetest.Bound("newer", 1))[0]
	unknown := protowire.AppendString(protowire.AppendTag(nil, 999, protowire.BytesType), "from the future")
	message.ProtoReflect().SetUnknown(unknown)
	if _, err := s.send(s.stream(), 1, message); err != nil {
		t.Fatal(err)
	}
	row, err := s.store.BySequence(t.Context(), "newer", 1)
	if err != nil {
		t.Fatal(err)
	}
	var stored tracev1.Record
	if err := proto.Unmarshal(row.Payload, &stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(unknown, []byte(stored.ProtoReflect().GetUnknown())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestARecordOfTenMegabytes(t *testing.T) {
	s := start(t, nil)
	huge := storetest.Bound("huge", 1)
	huge.Message = strings.Repeat("x", 10<<20)
	_, err := s.send(s.stream(), 1, wire(huge)...)
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("10 MB: %v, want ResourceExhausted", err)
	}
	large := storetest.Bound("large", 1)
	large.Message = strings.Repeat("x", trace.MaxMatrixRecordBytes+1)
	answer, err := s.send(s.stream(), 1, wire(large, storetest.Bound("large", 2))...)
	if err != nil || len(answer.GetRefused()) != 1 || s.count() != 1 {
		t.Errorf("above the largest record: %v, %v with %d stored; want it refused and its neighbour stored", answer.GetRefused(), err, s.count())
	}
}

func TestBatchesOutOfOrder(t *testing.T) {
	s := start(t, nil)
	if _, err := s.send(s.stream(), 2, wire(storetest.Bound("o", 1))...); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a stream that begins with batch 2: %v, want InvalidArgument", err)
	}
	if s.count() != 0 {
		t.Error("it was stored all the same")
	}
}

func TestNothingIsAcknowledgedThatIsNotStored(t *testing.T) {
	s := start(t, nil)
	s.broken.fail(errors.New("disk full"))
	if answer, err := s.send(s.stream(), 1, wire(storetest.Bound("f", 1))...); status.Code(err) != codes.Unavailable {
		t.Errorf("while the disk is full: %v, %v; want Unavailable", answer, err)
	}
	s.broken.fail(nil)
	if answer, err := s.send(s.stream(), 1, wire(storetest.Bound("f", 1))...); err != nil || answer.GetAcknowledgedBatch() != 1 {
		t.Errorf("after that: %v, %v", answer, err)
	}
	if s.count() != 1 {
		t.Errorf("%d records, want one", s.count())
	}
}

// TestOldClients: what the predecessor's notifier and its scheduler send, twice because a hook may be run again.
func TestOldClients(t *testing.T) {
	s := start(t, nil)
	client := tracev1.NewSnifferServiceClient(s.dial(insecure.NewCredentials()))
	for range 2 {
		for _, r := range []*tracev1.SendRequest{
			{Endpoint: "schedulePod", Pod: "job-1-x", Node: "n3", Event: "ScheduleSuccess", Timestamp: "2030-01-01 10:00:00.123456789 +0000 UTC m=+9.5"},
			{Endpoint: "postStart", Pod: "job-1-x", Node: "n3", Event: "postStart", Timestamp: "2030-01-01 10:00:01 +0000 UTC"},
			{Endpoint: "preStop", Pod: "job-1-x", Event: "preStop", Timestamp: "yesterday", Payload: `{"namespace":"team","uid":"u","message":"<b>bye</b>"}`},
		} {
			if _, err := client.Send(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	events, err := s.store.Events(t.Context(), store.EventFilter{Name: "job-1-x", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []trace.Event
	for _, e := range events {
		got = append(got, e.Event)
	}
	want := []trace.Event{
		{Object: "Pod", Name: "job-1-x", Namespace: "team", UID: "u", Endpoint: "preStop", Event: "preStop", Message: "<b>bye</b>", Time: now()},
		{Object: "Pod", Name: "job-1-x", Endpoint: "postStart", Node: "n3", Event: "postStart", Time: storetest.Epoch().Add(time.Second)},
		{Object: "Pod", Name: "job-1-x", Endpoint: "schedulePod", Node: "n3", Event: "ScheduleSuccess", Time: storetest.Epoch().Add(123456789)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, r := range map[string]*tracev1.SendRequest{
		"no pod":   {Endpoint: "preStop"},
		"nothing":  {Pod: "p"},
		"too long": {Pod: strings.Repeat("p", 5000), Event: "e"},
	} {
		if _, err := client.Send(t.Context(), r); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, want InvalidArgument", name, err)
		}
	}
}

func TestManyOldClientsAtOnce(t *testing.T) {
	s := start(t, nil)
	client := tracev1.NewSnifferServiceClient(s.dial(insecure.NewCredentials()))
	var group sync.WaitGroup
	for n := range 500 {
		group.Go(func() {
			r := &tracev1.SendRequest{Endpoint: "preStop", Pod: fmt.Sprint("pod-", n), Event: "preStop", Timestamp: "2030-01-01 10:00:01 +0000 UTC"}
			if _, err := client.Send(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	events, err := s.store.Events(t.Context(), store.EventFilter{Limit: 1000})
	if err != nil || len(events) != 500 {
		t.Errorf("%d events, %v; want 500", len(events), err)
	}
}

func TestListenRefusesWhatAnybodyCouldWriteTo(t *testing.T) {
	if ln, err := ingest.Listen(t.Context(), "0.0.0.0:0", false); err == nil {
		_ = ln.Close()
		t.Error("all interfaces without TLS: want an error")
	}
	for _, address := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		ln, err := ingest.Listen(t.Context(), address, false)
		if err != nil {
			t.Fatal(err)
		}
		_ = ln.Close()
	}
}

// TestASocketThatWasLeftBehind: closing the file descriptor only, as the end of a process does, leaves the path.
func TestASocketThatWasLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	ln, err := ingest.Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
}
