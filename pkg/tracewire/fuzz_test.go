package tracewire_test

import (
	"encoding/json"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

// FuzzToRecord: whatever bytes arrive, a record that is found to be valid can be written as JSON and sent on.
func FuzzToRecord(f *testing.F) {
	for _, value := range []float64{1, math.NaN(), math.Inf(-1)} {
		seed, err := proto.Marshal(tracewire.FromRecord(&trace.Record{
			Version: 1, Session: "s", Sequence: 1, Kind: trace.KindAttempt, Pod: trace.Pod{UID: "u"},
			Scores: &trace.Scores{Top: []trace.NodeScore{{Node: "n", Terms: []trace.PluginTerms{{Terms: []trace.Term{{Value: value}}}}}}},
		}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Add([]byte{0x12, 0x01, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var message tracev1.Record
		if proto.Unmarshal(data, &message) != nil {
			return
		}
		record := tracewire.ToRecord(&message)
		if record.Validate() != nil {
			return
		}
		if _, err := json.Marshal(record); err != nil {
			t.Errorf("a valid record has no JSON form: %v", err)
		}
		if _, err := proto.Marshal(tracewire.FromRecord(&record)); err != nil {
			t.Errorf("a valid record cannot be sent on: %v", err)
		}
	})
}
