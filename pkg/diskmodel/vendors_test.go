package diskmodel

import (
	"fmt"
	"strings"
	"testing"
)

func TestEntriesWithFaults(t *testing.T) {
	good := fmt.Sprintf(`{"vendor":"V","model":"M","inline":%q}`, double)
	cases := map[string]struct{ entry, reason, wantErr string }{
		"the predecessor's plug-in":  {`{"vendor":"Intel","model":"P4510","url":"http://host/foo.so"}`, reasonNative, `disk vendors[1] (vendor "Intel", model "P4510"): url "http://host/foo.so": native plug-ins are not loaded into the scheduler; want a model document`},
		"a plug-in in capitals":      {`{"vendor":"a","model":"b","url":"file:///lib/FOO.SO"}`, reasonNative, "native plug-ins"},
		"a scheme of its own":        {`{"vendor":"a","model":"b","url":"ftp://host/m"}`, reasonList, "want one that begins with http://, https:// or file:///"},
		"no host":                    {`{"vendor":"a","model":"b","url":"http:///m"}`, reasonList, "want a host"},
		"a file of another host":     {`{"vendor":"a","model":"b","url":"file://host/m"}`, reasonList, "want file:/// and a path"},
		"no URL":                     {`{"vendor":"a","model":"b","url":"http://[::1"}`, reasonList, "found one that cannot be read"},
		"a password is not repeated": {`{"vendor":"a","model":"b","url":"ftp://u:secret@host/m"}`, reasonList, "u:xxxxx@host"},
		"neither URL nor document":   {`{"vendor":"a","model":"b"}`, reasonList, "want either url or inline"},
		"both":                       {`{"vendor":"a","model":"b","url":"http://h/","inline":"kind: Identity"}`, reasonList, "want either url or inline"},
		"a number as document":       {`{"vendor":"a","model":"b","inline":5}`, reasonList, "want a model document as an object or as a string"},
		"half a digest":              {`{"vendor":"a","model":"b","url":"http://h/","sha256":"abcd"}`, reasonList, `sha256: want 64 hexadecimal digits, found "abcd"`},
		"no name":                    {`{"url":"http://h/"}`, reasonList, "want the vendor and the model, found neither"},
		"an unknown field":           {`{"vendor":"a","model":"b","uri":"http://h/"}`, reasonList, `unknown field "uri"`},
		"the same disk again":        {`{"vendor":"V","model":"M","inline":"kind: Identity"}`, reasonList, "found it again"},
		"no object":                  {`"a"`, reasonList, "want an object with vendor, model"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newTestLoader(t, Options{})
			if err := l.SetVendors("[" + good + "," + tc.entry + "]"); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			wantFailures(t, l, tc.reason, 1)
			mustRefresh(t, l)
			wantCost(t, l, 200, true)
		})
	}
}

func TestTextsThatAreNoList(t *testing.T) {
	l := newTestLoader(t, Options{})
	mustSet(t, l, vendorList(t, map[string]any{"inline": double}))
	for name, list := range map[string]string{
		"an object": `{}`, "half a list": `[{`, "more than a list": `[]]`, "larger than any list": "[" + strings.Repeat(" ", MaxDocument) + "]",
		"more vendors than there are": "[" + strings.Repeat("{},", MaxEntries) + "{}]",
	} {
		if err := l.SetVendors(list); err == nil || !strings.Contains(err.Error(), "want ") || len(err.Error()) > 1000 {
			t.Errorf("%s: error %v, want a short one that says what is legal", name, err)
		}
	}
	wantFailures(t, l, reasonList, 5)
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
}

// FuzzParseVendors: no panic; every entry has a name and exactly one place, every fault a short text.
func FuzzParseVendors(f *testing.F) {
	for _, seed := range []string{
		"", `[]`, `[{"vendor":"Intel","model":"P4510","url":"http://host/foo.so"}]`, `[{"vendor":"a","model":"b","inline":{"kind":"Identity"}}]`,
		`[{"vendor":"a","url":"file:///x","sha256":"00"},null,1]`, `[{"VENDOR":"a","url":"http://[::1]/%zz"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, faults, err := parseVendors(text)
		for _, fault := range append(faults, err) {
			if fault != nil && len(fault.Error()) > 4000 {
				t.Fatalf("an error of %d bytes", len(fault.Error()))
			}
		}
		for _, e := range entries {
			if err != nil || e.key == (Key{}) || (e.url == "") == (e.inline == nil) {
				t.Fatalf("entry %+v with the error %v", e, err)
			}
		}
	})
}
