package v1alpha1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func reference(name string, limit time.Duration) DelayBound {
	return DelayBound{
		Origin: fmt.Sprintf("label %q", "delay_"+name), To: DelayTarget{Kind: DelayToReference, Name: name}, Max: limit, Required: true,
	}
}

// TestDelayLabels: the compatibility vectors of the predecessor, and what it crashed on.
func TestDelayLabels(t *testing.T) {
	cases := map[string]struct {
		labels map[string]string
		want   []DelayBound
		fault  string // part of the error
	}{
		"none":                      {labels: map[string]string{"app": "web"}},
		"a node or workload":        {labels: map[string]string{"delay_edge-1": "25"}, want: []DelayBound{reference("edge-1", 25*time.Millisecond)}},
		"two hold both, by key":     {labels: map[string]string{"delay_b": "2", "delay_a": "1"}, want: []DelayBound{reference("a", time.Millisecond), reference("b", 2*time.Millisecond)}},
		"an underscore in the name": {labels: map[string]string{"delay_edge_1": "5"}, want: []DelayBound{reference("edge_1", 5*time.Millisecond)}},
		"decimals":                  {labels: map[string]string{"delay_edge-1": "2.5"}, want: []DelayBound{reference("edge-1", 2500*time.Microsecond)}},
		"zero":                      {labels: map[string]string{"delay_edge-1": "0"}, want: []DelayBound{reference("edge-1", 0)}},
		"an hour":                   {labels: map[string]string{"delay_edge-1": "3600000"}, want: []DelayBound{reference("edge-1", time.Hour)}},
		"another prefix":            {labels: map[string]string{"nodelay_edge-1": "2", "x.io/delay_edge-1": "x"}},
		"letters":                   {labels: map[string]string{"delay_x": "abc"}, fault: `label "delay_x": want milliseconds from 0 to 3600000, such as "25" or "2.5", found "abc"`},
		"negative":                  {labels: map[string]string{"delay_x": "-1"}, fault: `found "-1"`},
		"not a number":              {labels: map[string]string{"delay_x": "NaN"}, fault: `found "NaN"`},
		"infinite":                  {labels: map[string]string{"delay_x": "Inf"}, fault: `found "Inf"`},
		"ten to the ninth":          {labels: map[string]string{"delay_x": "1000000000"}, fault: `found "1000000000"`},
		"an exponent":               {labels: map[string]string{"delay_x": "1e3"}, fault: `found "1e3"`},
		"a unit":                    {labels: map[string]string{"delay_x": "5ms"}, fault: `found "5ms"`},
		"nothing":                   {labels: map[string]string{"delay_x": ""}, fault: `found ""`},
		"a point alone":             {labels: map[string]string{"delay_x": "."}, fault: `found "."`},
		"no name":                   {labels: map[string]string{"delay_": "5"}, fault: `label "delay_": want the name of a node or workload`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := DelayBoundsOf(tc.labels, nil)
			expectDelay(t, tc.want, got, tc.fault, err)
		})
	}
}

