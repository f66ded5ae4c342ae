package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vicinity-scheduler/vicinity/hack/controlplane"
)

// greeter is a program that prints the version stamped into it. Its module lies on this disk, so that building it
// needs no network.
func greeter(t *testing.T) program {
	t.Helper()
	source := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/greeter\n\ngo 1.26\n",
		"main.go": "package main\n\nvar version = \"unknown\"\n\nfunc main() { println(version) }\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return program{
		name: "greeter", pkg: "example.com/greeter", module: "example.com/greeter",
		pins: controlplane.Module{Mod: fmt.Sprintf(
			"module example.com/pins\n\ngo 1.26\n\nrequire example.com/greeter v1.2.3\n\nreplace example.com/greeter => %s\n", source)},
		stamp: func(version string) string { return "-X main.version=" + version },
	}
}

func TestBuildAllBuildsOnceWhateverTheUsersGoFlags(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=vendor -modfile=elsewhere.mod")
	t.Setenv("GOOS", "plan9")
	cache, p := t.TempDir(), greeter(t)
	stale := filepath.Join(cache, scratchPrefix+"interrupted")
	if err := os.Mkdir(stale, 0o700); err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	if err := buildAll(t.Context(), cache, []program{p}, newReporter(&progress)); err != nil {
		t.Fatal(err)
	}
	product := filepath.Join(cache, "bin", "greeter")
	output, err := exec.CommandContext(t.Context(), product).CombinedOutput()
	if err != nil || strings.TrimSpace(string(output)) != "v1.2.3" {
		t.Errorf("the program prints %q, %v, want the stamped version v1.2.3", output, err)
	}
	if text := progress.String(); !strings.HasPrefix(text, "building greeter v1.2.3 (1/1)\n") || !strings.Contains(text, "built greeter v1.2.3 (1/1) in ") {
		t.Errorf("progress %q does not say what is built and how long it took", text)
	}
	assertNoScratch(t, cache)

	progress.Reset()
	if err := buildAll(t.Context(), cache, []program{p}, newReporter(&progress)); err != nil || progress.Len() != 0 {
		t.Errorf("a second build: %v, printed %q, want silence", err, progress.String())
	}
}

func TestBuildAllLeavesNothingHalfDone(t *testing.T) {
	good, broken := greeter(t), greeter(t)
	broken.pkg = "example.com/greeter/missing"
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		run     func(cache string) error
		wantErr string
	}{
		{
			name:    "source that does not build",
			run:     func(cache string) error { return buildAll(t.Context(), cache, []program{broken}, newReporter(nil)) },
			wantErr: "missing",
		},
		{
			name:    "a cancelled build",
			run:     func(cache string) error { return buildAll(cancelled, cache, []program{good}, newReporter(nil)) },
			wantErr: context.Canceled.Error(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			assertSays(t, tt.run(cache), tt.wantErr)
			if _, err := os.Stat(filepath.Join(cache, "bin", "greeter")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a program after a failed build: %v", err)
			}
			assertNoScratch(t, cache)
		})
	}
}

func TestBuildAllWaitsForAnotherProcess(t *testing.T) {
	cache, p := t.TempDir(), greeter(t)
	other, err := lockFile(t.Context(), filepath.Join(cache, "lock"), nil)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	result := make(chan error, 1)
	go func() { result <- buildAll(t.Context(), cache, []program{p}, newReporter(writerTo(said))) }()
	if line := <-said; !strings.Contains(line, "another process is building") {
		t.Errorf("said %q, want that it waits", line)
	}
	fill(t, filepath.Join(cache, "bin"), []string{"greeter"}) // what the other process has built
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	select {
	case line := <-said:
		t.Errorf("said %q, want nothing to be built after the wait", line)
	default:
	}
}

func TestBuildErrorsLeavesDownloadsOut(t *testing.T) {
	output := "go: downloading k8s.io/api v0.37.1\n" + strings.Repeat("old\n", buildOutputLines) + "main.go:1:1: broken\n"
	got := buildErrors(output)
	if strings.Contains(got, "downloading") || !strings.HasSuffix(got, "main.go:1:1: broken") {
		t.Errorf("got %q", got)
	}
	if lines := strings.Count(got, "\n") + 1; lines != buildOutputLines {
		t.Errorf("%d lines, want %d", lines, buildOutputLines)
	}
}

func assertNoScratch(t *testing.T, cache string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(cache, scratchPrefix+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("scratch folders %v are left, %v", left, err)
	}
}

// writerTo passes each write on.
type writerTo chan<- string

func (w writerTo) Write(text []byte) (int, error) {
	w <- string(text)
	return len(text), nil
}
