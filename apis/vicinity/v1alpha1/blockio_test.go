package v1alpha1

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const mebi = 1 << 20

// flat is the demand of the flat form at a block size.
func flat(read, write, blockSize int64) []BlockIODemand {
	return []BlockIODemand{{
		ReadBytesPerSecond: read, WriteBytesPerSecond: write, ReadBlockSize: blockSize, WriteBlockSize: blockSize,
	}}
}

func TestParseBlockIO(t *testing.T) {
	cases := map[string]struct {
		value string
		want  []BlockIODemand
	}{
		"nothing is best effort":                   {value: ""},
		"white space is nothing":                   {value: " \n"},
		"the seed's pod":                           {value: `{"rbps":"900Mi","wbps":"900Mi","blockSize":"4k"}`, want: flat(900*mebi, 900*mebi, 4096)},
		"the design document's spelling":           {value: `{"rbps":"30Mi","wbps":"20Mi","blocksize":"512"}`, want: flat(30*mebi, 20*mebi, 512)},
		"names in any case":                        {value: `{"RBPS":"1","Wbps":"2","BLOCKSIZE":"1k"}`, want: flat(1, 2, 1024)},
		"a binary suffix at the block size":        {value: `{"rbps":"1","wbps":"2","blockSize":"32Ki"}`, want: flat(1, 2, 32768)},
		"only reads: the predecessor's panic":      {value: `{"rbps":"1Mi","blockSize":"8k"}`, want: flat(mebi, 0, 8192)},
		"only writes, no block size: 4k":           {value: `{"wbps":"1Mi"}`, want: flat(0, mebi, 4096)},
		"numbers without quotes, as quantities go": {value: `{"rbps":1000,"wbps":2e3,"blockSize":512}`, want: flat(1000, 2000, 512)},
		"zero was asked for explicitly":            {value: `{"rbps":"0","wbps":"0","blockSize":"4k"}`, want: flat(0, 0, 4096)},
		"a fraction is rounded up":                 {value: `{"rbps":"1.5","wbps":"1m","blockSize":"4k"}`, want: flat(2, 1, 4096)},
		"the largest rate":                         {value: `{"rbps":"1Pi"}`, want: flat(MaxBlockIORate, 0, 4096)},
		"operations alone": {
			value: `{"riops":"10k","wiops":"500"}`,
			want:  []BlockIODemand{{ReadIOPS: 10_000, WriteIOPS: 500, ReadBlockSize: 4096, WriteBlockSize: 4096}},
		},
		"two volumes in the order written, sizes each their own": {
			value: `{"data":{"requests":{"rbps":"50Mi/32k","wbps":"20Mi/4kB"},"limits":{"rbps":"60Mi/32k"}},"a-log":{"requests":{"wbps":"1Mi"}}}`,
			want: []BlockIODemand{
				{Volume: "data", ReadBytesPerSecond: 50 * mebi, WriteBytesPerSecond: 20 * mebi, ReadBlockSize: 32768, WriteBlockSize: 4096},
				{Volume: "a-log", WriteBytesPerSecond: mebi, ReadBlockSize: 4096, WriteBlockSize: 4096},
			},
		},
		"a limit without a request is the request": {
			value: `{"v":{"limits":{"rbps":"5Mi/16k","wiops":"7"}}}`,
			want:  []BlockIODemand{{Volume: "v", ReadBytesPerSecond: 5 * mebi, WriteIOPS: 7, ReadBlockSize: 16384, WriteBlockSize: 4096}},
		},
		"a volume that is called like a rate": {
			value: `{"rbps":{"requests":{"rbps":"1"}}}`,
			want:  []BlockIODemand{{Volume: "rbps", ReadBytesPerSecond: 1, ReadBlockSize: 4096, WriteBlockSize: 4096}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseBlockIO(tc.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("demands (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBlockSizesOfBothForms(t *testing.T) {
	volumeKeyed := map[string]int64{ // k is decimal there; what is not in the list is the next smaller one of it
		"512": 512, "512B": 512, "1": 512, "1k": 1024, "1Ki": 1024, "1000": 1024, "2k": 1024, "4k": 4096, "4096": 4096,
		"4KiB": 4096, "3999": 1024, "8kB": 8192, "16k": 16384, "32k": 32768, "32Ki": 32768, "1M": 32768,
	}
	for size, want := range volumeKeyed {
		demands, err := ParseBlockIO(fmt.Sprintf(`{"v":{"requests":{"rbps":"1Mi/%s"}}}`, size))
		if err != nil || demands[0].ReadBlockSize != want {
			t.Errorf("block size 1Mi/%s = %v, %v; want %d", size, demands, err, want)
		}
	}
	for size, want := range map[string]int64{
		"512": 512, "1k": 1024, "4k": 4096, "8k": 8192, "16k": 16384, "32k": 32768, "1Ki": 1024, "16Ki": 16384,
		"": 0, "2k": 0, "64k": 0, "4K": 0, "4096": 0, "512i": 0, "512Ki": 0, " 4k": 0, "1ki": 0,
	} {
		demands, err := ParseBlockIO(fmt.Sprintf(`{"rbps":"1Mi","blockSize":"%s"}`, size))
		switch {
		case want == 0 && (err == nil || !strings.Contains(err.Error(), "unsupported block size: want 512, 1k, 4k, 8k, 16k or 32k, found ")):
			t.Errorf("blockSize %q = %v, %v; want an error that lists the sizes", size, demands, err)
		case want != 0 && (err != nil || demands[0].ReadBlockSize != want || demands[0].WriteBlockSize != want):
			t.Errorf("blockSize %q = %v, %v; want %d", size, demands, err, want)
		}
	}
}

func TestParseBlockIORefuses(t *testing.T) {
	cases := map[string]struct{ value, wantErr string }{
		"no JSON":                      {`rbps=1Mi`, `want a JSON object such as {"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}, found "rbps=1Mi": invalid character 'r'`},
		"a list":                       {`["1Mi"]`, `found "[\"1Mi\"]": want an object`},
		"half an object":               {`{"rbps":"1Mi"`, `found "{\"rbps\":\"1Mi\"": it ends too early`},
		"two objects":                  {`{"rbps":"1"}{}`, `want nothing behind the object`},
		"an empty object":              {`{}`, `want one of rbps, wbps, riops and wiops at least, found none`},
		"only a block size":            {`{"blockSize":"4k"}`, `want one of rbps, wbps, riops and wiops at least, found none`},
		"a typing error":               {`{"rpbs":"1Mi"}`, `want rbps, wbps, riops, wiops or blockSize, or volumes, found "rpbs"`},
		"a repeated name":              {`{"rbps":"1","rbps":"2"}`, `"rbps" is there twice`},
		"repeated but for case":        {`{"rbps":"1","RBPS":"2"}`, `"RBPS" is there twice, in different case`},
		"two block sizes":              {`{"rbps":"1","blockSize":"4k","blocksize":"8k"}`, `"blocksize" is there twice, in different case`},
		"negative":                     {`{"rbps":"-1Mi"}`, `rbps: want a quantity from 0 to 1125899906842624 such as "30Mi", found "-1Mi"`},
		"not a number":                 {`{"wbps":"NaN"}`, `wbps: want a quantity from 0 to 1125899906842624 such as "30Mi", found "NaN"`},
		"nothing as a quantity":        {`{"wbps":""}`, `wbps: want a quantity from 0`},
		"above 64 bits":                {`{"rbps":"1e20"}`, `rbps: want a quantity from 0`},
		"one more than the limit":      {`{"rbps":"1125899906842625"}`, `found "1125899906842625"`},
		"null":                         {`{"rbps":null}`, `"rbps": want a string such as "30Mi", found "null"`},
		"true":                         {`{"rbps":true}`, `"rbps": want a string such as "30Mi", found "true"`},
		"a list as a rate":             {`{"rbps":["1Mi"]}`, `"rbps": want a string such as "30Mi", found "[\"1Mi\"]"`},
		"a slash in the flat form":     {`{"rbps":"1Mi/4k"}`, `rbps: want the block size in blockSize, found one behind a slash`},
		"operations of a size":         {`{"v":{"requests":{"riops":"1/4k"}}}`, `riops: want a number of operations without a block size, found "1/4k"`},
		"a slash and nothing":          {`{"v":{"requests":{"rbps":"1Mi/"}}}`, `volume "v": requests: rbps: unsupported block size: want a number of bytes above zero such as 4k, found ""`},
		"blocks of no bytes":           {`{"v":{"requests":{"rbps":"1Mi/0"}}}`, `unsupported block size`},
		"a volume and a rate":          {`{"v":{"requests":{"rbps":"1Mi"}},"rbps":"1"}`, `"rbps": want an object with requests and limits as the other volumes have, found "\"1\""`},
		"no name of a volume":          {`{"My Volume":{"requests":{"rbps":"1Mi"}}}`, `want the name of a volume, found "My Volume"`},
		"a volume without rates":       {`{"v":{"requests":{},"limits":{}}}`, `volume "v": want one of rbps, wbps, riops and wiops in requests or limits, found none`},
		"rates without requests":       {`{"v":{"rbps":"1Mi"}}`, `volume "v": want requests or limits, found "rbps"`},
		"requests that are a string":   {`{"v":{"requests":"1Mi"}}`, `volume "v": requests: want an object such as {"rbps":"50Mi/4k"}, found "\"1Mi\"": want an object`},
		"a name unknown to requests":   {`{"v":{"requests":{"blockSize":"4k"}}}`, `volume "v": requests: want rbps, wbps, riops or wiops, found "blockSize"`},
		"a limit below the request":    {`{"v":{"requests":{"rbps":"2k"},"limits":{"rbps":"1k/4k"}}}`, `volume "v": rbps: want a request of at most the limit 1000, found 2000`},
		"longer than any wish":         {`{"rbps":"1"` + strings.Repeat(" ", MaxBlockIOBytes) + `}`, `want at most 16384 bytes, found 16396`},
		"nested deeper than any sense": {strings.Repeat(`{"a":`, 2000), `ends too early`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseBlockIO(tc.value)
			if got != nil || err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("ParseBlockIO = %v, %v; want an error with %s", got, err, tc.wantErr)
			}
		})
	}
}

func TestParseBlockIOBoundsItsInput(t *testing.T) {
	many := func(volumes int) string {
		var parts []string
		for i := range volumes {
			parts = append(parts, fmt.Sprintf(`"v%d":{"requests":{"rbps":"1"}}`, i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	if demands, err := ParseBlockIO(many(MaxBlockIOVolumes)); err != nil || len(demands) != MaxBlockIOVolumes {
		t.Errorf("%d volumes = %d demands, %v; want as many", MaxBlockIOVolumes, len(demands), err)
	}
	if _, err := ParseBlockIO(many(MaxBlockIOVolumes + 1)); err == nil || !strings.Contains(err.Error(), "want at most 64 volumes") {
		t.Errorf("one volume more: %v; want an error that says how many are legal", err)
	}
}

// TestParseBlockIOWithHugeExponents: ParseQuantity, or a comparison with what it returns, would take hours.
func TestParseBlockIOWithHugeExponents(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, number := range []string{"1e999999999", "1e-999999999", "1E+2147483647", "-1e-2147483647"} {
			if demands, err := ParseBlockIO(`{"rbps":"` + number + `"}`); err == nil {
				t.Errorf("ParseBlockIO of %s = %v; want an error", number, demands)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("still busy with the exponents")
	}
}

func TestBlockIOOf(t *testing.T) {
	const a, b = `{"rbps":"1","blockSize":"4k"}`, `{"rbps":"2","blockSize":"4k"}`
	cases := map[string]struct {
		annotations  map[string]string
		want         []BlockIODemand
		wantRequired bool
		wantErr      string
	}{
		"no annotations":                   {},
		"others":                           {annotations: map[string]string{"a": a}},
		"the predecessor's key":            {annotations: map[string]string{BlockIOAnnotation: a}, want: flat(1, 0, 4096), wantRequired: true},
		"the design document's key":        {annotations: map[string]string{BlockIOThroughputAnnotation: b}, want: flat(2, 0, 4096), wantRequired: true},
		"a key without a value requires":   {annotations: map[string]string{BlockIOAnnotation: ""}, wantRequired: true},
		"both keys, saying the same":       {annotations: map[string]string{BlockIOAnnotation: a, BlockIOThroughputAnnotation: a}, want: flat(1, 0, 4096), wantRequired: true},
		"both keys, saying something else": {annotations: map[string]string{BlockIOAnnotation: a, BlockIOThroughputAnnotation: b}, wantRequired: true, wantErr: "found two different values"},
		"a fault names the key":            {annotations: map[string]string{BlockIOThroughputAnnotation: "x"}, wantRequired: true, wantErr: `annotation "blockio.kubernetes.io/throughput": want a JSON object`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, required, err := BlockIOOf(tc.annotations)
			if diff := cmp.Diff(tc.want, got); diff != "" || required != tc.wantRequired {
				t.Errorf("required %v, want %v; demands (-want +got):\n%s", required, tc.wantRequired, diff)
			}
			if (err == nil) != (tc.wantErr == "") || !strings.Contains(errorText(err), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}

// FuzzParseBlockIO: no panic; every demand within bounds, or none and an error that fits into a condition.
func FuzzParseBlockIO(f *testing.F) {
	for _, seed := range []string{
		"", `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`, `{"rbps":1e9,"WBPS":".5","riops":"+1k"}`, `{"v":{"limits":{"rbps":"1"}}}`,
		`{"v":{"requests":{"rbps":"50Mi/4k"},"limits":{"wbps":"1Gi/32KiB","wiops":"1E"}}}`, `{"":{}}`, `{"rbps":"1e999"}`, `[]`, "{\"\xff\":1}",
	} {
		f.Add(seed)
	}
	sizes := map[int64]bool{512: true, 1024: true, 4096: true, 8192: true, 16384: true, 32768: true}
	f.Fuzz(func(t *testing.T, value string) {
		demands, err := ParseBlockIO(value)
		if err != nil {
			text := err.Error()
			if demands != nil || len(text) > 1000 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("demands %v with the error %q; want none and one line", demands, text)
			}
			return
		}
		volumes := map[string]bool{}
		for _, d := range demands {
			for _, rate := range []int64{d.ReadBytesPerSecond, d.WriteBytesPerSecond, d.ReadIOPS, d.WriteIOPS} {
				if rate < 0 || rate > MaxBlockIORate {
					t.Fatalf("rate %d out of range in %+v", rate, d)
				}
			}
			if !sizes[d.ReadBlockSize] || !sizes[d.WriteBlockSize] || volumes[d.Volume] {
				t.Fatalf("unknown block size or repeated volume in %+v", demands)
			}
			volumes[d.Volume] = true
		}
	})
}
