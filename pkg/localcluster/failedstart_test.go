package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFailedStartLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	counter := filepath.Join(t.TempDir(), "starts")
	t.Setenv("TMPDIR", temp)
	tests := []struct {
		name, etcd string
		want       []string
		starts     int
	}{
		{
			name: "a store that exits at once", etcd: script(t, "bad-etcd", "echo x >>"+counter+"; echo unknown flag; exit 2"),
			want: []string{"bad-etcd", "exit status 2", "unknown flag"}, starts: 1,
		},
		{
			name: "a store that does not exist", etcd: filepath.Join(temp, "no-etcd"),
			want: []string{"no-etcd", "no such file"}, starts: 0,
		},
		{
			name: "a port that is always taken", etcd: script(t, "late-etcd", "echo x >>"+counter+"; echo bind: address already in use; exit 1"),
			want: []string{"late-etcd", "taken by somebody else"}, starts: startTries,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(counter, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Start(t.Context(), Options{Name: "broken", Binaries: Binaries{Etcd: tt.etcd}})
			assertSays(t, err, tt.want...)
			starts, err := os.ReadFile(counter)
			if err != nil || strings.Count(string(starts), "x") != tt.starts {
				t.Errorf("started %d times, %v, want %d", strings.Count(string(starts), "x"), err, tt.starts)
			}
			if left := entries(t, temp); len(left) != 0 {
				t.Errorf("%v is left in the temporary directory", left)
			}
		})
	}
}

func TestIntegrationFailedStartOfTheAPIServerStopsTheStore(t *testing.T) {
	skipIfShort(t)
	binaries := buildForTest(t)
	t.Setenv("TMPDIR", t.TempDir())
	binaries.APIServer = script(t, "bad-apiserver", "echo the store is at $1; exit 1")
	_, err := Start(t.Context(), Options{Name: "broken", Binaries: binaries})
	if err == nil || !strings.Contains(err.Error(), "bad-apiserver") {
		t.Fatalf("error %v, want one that names the program", err)
	}
	if left := entries(t, os.TempDir()); len(left) != 0 {
		t.Errorf("%v is left in the temporary directory", left)
	}
	_, address, found := strings.Cut(err.Error(), "--etcd-servers=")
	if !found {
		t.Fatalf("error %q does not show the program's log", err)
	}
	address, _, _ = strings.Cut(address, "\n")
	probe, probeErr := probeClient(address)
	if probeErr != nil {
		t.Fatal(probeErr)
	}
	if err := answersOK(probe, address+"/readyz")(t.Context()); err == nil {
		t.Errorf("the store at %s still answers", address)
	}
}
