package v1alpha1

import (
	"strings"
	"testing"
	"time"
)

func TestParseDatasetWait(t *testing.T) {
	legal := map[string]time.Duration{"30s": 30 * time.Second, "1m30s": 90 * time.Second, "250ms": 250 * time.Millisecond, "24h": MaxDatasetWait}
	for value, want := range legal {
		if got, err := ParseDatasetWait(value); err != nil || got != want {
			t.Errorf("ParseDatasetWait(%q) = %v, %v; want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"", "30", "0s", "-5s", "24h1ns", "soon", "1e9h", strings.Repeat("9", 300) + "s"} {
		got, err := ParseDatasetWait(value)
		if err == nil || !strings.Contains(err.Error(), "want a duration above zero and at most 24h0m0s") || len(err.Error()) > 200 {
			t.Errorf("ParseDatasetWait(%.20q) = %v, %v; want a short error that says what is legal", value, got, err)
		}
	}
}

// FuzzParseDatasetWait: no panic, and never a wait out of range.
func FuzzParseDatasetWait(f *testing.F) {
	for _, seed := range []string{"30s", "-1h", "9999999999h", "", "1h1h1h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if wait, err := ParseDatasetWait(value); err == nil && (wait <= 0 || wait > MaxDatasetWait) {
			t.Fatalf("ParseDatasetWait(%q) = %v without an error", value, wait)
		}
	})
}
