package staticfile_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/staticfile"
)

const ms = time.Millisecond

// table turns rows into something that is easy to compare.
func table(rows []delay.Row) map[string]map[string]time.Duration {
	all := map[string]map[string]time.Duration{}
	for _, row := range rows {
		all[row.From] = map[string]time.Duration{}
		for _, peer := range row.Peers {
			if !peer.Known || peer.Source != delay.SourceStatic {
				panic("a sample that is not a static one")
			}
			all[row.From][peer.Peer] = peer.P50
		}
	}
	return all
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, matrix, metadata string
		want                   map[string]map[string]time.Duration
	}{
		{
			name:     "the predecessor's own example",
			matrix:   "0 12 60\n12 0 61\n60 61 0\n",
			metadata: `{"edge-1":0,"edge-2":1,"cloud":2}`,
			want: map[string]map[string]time.Duration{
				"edge-1": {"edge-2": 12 * ms, "cloud": 60 * ms},
				"edge-2": {"edge-1": 12 * ms, "cloud": 61 * ms},
				"cloud":  {"edge-1": 60 * ms, "edge-2": 61 * ms},
			},
		},
		{
			name:     "comments, tabs, fractions, an exponent, a true 0, two directions, and a diagonal that says nothing",
			matrix:   "# ms\r\n\n 7\t0.25 # a to b\r\n1e-3 0",
			metadata: "{\n\"a\": 0, \"b\": 1}\n",
			want:     map[string]map[string]time.Duration{"a": {"b": 250 * time.Microsecond}, "b": {"a": time.Microsecond}},
		},
		{
			name: "a zero is a delay", matrix: "0 0\n0 0", metadata: `{"a":0,"b":1}`,
			want: map[string]map[string]time.Duration{"a": {"b": 0}, "b": {"a": 0}},
		},
		{
			name: "rows without a name are left out", matrix: "0 5 6\n5 0 7\n6 7 0", metadata: `{"a":0,"c":2}`,
			want: map[string]map[string]time.Duration{"a": {"c": 6 * ms}, "c": {"a": 6 * ms}},
		},
		{name: "one node", matrix: "0", metadata: `{"a":0}`, want: map[string]map[string]time.Duration{"a": {}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := staticfile.Parse([]byte(tt.matrix), []byte(tt.metadata))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, table(rows)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFaultIsNamedWithFileAndLine(t *testing.T) {
	const good, names = "0 1\n1 0\n", `{"a":0,"b":1}`
	tests := []struct{ name, matrix, metadata, want string }{
		{"NaN", "0 1\nnan 0\n", names, `m.txt:2: column 0: expected milliseconds from 0 to 3600000, found "nan"`},
		{"infinity", "0 inf\n1 0\n", names, `m.txt:1: column 1: expected milliseconds from 0 to 3600000, found "inf"`},
		{"negative", "0 1\n# half\n1 -0.5\n", names, `m.txt:3: column 1: expected milliseconds from 0 to 3600000, found "-0.5"`},
		{"a billion", "0 1e9\n1 0", names, `m.txt:1: column 1: expected milliseconds from 0 to 3600000, found "1e9"`},
		{"a word", "0 12ms\n1 0", names, `m.txt:1: column 1: expected milliseconds from 0 to 3600000, found "12ms"`},
		{"a row too short", "0 1\n\n1\n", names, "m.txt:3: expected 2 numbers as in line 1, found 1"},
		{"a row too many", "0 1\n1 0\n1 0\n", names, "m.txt:3: expected 2 rows, as many as columns, found more"},
		{"a row too few", "0 1 2\n1 0 2\n", names, "m.txt:2: expected as many rows as columns, found 2 rows of 3 columns"},
		{"an empty matrix", "# nothing\n", names, "m.txt:1: expected as many rows as columns, found 0 rows of 0 columns"},
		{"a row that is missing", good, "{\"a\": 0,\n\"b\": 2}", `n.json:2: "b": expected a row of the matrix, 0 to 1, found 2`},
		{"a negative row", good, `{"a":-1}`, `n.json:1: "a": expected a row of the matrix, 0 to 1, found -1`},
		{"a row that is no number", good, `{"a":"0"}`, `n.json:1: "a": expected the number of a row: `},
		{"half a row", good, `{"a":0.5}`, `n.json:1: "a": expected the number of a row: `},
		{"a name twice", good, "{\"a\":0,\n\n\"a\":1}", `n.json:3: "a" occurs twice`},
		{"a row twice", good, `{"a":0,"b":0}`, `n.json:1: "b": row 0 is that of "a" already`},
		{"a list", good, `["a","b"]`, `n.json:1: expected a JSON object such as {"edge-1": 0, "cloud": 1}`},
		{"no metadata", good, "", `n.json:1: expected a JSON object such as {"edge-1": 0, "cloud": 1}`},
		{"half an object", good, `{"a":0`, `n.json:1: expected`},
		{"something after it", good, names + "{}", "n.json:1: expected nothing after the object"},
		{"a name that is none", good, `{"":0}`, `n.json:1: expected the name of a node, of 1 to 253 bytes, found ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			matrix, metadata := filepath.Join(folder, "m.txt"), filepath.Join(folder, "n.json")
			write(t, matrix, tt.matrix)
			write(t, metadata, tt.metadata)
			rows, err := staticfile.Load(matrix, metadata)
			if err == nil {
				t.Fatalf("read %v", rows)
			}
			if got := strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""); !strings.HasPrefix(got, tt.want) {
				t.Errorf("error\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	folder := t.TempDir()
	files := &staticfile.Files{Matrix: filepath.Join(folder, "m.txt"), Metadata: filepath.Join(folder, "n.json")}
	if _, _, err := files.Refresh(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
	write(t, files.Matrix, "0 5\n5 0\n")
	write(t, files.Metadata, `{"a":0,"b":1}`)
	for i, step := range []struct {
		matrix  string
		changed bool
		fails   bool
	}{
		{matrix: "0 5\n5 0\n", changed: true},
		{matrix: "0 5\n5 0\n"},
		{matrix: "0 6\n", fails: true}, // written half
		{matrix: "0 6\n6 0\n", changed: true},
	} {
		write(t, files.Matrix, step.matrix)
		rows, changed, err := files.Refresh()
		if changed != step.changed || (err != nil) != step.fails || (len(rows) > 0) != step.changed {
			t.Errorf("step %d: %v, changed %t, %v", i, rows, changed, err)
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"b", "a", "edge.example.com", "c d"}
	times := map[[2]string]time.Duration{}
	for _, from := range names {
		for _, to := range names {
			times[[2]string{from, to}] = time.Duration(random.Int64N(int64(delay.MaxDelay/time.Microsecond))) * time.Microsecond
		}
	}
	matrix, metadata, err := staticfile.Format(names, func(from, to string) (time.Duration, bool) { return times[[2]string{from, to}], true })
	if err != nil {
		t.Fatal(err)
	}
	rows, err := staticfile.Parse(matrix, metadata)
	if err != nil {
		t.Fatal(err)
	}
	for from, peers := range table(rows) {
		if len(peers) != len(names)-1 {
			t.Errorf("%s has %d peers", from, len(peers))
		}
		for to, got := range peers {
			if want := times[[2]string{from, to}]; got != want {
				t.Errorf("%s to %s: %s, want %s", from, to, got, want)
			}
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	known := func(_, to string) (time.Duration, bool) { return 2 * delay.MaxDelay, to != "c" }
	for want, names := range map[string][]string{
		`the round-trip time from "a" to "c" is not known`:        {"a", "c"},
		`"a" to "b": expected a round-trip time from 0 to 1h0m0s`: {"a", "b"},
		`expected each node once, found "a" twice`:                {"a", "a"},
		`expected 1 to 5000 nodes, found 0`:                       nil,
	} {
		if _, _, err := staticfile.Format(names, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Format(%v): %v, want %s", names, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("0 12 60\n12 0 61\n60 61 0\n"), []byte(`{"edge-1":0,"edge-2":1,"cloud":2}`))
	f.Add([]byte("# c\n0 nan\n1 0"), []byte(`{"a":0}`))
	f.Add([]byte("0 1e308\n-0 0x1p-2"), []byte(`{"a":1,"a":1}`))
	f.Add([]byte("\x00"), []byte("{\"a\":\n1e99}"))
	f.Fuzz(func(t *testing.T, matrix, metadata []byte) {
		rows, err := staticfile.Parse(matrix, metadata)
		if err != nil {
			if fault := (*staticfile.Error)(nil); !errors.As(err, &fault) {
				t.Fatalf("a fault without file and line: %v", err)
			}
			return
		}
		times := table(rows)
		for from, peers := range times {
			for to, rtt := range peers {
				if rtt < 0 || rtt > delay.MaxDelay || times[to] == nil || from == to {
					t.Fatalf("%s to %s: %s", from, to, rtt)
				}
			}
		}
		if len(rows) == 0 {
			return
		}
		m, n, err := staticfile.Format(staticfile.Names(rows), func(from, to string) (time.Duration, bool) { return times[from][to], true })
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := staticfile.Parse(m, n)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s\n%s", err, m, n)
		}
		if diff := cmp.Diff(times, table(again)); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}
