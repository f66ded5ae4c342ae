package diskmodel

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const mebi = 1 << 20

// request is 100 and 200 bytes per second in blocks of a size.
func request(block blockio.Bytes) blockio.Request {
	return blockio.Request{Read: 100, Write: 200, ReadBlock: block, WriteBlock: block, IOPS: blockio.IOPS{Read: 7}}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		document string
		request  blockio.Request
		want     blockio.Bandwidth
		wantKey  Key
	}{
		"a table in YAML, sizes in every spelling": {
			document: "kind: Table\nvendor: V\nmodel: M\nreadRatios: {512: 3, 4k: 2, 32Ki: 1}\nwriteRatios:\n  \"4096\": 1.5\n",
			request:  request(4096), want: blockio.Bandwidth{Read: 200, Write: 300, Total: 500}, wantKey: Key{Vendor: "V", Model: "M"},
		},
		"a table in JSON": {
			document: `{"kind":"Table","readRatios":{"4k":2},"mixed":0}`,
			request:  request(512), want: blockio.Bandwidth{Read: 200, Write: 200, Total: 200},
		},
		"identity": {
			document: "# nothing to say\n---\nkind: Identity\n", request: request(512), want: blockio.Bandwidth{Read: 100, Write: 200, Total: 300},
		},
		"CEL": {
			document: `{"kind":"CEL","expression":"{\"read\": read * 2.0, \"write\": write + 1.0, \"total\": 7.0}"}`,
			request:  request(4096), want: blockio.Bandwidth{Read: 200, Write: 201, Total: 7},
		},
		"CEL without a total, with a table of its own": {
			document: "kind: CEL\nexpression: '{\"read\": read * (blockSize < 4096 ? 3.0 : 1.0), \"write\": write}'\n",
			request:  request(512), want: blockio.Bandwidth{Read: 300, Write: 200, Total: 500},
		},
		"CEL that knows both block sizes": {
			document: "kind: CEL\nexpression: '{\"read\": readBlockSize, \"write\": writeBlockSize, \"total\": blockSize}'\n",
			request:  blockio.Request{Read: 1, Write: 1, ReadBlock: 4096, WriteBlock: 512}, want: blockio.Bandwidth{Read: 4096, Write: 512, Total: 512},
		},
		"the block size of a direction that is not used does not count": {
			document: "kind: CEL\nexpression: '{\"read\": read, \"write\": write, \"total\": blockSize}'\n",
			request:  blockio.Request{Read: 1, ReadBlock: 4096, WriteBlock: 512}, want: blockio.Bandwidth{Read: 1, Total: 4096},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			model, key, err := Parse([]byte(tc.document))
			if err != nil {
				t.Fatal(err)
			}
			got, err := model.Normalize(tc.request)
			if err != nil || key != tc.wantKey {
				t.Fatalf("key %v, error %v; want %v", key, err, tc.wantKey)
			}
			if diff := cmp.Diff(blockio.Demand{Bandwidth: tc.want, IOPS: tc.request.IOPS}, got); diff != "" {
				t.Errorf("demand (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseIOPS(t *testing.T) {
	model, _, err := Parse([]byte("kind: Identity\niops: {read: 400000, write: 0}\n"))
	if err != nil || !model.HasIOPS || model.IOPS != (blockio.IOPS{Read: 400_000}) {
		t.Errorf("model %+v, %v; want 400000 and 0 operations", model, err)
	}
	if model, _, err = Parse([]byte("kind: Identity\n")); err != nil || model.HasIOPS {
		t.Errorf("model %+v, %v; want unknown operations", model, err)
	}
}

func celDocument(expression string) string { return "kind: CEL\nexpression: '" + expression + "'\n" }

// nested is a CEL expression of some 9^5 steps.
func nested() string {
	return strings.Repeat("[1,2,3,4,5,6,7,8,9].all(x, ", 5) + "true" + strings.Repeat(")", 5)
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct{ document, wantErr string }{
		"nothing":                        {"", "want a model document, found nothing"},
		"only comments and separators":   {"---\n---\n", "want a model document, found nothing"},
		"two documents":                  {"kind: Identity\n---\nkind: Identity\n", "want one model document, found several in one file"},
		"no YAML":                        {"kind: [", "want a model document in YAML or JSON"},
		"a list":                         {"- kind: Identity", "want a model document in YAML or JSON"},
		"an unknown field":               {"kind: Identity\nratio: 1\n", `unknown field "ratio"`},
		"a field twice":                  {"kind: Identity\nkind: Table\n", `"kind" already set`},
		"no kind":                        {"readRatios: {4k: 1}", "readRatios, writeRatios and mixed belong to kind Table"},
		"a kind of the future":           {"kind: Neural\n", `kind: want Table, CEL or Identity, found "Neural"`},
		"a table of nothing":             {"kind: Table\n", "want readRatios or writeRatios in a table, found neither"},
		"a table with an expression":     {"kind: Table\nexpression: '1'\n", "expression belongs to kind CEL"},
		"a size that is none":            {"kind: Table\nreadRatios: {4kb: 1}\n", `want block sizes such as 512, 4k or 4Ki, found "4kb"`},
		"a size twice, in two spellings": {"kind: Table\nreadRatios: {4k: 1, 4096: 2}\n", "want one ratio for block size 4096, found two"},
		"a ratio that is no number":      {"kind: Table\nreadRatios: {4k: .nan}\n", "want a model document in YAML or JSON"},
		"an infinite ratio":              {"kind: Table\nreadRatios: {4k: .inf}\n", "want a model document in YAML or JSON"},
		"a negative ratio":               {"kind: Table\nreadRatios: {4k: -1}\n", "want a ratio above 0"},
		"negative operations":            {"kind: Identity\niops: {read: -1}\n", "iops: want numbers of at least 0"},
		"a native plug-in":               {"\x7fELF\x02\x01\x01", "native plug-ins are not loaded into the scheduler; want a model document"},
		"no expression":                  {"kind: CEL\n", "want an expression in a document of kind CEL, found none"},
		"an expression that is none":     {celDocument("read +"), "expression: ERROR"},
		"integers among doubles":         {celDocument(`{"read": read * 2, "write": write}`), "found no matching overload for '_*_' applied to '(double, int)'"},
		"a result that is a number":      {celDocument("read"), "want a result of type map(string, double)"},
		"a result of several types":      {celDocument(`{"read": read, "write": 1}`), "want a result of type map(string, double)"},
		"a result without write":         {celDocument(`{"read": read}`), "want read and write in the result"},
		"a result with a typing error":   {celDocument(`{"read": read, "write": write, "totl": read}`), `want read, write and total in the result, found "totl"`},
		"an unknown variable":            {celDocument(`{"read": rbps, "write": write}`), "undeclared reference to 'rbps'"},
		"negative":                       {celDocument(`{"read": read - 1.0, "write": write}`), "tried with read 0, write 0, blockSize 512: expression: read: want a number from 0 to below 2^63, found -1"},
		"no number":                      {celDocument(`{"read": read, "write": write, "total": read * write / (read + write)}`), "total: want a number from 0 to below 2^63, found NaN"},
		"infinite":                       {celDocument(`{"read": read, "write": 1.0 / read}`), "write: want a number from 0 to below 2^63, found +Inf"},
		"more than 64 bits":              {celDocument(`{"read": 1e19, "write": write}`), "read: want a number from 0 to below 2^63, found 1e+19"},
		"an error while it is evaluated": {celDocument(`{"read": {1.0: 2.0}[read], "write": write}`), "no such key"},
		"an expression that takes too long": {
			celDocument(`{"read": ` + nested() + ` ? read : 0.0, "write": write}`), "actual cost limit exceeded",
		},
		"an expression that is too long": {celDocument(strings.Repeat(" ", maxExpression) + "1"), "expression: ERROR"},
		"nested too deep":                {celDocument(strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300)), "expression: ERROR"},
		"larger than any model":          {strings.Repeat(" ", MaxDocument+1), "want a model document of at most 1048576 bytes, found 1048577"},
		"a bomb of references": {
			"a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" + "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
				"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" + "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n" + "f: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
			"want a model document in YAML or JSON",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			model, _, err := Parse([]byte(tc.document))
			if model != nil || err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Parse = %v, %v; want an error with %q", model, err, tc.wantErr)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes, want a short one", len(err.Error()))
			}
		})
	}
}

