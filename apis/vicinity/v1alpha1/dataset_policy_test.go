package v1alpha1

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseDatasetPolicy(t *testing.T) {
	cases := map[string]struct {
		value   string
		want    DatasetPolicy
		wantErr string
	}{
		"preferred": {value: "Preferred", want: DatasetPolicyPreferred},
		"required":  {value: "Required", want: DatasetPolicyRequired},
		"nothing is a fault, because the key was written": {
			value: "", wantErr: `want "Preferred" or "Required", found ""`,
		},
		"case counts, as it does in every enumeration of Kubernetes": {
			value: "required", wantErr: `want "Preferred" or "Required", found "required"`,
		},
		"white space is not trimmed, and is visible in the message": {
			value: "Required\n", wantErr: `want "Preferred" or "Required", found "Required\n"`,
		},
		"both names": {
			value: "Preferred,Required", wantErr: `want "Preferred" or "Required", found "Preferred,Required"`,
		},
		"the longest value that is repeated whole": {
			value:   strings.Repeat("x", 64),
			wantErr: `want "Preferred" or "Required", found "` + strings.Repeat("x", 64) + `"`,
		},
		"a longer one is cut": {
			value:   strings.Repeat("x", 1<<18),
			wantErr: `want "Preferred" or "Required", found "` + strings.Repeat("x", 64) + `" and 262080 more bytes`,
		},
		"cut within a letter": {
			value:   strings.Repeat("x", 63) + "é",
			wantErr: `want "Preferred" or "Required", found "` + strings.Repeat("x", 63) + `\xc3" and 1 more bytes`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDatasetPolicy(tc.value)
			if got != tc.want {
				t.Errorf("policy %q, want %q", got, tc.want)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.wantErr, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseDatasetPolicy(f *testing.F) {
	for _, seed := range []string{"Preferred", "Required", "", "required", "\x00", "é", strings.Repeat("\n", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := ParseDatasetPolicy(value)
		if err == nil {
			if string(got) != value || (got != DatasetPolicyPreferred && got != DatasetPolicyRequired) {
				t.Fatalf("accepted %q as %q", value, got)
			}
			return
		}
		// Conditions and events are lines of text, of bounded length. Quoting turns a byte into 4 at most (\xff).
		text := err.Error()
		if got != "" || len(text) > 4*maxQuoted+100 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("policy %q with an error that does not fit into a condition: %q", got, text)
		}
	})
}
