package tracesink

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func testMetrics(t *testing.T) *Metrics {
	t.Helper()
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func bound(pod string, sequence uint64) *trace.Record {
	start := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	return &trace.Record{
		Version: 1, Session: "s", Sequence: sequence, Kind: trace.KindAttempt, Attempt: 1, Outcome: trace.OutcomeBound, Node: "n3",
		Pod: trace.Pod{Namespace: "team", Name: pod, UID: "uid-" + pod}, Start: start, End: start.Add(time.Second),
		Phases: []trace.Phase{
			{Name: "Filter", Offset: 100 * time.Millisecond, Duration: 200 * time.Millisecond},
			{Name: "Bind", Offset: 700 * time.Millisecond, Duration: 300 * time.Millisecond},
		},
	}
}

func TestFileSinkRotates(t *testing.T) {
	dir := t.TempDir()
	metrics := testMetrics(t)
	sink := NewFile(ktesting.NewLogger(t, ktesting.DefaultConfig), &configv1.SnifferFileSink{
		Path: filepath.Join(dir, "decisions.jsonl"), MaxSizeMiB: 1, MaxBackups: 100,
	}, metrics)
	const n = 4000 // of some 600 bytes: more than two files of 1 MiB
	for i := range n {
		record := bound("p", uint64(i+1))
		record.Message = strings.Repeat("m", 300)
		sink.Write(record)
	}
	if err := sink.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "decisions*"))
	if err != nil || len(files) < 3 {
		t.Errorf("found files %v, %v; want at least 3", files, err)
	}
	seen := map[uint64]bool{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := trace.NewLines(file); ; {
			record, err := trace.ReadRecord(lines)
			if err == io.EOF { //nolint:errorlint // as documented
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			seen[record.Sequence] = true
		}
		file.Close()
	}
	if len(seen) != n {
		t.Errorf("%d records are in the files, want %d", len(seen), n)
	}
}

func TestFileSinkOnAFullDisk(t *testing.T) {
	metrics := testMetrics(t)
	sink := NewFile(ktesting.NewLogger(t, ktesting.DefaultConfig), &configv1.SnifferFileSink{
		Path: filepath.Join(t.TempDir(), "no", "such"), MaxSizeMiB: 1, MaxBackups: 1,
	}, metrics)
	sink.out = fullDisk{}
	sink.Write(bound("p", 1))
	sink.Write(bound("p", 2))
	if lost := testutil.ToFloat64(metrics.lost.WithLabelValues("file", "error")); lost != 2 {
		t.Errorf("%v are counted as lost, want 2", lost)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (fullDisk) Close() error              { return nil }

// oldService takes calls on the predecessor's wire and keeps the bytes, without this module's messages.
type oldService struct {
	calls chan map[protowire.Number]string
}

func (o *oldService) serve(t *testing.T) (address string, stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "api.SnifferService", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Send",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var message []byte
			if err := decode(&message); err != nil {
				return nil, err
			}
			o.calls <- fieldsOf(message)
			return &[]byte{}, nil
		},
	}}}, o)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	return listener.Addr().String(), func() { server.Stop(); <-done }
}

// rawCodec leaves messages as they are on the wire.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = slices.Clone(data); return nil }
func (rawCodec) Name() string                       { return "proto" }

func fieldsOf(message []byte) map[protowire.Number]string {
	out := map[protowire.Number]string{}
	for len(message) > 0 {
		number, _, n := protowire.ConsumeTag(message)
		value, m := protowire.ConsumeString(message[n:])
		out[number] = value
		message = message[n+m:]
	}
	return out
}