// TestExpressionThatFailsLater: what the trial did not find is an error, not a number.
func TestExpressionThatFailsLater(t *testing.T) {
	model, _, err := Parse([]byte(celDocument(`{"read": read == 123.0 ? 0.0 / 0.0 : read, "write": write == 123.0 ? -1.0 : write}`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []blockio.Request{{Read: 123, ReadBlock: 512}, {Write: 123, WriteBlock: 512}} {
		if got, err := model.Normalize(r); err == nil || got != (blockio.Demand{}) {
			t.Errorf("Normalize(%+v) = %+v, %v; want an error", r, got, err)
		}
	}
	if _, err := model.Normalize(blockio.Request{Read: 124, ReadBlock: 512}); err != nil {
		t.Errorf("another request: %v", err)
	}
}

// TestExpressionThatTakesTooLongLater: what the trial found cheap is cut off all the same.
func TestExpressionThatTakesTooLongLater(t *testing.T) {
	model, _, err := Parse([]byte(celDocument(`{"read": read == 123.0 && ` + nested() + ` ? 0.0 : read, "write": write}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Normalize(blockio.Request{Read: 123, ReadBlock: 512}); err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("error %v, want an exceeded cost limit", err)
	}
	if got, err := model.Normalize(blockio.Request{Read: 124, ReadBlock: 512}); err != nil || got.Bandwidth.Read != 124 {
		t.Errorf("another request: %+v, %v", got, err)
	}
}

// TestExamplesOfTheManifests: they compile, say which disk they are for, and the measured table has the figures of
// the predecessor's disk.
func TestExamplesOfTheManifests(t *testing.T) {
	files, err := filepath.Glob("../../manifests/models/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("examples %v, %v; want two at least", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		model, key, err := Parse(data)
		if err != nil || key.Vendor == "" || key.Model == "" {
			t.Fatalf("%s: key %v, %v", file, key, err)
		}
		got, err := model.Normalize(blockio.Request{Read: 100 * mebi, Write: 100 * mebi, ReadBlock: 512, WriteBlock: 32 << 10})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		want := blockio.Bandwidth{Read: 1343 * mebi, Write: 100 * mebi, Total: 1443 * mebi}
		if filepath.Base(file) == "nvme-fio.yaml" && got.Bandwidth != want {
			t.Errorf("%s: %+v, want %+v", file, got.Bandwidth, want)
		}
	}
}

// FuzzParse: no panic; a model that answers within bounds, or a short error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"kind: Table\nreadRatios: {512: 3, 4k: 2}\nmixed: 0.5\n", `{"kind":"Identity","iops":{"read":1,"write":2}}`,
		celDocument(`{"read": read, "write": write * 2.0}`), "---\nkind: Identity\n---\n", "\x7fELF", "&a [*a]", "? {}", "!!binary x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		model, _, err := Parse(data)
		if err != nil {
			if model != nil || len(err.Error()) > 1000 {
				t.Fatalf("model %v with the error %q", model, err)
			}
			return
		}
		for _, r := range []blockio.Request{request(512), {}, {Read: math.MaxInt64, Write: math.MaxInt64, ReadBlock: 1, WriteBlock: 1 << 40}} {
			d, err := model.Normalize(r)
			if err == nil && (d.Bandwidth.Read < 0 || d.Bandwidth.Write < 0 || d.Bandwidth.Total < 0) {
				t.Fatalf("negative demand %+v of %+v", d, r)
			}
		}
	})
}

func TestErrNativeIsFound(t *testing.T) {
	if _, _, err := Parse([]byte("\x7fELF")); !errors.Is(err, ErrNative) || !utf8.ValidString(err.Error()) {
		t.Errorf("error %v, want %v", err, ErrNative)
	}
}

// BenchmarkExpression: an expression is evaluated for each pod and kind of disk, not for each node.
func BenchmarkExpression(b *testing.B) {
	data, err := os.ReadFile("../../manifests/models/seek-limited-cel.yaml")
	if err != nil {
		b.Fatal(err)
	}
	model, _, err := Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Normalize(request(4096)); err != nil {
			b.Fatal(err)
		}
	}
}
