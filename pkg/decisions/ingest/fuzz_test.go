package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
	clocktesting "k8s.io/utils/clock/testing"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

// counting is a store that only counts.
type counting struct{ decisions, events int }

func (c *counting) SaveDecisions(_ context.Context, _ time.Time, batch []store.Decision) (store.Saved, error) {
	c.decisions += len(batch)
	return store.Saved{Inserted: len(batch)}, nil
}

func (c *counting) SaveEvents(_ context.Context, _ time.Time, events []store.Event) (int, error) {
	c.events += len(events)
	return len(events), nil
}

// FuzzIngest: of any message, each record is stored or refused, and only valid ones are stored.
func FuzzIngest(f *testing.F) {
	good, err := proto.Marshal(&tracev1.IngestRequest{Batch: 1, Records: []*tracev1.Record{
		{Version: 1, Session: "s", Sequence: 1, Kind: "Attempt", Pod: &tracev1.Pod{Namespace: "n", Name: "p", Uid: "u"}}, {},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, message []byte) {
		var request tracev1.IngestRequest
		if proto.Unmarshal(message, &request) != nil {
			return
		}
		m, err := newMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		c := &counting{}
		d := &decisions{store: c, clock: clocktesting.NewFakePassiveClock(time.Unix(1e9, 0)), metrics: m}
		answer, err := d.save(t.Context(), request.GetBatch()-1, []*tracev1.IngestRequest{&request})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.decisions + len(answer.GetRefused()); got != len(request.GetRecords()) && len(answer.GetRefused()) < maxRefusals {
			t.Errorf("%d records are stored or refused, want %d", got, len(request.GetRecords()))
		}
	})
}

// FuzzEvent: whatever an old client sends is an event about a pod, or refused.
func FuzzEvent(f *testing.F) {
	f.Add("schedulePod", "p", "n", "ScheduleSuccess", "", "2030-01-01 10:00:00.123456789 +0000 UTC m=+9.5")
	f.Add("preStop", "p", "", "", `{"namespace":"team"}`, "yesterday")
	f.Fuzz(func(t *testing.T, endpoint, pod, node, event, payload, timestamp string) {
		e := &events{clock: clocktesting.NewFakePassiveClock(time.Unix(1e9, 0))}
		r := &tracev1.SendRequest{Endpoint: endpoint, Pod: pod, Node: node, Event: event, Payload: payload, Timestamp: timestamp}
		got, err := e.event(r)
		if err != nil {
			return
		}
		again, err := e.event(r)
		if got.Object != "Pod" || got.Name != pod || got.Identity == "" || err != nil || again.Identity != got.Identity {
			t.Errorf("found %+v and %+v, %v", got, again, err)
		}
		if !got.Time.IsZero() && got.Time.Format(time.RFC3339Nano) == "" {
			t.Error("a time that cannot be written")
		}
	})
}
