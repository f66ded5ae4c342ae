package tracewire_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

// fill sets every field below v to something that is not its zero value, so that a field that a conversion forgets is
// one that differs.
func fill(t *testing.T, v reflect.Value, random *rand.Rand) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + random.IntN(26))))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1 + random.Int64N(1<<30))
	case reflect.Uint64:
		v.SetUint(1 + random.Uint64N(1<<30))
	case reflect.Float64:
		v.SetFloat(1 + random.Float64())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), random)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), random)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(random.Int64N(1<<31), random.Int64N(1e9)).UTC()))
			return
		}
		for _, field := range v.Fields() {
			fill(t, field, random)
		}
	default:
		t.Fatalf("no value for a %s: teach it to this test", v.Kind())
	}
}

func TestEveryFieldSurvivesBothForms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want trace.Record
		fill(t, reflect.ValueOf(&want).Elem(), random)

		encoded, err := proto.Marshal(tracewire.FromRecord(&want))
		if err != nil {
			t.Fatal(err)
		}
		var message tracev1.Record
		if err := proto.Unmarshal(encoded, &message); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tracewire.ToRecord(&message)); diff != "" {
			t.Fatalf("protobuf (-want +got):\n%s", diff)
		}

		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got trace.Record
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("JSON (-want +got):\n%s", diff)
		}
	}
}

func TestAnEmptyRecordStaysEmpty(t *testing.T) {
	if diff := cmp.Diff(trace.Record{}, tracewire.ToRecord(tracewire.FromRecord(&trace.Record{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(trace.Record{}, tracewire.ToRecord(nil)); diff != "" {
		t.Errorf("a message that was never sent (-want +got):\n%s", diff)
	}
}

func TestTextThatIsNotUTF8CanBeSent(t *testing.T) {
	record := trace.Record{Message: "bad \xff byte", Pod: trace.Pod{Labels: map[string]string{"k\xff": "v\xff"}}}
	encoded, err := proto.Marshal(tracewire.FromRecord(&record))
	if err != nil {
		t.Fatal(err)
	}
	var message tracev1.Record
	if err := proto.Unmarshal(encoded, &message); err != nil {
		t.Fatal(err)
	}
	if got := tracewire.ToRecord(&message).Message; got != "bad \uFFFD byte" {
		t.Errorf("message is %q", got)
	}
}
