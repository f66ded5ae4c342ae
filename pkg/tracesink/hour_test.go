package tracesink

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

// ordinary is a record as the default profile makes them in a large cluster: ten scoring plugins, the five best nodes,
// four reasons.
func ordinary() *trace.Record {
	r := bound("web-7d4b9c6f5d-x2x8q", 123456)
	r.Session, r.Scheduler, r.Profile = "UYRF4NCTFIUEC4DHMJVQIN5AIE", "vicinity-scheduler-6f7c9d8b4-abcde", "vicinity-scheduler"
	r.Pod.UID = "818c074f-ae83-44ba-9131-2ea3bc72ea31"
	r.Pod.Owner = &trace.Owner{Kind: "ReplicaSet", Name: "web-7d4b9c6f5d", UID: "0e0b4b0e-2d2f-4bb5-8f1c-6a1f2f6d8c11"}
	r.Found, r.Queued, r.FirstAttempt, r.QueueWait = trace.FoundScored, r.Start, r.Start, time.Millisecond
	r.Nodes = trace.NodeCounts{Total: 5000, Rejected: 1200, Feasible: 500, NotEvaluated: 3300}
	r.Scores = &trace.Scores{RunnerUp: "ip-10-0-12-34.eu-central-1.compute.internal", Margin: 12}
	for _, name := range []string{"PreFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind"} {
		r.Phases = append(r.Phases, trace.Phase{Name: name, Offset: time.Millisecond, Duration: time.Millisecond})
	}
	for i := range 10 {
		r.Scores.Plugins = append(r.Scores.Plugins, trace.ScorePlugin{Name: fmt.Sprint("NodeResourcesFit", i), Weight: 10})
	}
	for i := range 5 {
		node := trace.NodeScore{Node: fmt.Sprintf("ip-10-0-12-%d.eu-central-1.compute.internal", i), Total: 1500}
		for range 10 {
			node.Raw, node.Normalised, node.Weighted = append(node.Raw, 90), append(node.Normalised, 90), append(node.Weighted, 900)
		}
		r.Scores.Top = append(r.Scores.Top, node)
	}
	for range 4 {
		r.Rejections = append(r.Rejections, trace.Rejection{
			Plugin: "NodeResourcesFit", Reason: "Insufficient memory", Stage: "Filter", Nodes: 300,
			Sample: []string{r.Scores.Top[0].Node, r.Scores.Top[1].Node, r.Scores.Top[2].Node},
		})
	}
	return r
}

// TestAnHourWithoutTheServiceFitsIntoTheSpool, at 300 pods a second and the default size.
func TestAnHourWithoutTheServiceFitsIntoTheSpool(t *testing.T) {
	entry, err := proto.Marshal(tracewire.FromRecord(ordinary()))
	if err != nil {
		t.Fatal(err)
	}
	args := &configv1.SnifferArgs{Sinks: configv1.SnifferSinks{Service: &configv1.SnifferServiceSink{}}}
	configv1.SetDefaults_SnifferArgs(args)
	have, need := int64(args.Sinks.Service.SpoolMaxMiB)<<20, int64(3600*300*(len(entry)+entryHeader))
	t.Logf("a record has %d bytes, an hour of them %d MiB", len(entry), need>>20)
	if need > have {
		t.Errorf("an hour needs %d MiB, the spool has %d", need>>20, have>>20)
	}
}

// BenchmarkSpool is what a record costs the scheduler on its way to disk.
func BenchmarkSpool(b *testing.B) {
	s, err := openSpool(b.TempDir(), 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		b.Fatal(err)
	}
	stream := &Stream{spool: s, metrics: metrics}
	record := ordinary()
	b.ReportAllocs()
	for b.Loop() {
		stream.Write(record)
	}
}