// TestTheOldWire: method and field numbers are those of the predecessor's sniffer.proto: endpoint 1, pod 2, node 3,
// event 4, payload 5, timestamp 6.
func TestTheOldWire(t *testing.T) {
	defer noLeaks(t)
	old := &oldService{calls: make(chan map[protowire.Number]string, 10)}
	address, stop := old.serve(t)
	sink, err := NewNotify(klog.NewContext(context.WithoutCancel(t.Context()), ktesting.NewLogger(t, ktesting.DefaultConfig)),
		&configv1.SnifferNotifySink{Address: address}, testMetrics(t))
	if err != nil {
		t.Fatal(err)
	}
	sink.Write(bound("job-1-x", 1))
	trial := bound("trial", 2)
	trial.Tentative = true
	sink.Write(trial)
	undone := bound("undone", 3)
	undone.Outcome = trace.OutcomeError
	sink.Write(undone)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := sink.Close(ctx); err != nil {
		t.Error(err)
	}
	stop()
	close(old.calls)
	var got []map[protowire.Number]string
	for call := range old.calls {
		got = append(got, call)
	}
	payload := func(pod string) string { return `{"namespace":"team","uid":"uid-` + pod + `"}` }
	want := []map[protowire.Number]string{
		{1: "schedulePod", 2: "job-1-x", 3: "n3", 4: "ScheduleSuccess", 5: payload("job-1-x"), 6: "2030-01-01 10:00:00.3 +0000 UTC"},
		{1: "bindingCycle", 2: "job-1-x", 3: "n3", 4: "BindingSuccess", 5: payload("job-1-x"), 6: "2030-01-01 10:00:01 +0000 UTC"},
		{1: "schedulePod", 2: "undone", 3: "n3", 4: "ScheduleSuccess", 5: payload("undone"), 6: "2030-01-01 10:00:00.3 +0000 UTC"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNotifyWithoutAService(t *testing.T) {
	defer noLeaks(t)
	metrics := testMetrics(t)
	sink, err := NewNotify(klog.NewContext(context.WithoutCancel(t.Context()), ktesting.NewLogger(t, ktesting.DefaultConfig)),
		&configv1.SnifferNotifySink{Address: "127.0.0.1:1"}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	for i := range notifyQueue {
		sink.Write(bound("p", uint64(i+1))) // two events each: half of them have no room, or fail
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := sink.Close(ctx); err != nil {
		t.Error(err)
	}
	lost := testutil.ToFloat64(metrics.lost.WithLabelValues(notifySink, "queue full")) +
		testutil.ToFloat64(metrics.lost.WithLabelValues(notifySink, "receiver"))
	if lost != 2*notifyQueue {
		t.Errorf("%v events are counted as lost, want %d", lost, 2*notifyQueue)
	}
}

func TestLiveServesTheLatest(t *testing.T) {
	defer noLeaks(t)
	socket := filepath.Join(folder(t), "live")
	logger := ktesting.NewLogger(t, ktesting.DefaultConfig)
	if err := os.WriteFile(socket+".other", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sink, err := NewLive(klog.NewContext(t.Context(), logger), &configv1.SnifferLiveSink{Socket: socket, Records: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, pod := range []string{"a", "b", "c", "b", "d"} {
		sink.Write(bound(pod, uint64(i+1)))
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v; want that only its owner may open it", info.Mode(), err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	get := func(query string) (status int, sequences []uint64) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://live/v1/records?"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		for lines := bufio.NewScanner(response.Body); response.StatusCode == http.StatusOK && lines.Scan(); {
			var record trace.Record
			if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
				t.Fatal(err)
			}
			sequences = append(sequences, record.Sequence)
		}
		return response.StatusCode, sequences
	}
	for query, want := range map[string][]uint64{
		"": {3, 4, 5}, "limit=1": {5}, "pod=b&namespace=team": {4}, "pod=uid-d": {5}, "namespace=other": nil,
	} {
		if status, got := get(query); status != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("GET %q: %d, records %v; want %v", query, status, got, want)
		}
	}
	if status, _ := get("limit=all"); status != http.StatusBadRequest {
		t.Errorf("a wrong limit: %d, want 400", status)
	}
	transport.CloseIdleConnections()
	if err := sink.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestASpanForEachAttemptAndPhase(t *testing.T) {
	exported := tracetest.NewInMemoryExporter()
	sink := newTracing(t.Context(), "host", 100, sdktrace.WithSyncer(exported), testMetrics(t))
	sink.Write(bound("p", 1))
	sink.Write(&trace.Record{Kind: trace.KindVictims})
	spans := exported.GetSpans()
	var got []string
	for _, span := range spans {
		got = append(got, fmt.Sprint(span.Name, " ", span.StartTime.Format("05.000"), "-", span.EndTime.Format("05.000"), " ", span.Parent.IsValid()))
	}
	want := []string{"Filter 00.100-00.300 true", "Bind 00.700-01.000 true", "schedule pod 00.000-01.000 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if err := sink.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