func expectDelay(t *testing.T, want, got []DelayBound, fault string, err error) {
	t.Helper()
	switch {
	case fault == "" && err != nil:
		t.Fatal(err)
	case fault != "" && (err == nil || !strings.Contains(err.Error(), fault)):
		t.Fatalf("error %v; want it to contain %q", err, fault)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}

func TestFiveHundredDelayLabels(t *testing.T) {
	labels := map[string]string{}
	for i := range 500 {
		labels[fmt.Sprint("delay_n", i)] = "5"
	}
	_, err := DelayBoundsOf(labels, nil)
	if want := "labels delay_*: want at most 64 bounds, found 500"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestDelayAnnotation(t *testing.T) {
	bound := func(i int, kind DelayTargetKind, name string, limit time.Duration) DelayBound {
		return DelayBound{
			Origin: fmt.Sprintf(`annotation "vicinity.dev/delay"[%d]`, i), To: DelayTarget{Kind: kind, Name: name}, Max: limit, Required: true,
		}
	}
	full := bound(0, DelayToWorkload, "db", 2500*time.Microsecond)
	full.To.Namespace, full.Percentile, full.OnUnknown, full.Required = "team", 99, DelayUnknownReject, false
	cases := map[string]struct {
		value string
		want  []DelayBound
		fault string
	}{
		"an empty list": {value: `[]`},
		"everything": {
			value: `[{"to":{"workload":"db","namespace":"team"},"max":"2.5ms","percentile":99,"required":false,"onUnknown":"Reject"}]`,
			want:  []DelayBound{full},
		},
		"each kind of target": {
			value: `[{"to":{"node":"n1"},"max":"1ms"},{"to":{"zone":"West_1"},"max":"0s"},{"to":{"selector":"app in (a,b)"},"max":"1ms"},` +
				`{"to":{"endpoint":"db.example.com:5432"},"max":"1ms"},{"to":{"endpoint":"2001:db8::1"},"max":"1ms"},{"to":{"endpoint":"[2001:db8::1]:80"},"max":"1ms"}]`,
			want: []DelayBound{
				bound(0, DelayToNode, "n1", time.Millisecond), bound(1, DelayToZone, "West_1", 0), bound(2, DelayToSelector, "app in (a,b)", time.Millisecond),
				bound(3, DelayToEndpoint, "db.example.com:5432", time.Millisecond), bound(4, DelayToEndpoint, "2001:db8::1", time.Millisecond),
				bound(5, DelayToEndpoint, "[2001:db8::1]:80", time.Millisecond),
			},
		},
		"nothing":                    {value: ``, fault: `annotation "vicinity.dev/delay": want a JSON list such as`},
		"no list":                    {value: `{"to":{"node":"n"},"max":"1ms"}`, fault: "want a JSON list"},
		"cut off":                    {value: `[{"to":`, fault: "want a JSON list"},
		"a member that is not known": {value: `[{"to":{"nod":"n"},"max":"1ms"}]`, fault: `unknown field "[0].to.nod"`},
		"a member twice":             {value: `[{"to":{"node":"a","node":"b"},"max":"1ms"}]`, fault: `duplicate field "[0].to.node"`},
		"no target":                  {value: `[{"max":"1ms"}]`, fault: "[0]: to: want one of node, zone, workload, selector and endpoint, found 0 of them"},
		"a null":                     {value: `[null]`, fault: "[0]: to: want one of"},
		"two targets":                {value: `[{"to":{"node":"n","zone":"z"},"max":"1ms"}]`, fault: "found 2 of them"},
		"no maximum":                 {value: `[{"to":{"node":"n"}}]`, fault: "[0]: max: want a duration"},
		"a number as maximum":        {value: `[{"to":{"node":"n"},"max":5}]`, fault: "want a JSON list"},
		"no unit":                    {value: `[{"to":{"node":"n"},"max":"5"}]`, fault: `max: want a duration from 0 to 1h0m0s such as "2.5ms", found "5"`},
		"negative":                   {value: `[{"to":{"node":"n"},"max":"-5ms"}]`, fault: `found "-5ms"`},
		"two hours":                  {value: `[{"to":{"node":"n"},"max":"2h"}]`, fault: `found "2h"`},
		"a percentile nobody tells":  {value: `[{"to":{"node":"n"},"max":"1ms","percentile":90}]`, fault: "percentile: want 50 or 99, found 90"},
		"percentile 0":               {value: `[{"to":{"node":"n"},"max":"1ms","percentile":0}]`, fault: "percentile: want 50 or 99, found 0"},
		"an unknown policy":          {value: `[{"to":{"node":"n"},"max":"1ms","onUnknown":"Guess"}]`, fault: `onUnknown: want "Reject", "Estimate" or "Allow", found "Guess"`},
		"an empty node":              {value: `[{"to":{"node":""},"max":"1ms"}]`, fault: `to: node: want the name of an object, found ""`},
		"an empty zone":              {value: `[{"to":{"zone":""},"max":"1ms"}]`, fault: `to: zone: want the value of a label`},
		"a selector of everything":   {value: `[{"to":{"selector":""},"max":"1ms"}]`, fault: `selects every pod`},
		"a selector that is none":    {value: `[{"to":{"selector":"a==="},"max":"1ms"}]`, fault: `to: selector: want labels`},
		"a port that is none":        {value: `[{"to":{"endpoint":"db:0"},"max":"1ms"}]`, fault: `to: endpoint: want a host name or IP address`},
		"an endpoint that is none":   {value: `[{"to":{"endpoint":"http://db"},"max":"1ms"}]`, fault: `to: endpoint: want a host name or IP address`},
		"a namespace beside a node":  {value: `[{"to":{"node":"n","namespace":"x"},"max":"1ms"}]`, fault: `want a namespace beside a workload or selector only`},
		"a namespace that is none":   {value: `[{"to":{"workload":"n","namespace":"X"},"max":"1ms"}]`, fault: `namespace: want a namespace's name`},
		"too long":                   {value: "[" + strings.Repeat(" ", MaxDelayBytes) + "]", fault: "want at most 16384 bytes, found 16386"},
		"too many":                   {value: "[" + strings.Repeat(`{"to":{"node":"n"},"max":"1s"},`, 64) + `{"to":{"node":"n"},"max":"1s"}]`, fault: "want at most 64 bounds, found 65"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := DelayBoundsOf(nil, map[string]string{DelayAnnotation: tc.value})
			expectDelay(t, tc.want, got, tc.fault, err)
		})
	}
}

func TestDelayLabelsAndAnnotationTogether(t *testing.T) {
	got, err := DelayBoundsOf(map[string]string{"delay_a": "1"}, map[string]string{DelayAnnotation: `[{"to":{"node":"b"},"max":"2ms"}]`})
	if err != nil || len(got) != 2 || got[0].To.Name != "a" || got[1].To.Name != "b" {
		t.Errorf("bounds %v, %v; want a and b", got, err)
	}
	labels := map[string]string{}
	for i := range MaxDelayBounds {
		labels[fmt.Sprint("delay_n", i)] = "5"
	}
	if _, err := DelayBoundsOf(labels, map[string]string{DelayAnnotation: `[{"to":{"node":"b"},"max":"2ms"}]`}); err == nil {
		t.Error("65 bounds were taken")
	}
}

func TestParseDelayReference(t *testing.T) {
	workload := func(namespace, name string) DelayTarget {
		return DelayTarget{Kind: DelayToWorkload, Name: name, Namespace: namespace}
	}
	cases := map[string][]DelayTarget{
		"db":         {workload("own", "db")},
		"team.db":    {workload("own", "team.db"), workload("team", "db")},
		"a.b.c":      {workload("own", "a.b.c"), workload("a", "b.c"), workload("a.b", "c")},
		".db":        {workload("own", ".db")},
		"db.":        {workload("own", "db.")},
		"team..db":   {workload("own", "team..db"), workload("team", ".db"), workload("team.", "db")},
		"deployment": {workload("own", "deployment")},
	}
	for value, want := range cases {
		if diff := cmp.Diff(want, ParseDelayReference(value, "own")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

func FuzzDelayMilliseconds(f *testing.F) {
	for _, seed := range []string{"25", "2.5", "0", "", ".", "NaN", "-1", "1e9", "3600000", "3600000.0001", "0x1p2", "1_0", "00000000000000000000000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if limit, err := ParseDelayMilliseconds(value); err == nil && (limit < 0 || limit > MaxDelayBound) {
			t.Errorf("%q is read as %s", value, limit)
		}
	})
}

func FuzzDelayAnnotation(f *testing.F) {
	for _, seed := range []string{
		`[{"to":{"workload":"db"},"max":"2.5ms","percentile":99,"required":true,"onUnknown":"Estimate"}]`,
		`[{"to":{"selector":"a in (b)"},"max":"1h"},{"to":{"endpoint":"[::1]:1"},"max":"0s"}]`, `[]`, `null`, `[null]`, `{`, `[[[[`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		bounds, err := ParseDelay(value)
		if err != nil {
			return
		}
		for _, bound := range bounds {
			if bound.Max < 0 || bound.Max > MaxDelayBound || bound.To.Name == "" || bound.To.Kind == DelayToReference {
				t.Errorf("%q is read as %+v", value, bound)
			}
		}
	})
}
