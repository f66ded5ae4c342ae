package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// records writes a file of two decisions and a line that is none.
func recordsFile(t *testing.T, nodeOfB string) string {
	t.Helper()
	start := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	var lines bytes.Buffer
	for i, node := range []string{"n1", nodeOfB} {
		line, err := json.Marshal(trace.Record{
			Version: 1, Session: "s", Sequence: uint64(i + 1), Kind: trace.KindAttempt, Attempt: 1, Start: start, End: start.Add(time.Second),
			Pod: trace.Pod{Namespace: "team", Name: string(rune('a' + i)), UID: "u"}, Outcome: trace.OutcomeBound, Node: node,
			Found: trace.FoundOnlyFeasible, Message: "line\nbreak",
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	lines.WriteString(`{"version":9}`)
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// vicinity runs the command line.
func runTrace(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	t.Setenv("VICINITY_RECORDS", "")
	var stdout, stderr bytes.Buffer
	root := newRootCommand("vicinity")
	root.SetArgs(args)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestTraceCommands(t *testing.T) {
	one, other := recordsFile(t, "n1"), recordsFile(t, "n2")
	log := filepath.Join(t.TempDir(), "sniffer.log")
	if err := os.WriteFile(log, []byte(`{"object":"Pod","name":"p","timestamp":"2030-01-01 10:00:00.5 +0000 UTC m=+9.5"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args []string
		want []string
		err  string
	}{
		{"tail", []string{"trace", "tail", "--file", one}, []string{`2030-01-01T10:00:01.000Z  Bound`, `team/"b"  on n1 (OnlyFeasible)`, `line\nbreak`}, ""},
		{"tail of one pod", []string{"trace", "tail", "--file", one, "--pod", "a", "--lines", "1"}, []string{`team/"a"`}, ""},
		{"tail of nothing", []string{"trace", "tail"}, nil, "want either --file or --socket"},
		{"export as CSV", []string{"trace", "export", "--file", one, "--format", "csv"}, []string{"start,end,profile", "team,a,u,1,Bound,false,n1"}, ""},
		{
			"export as the predecessor's log",
			[]string{"trace", "export", "--file", one, "--format", "sniffer"},
			[]string{`"endpoint":"bindingCycle","node":"n1","event":"BindingSuccess","timestamp":"2030-01-01 10:00:01 +0000 UTC"`},
			"",
		},
		{"import of its log", []string{"trace", "export", "--file", log, "--from-sniffer"}, []string{`"timestamp":"2030-01-01T10:00:00.5Z"`}, ""},
		{"an unknown format", []string{"trace", "export", "--file", one, "--format", "xml"}, nil, "want --format jsonl, csv or sniffer"},
		{"diff", []string{"trace", "diff", one, other}, []string{"1 pods are on the same node, 1 are not", "team/b", "n1", "n2"}, ""},
		{"diff as JSON", []string{"trace", "diff", one, other, "-o", "json"}, []string{`"pod": "team/b"`, `"same": 1`}, ""},
		{"notify without an address", []string{"notify"}, nil, "want --address host:port"},
		{"notify with one dash, and nobody there", []string{"notify", "-address", "127.0.0.1:1", "-timeout", "300ms"}, nil, "notifying 127.0.0.1:1"},
		{"notify with a wrong flag", []string{"notify", "--port", "1"}, nil, "flag provided but not defined"},
		{"record without a file", []string{"trace", "record"}, nil, "want --path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, _, err := runTrace(t, tc.args...)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("output lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

// TestAFaultyLineIsSaid and passed over.
func TestAFaultyLineIsSaid(t *testing.T) {
	_, errOut, err := runTrace(t, "trace", "tail", "--file", recordsFile(t, "n1"))
	if err != nil || !strings.Contains(errOut, "left out: line 3: record of a newer version") {
		t.Errorf("%v, %s", err, errOut)
	}
}

// TestARecordingOfChanges: an object is written without managed fields, a repeated update is not, and a deletion that was
// missed is.
func TestARecordingOfChanges(t *testing.T) {
	var out bytes.Buffer
	log := newChangeLog(&out)
	log.now = func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p", ResourceVersion: "1", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}},
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: fields}
	log.write("Add", object)
	log.update(object, object)
	log.remove(cache.DeletedFinalStateUnknown{Key: "team/p", Obj: object})
	if err := log.flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Contains(lines[0], "managedFields") || !strings.Contains(lines[0], `"event":"Add"`) ||
		lines[1] != `{"time":"2030-01-01T00:00:00Z","event":"Delete","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"team"}}}` {
		t.Errorf("found\n%s", out.String())
	}
}
