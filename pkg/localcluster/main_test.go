package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play the process that owns a cluster, for tests that kill it, and checks that no
// test leaves a goroutine.
func TestMain(m *testing.M) {
	if os.Getenv(ownerVariable) != "" {
		os.Exit(ownCluster())
	}
	goleak.VerifyTestMain(m)
}

// bareCluster is a cluster without a control plane, for tests of what runs beside it.
func bareCluster(t *testing.T) *Cluster {
	t.Helper()
	dir, owner, err := newFolder(t.TempDir(), "bare")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: dir, owner: owner, spawner: newSpawner(), failed: make(chan error, failures)}
	if err := os.Mkdir(c.logFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, c)
	return c
}

// assertSays checks that there is an error and that its text holds each of the wanted ones.
func assertSays(t *testing.T, err error, wanted ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", wanted)
		return
	}
	for _, want := range wanted {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

// script writes a program for /bin/sh.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
