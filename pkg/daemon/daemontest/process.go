package daemontest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// beProgram is the environment variable that turns the test binary into the program.
	beProgram = "VICINITY_DAEMONTEST_RUN_MAIN"

	// patience bounds every wait, for machines under heavy load.
	patience = 60 * time.Second
)

// Main runs the tests, or main when the process is a child made by Start. It returns the exit code of the process. The
// main function given ends the process itself; one that returns has succeeded.
func Main(m *testing.M, main func()) int {
	if os.Getenv(beProgram) != "" {
		main()
		return 0
	}
	return m.Run()
}

// Process is a program that runs as a child of the test.
type Process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	exited chan struct{}

	mu     sync.Mutex
	grown  chan struct{} // closed and replaced with each line
	stderr []string
}

// Start starts the program with the arguments given. It is killed at the end of the test.
func Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return StartWithEnv(t, nil, args...)
}

// StartWithEnv is Start with more environment variables, each as NAME=value.
func StartWithEnv(t *testing.T, env []string, args ...string) *Process {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, exited: make(chan struct{}), grown: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), executable, args...)
	p.cmd.Env = slices.Concat(neutralEnviron(), env, []string{beProgram + "=1"})
	p.cmd.Stdout = &p.stdout
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		p.read(stderr)
		_ = p.cmd.Wait() // ProcessState tells how it ended
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
	return p
}

// neutralEnviron is the environment without what the machine that runs the tests could decide them by.
func neutralEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "NODE_NAME" || name == "KUBECONFIG" || strings.HasPrefix(name, "KUBERNETES_SERVICE_")
	})
}

func (p *Process) read(stderr io.Reader) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		p.mu.Lock()
		if line != "" {
			p.stderr = append(p.stderr, line)
		}
		close(p.grown)
		p.grown = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Stderr returns what the process has written to standard error so far.
func (p *Process) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.stderr, "")
}

// AwaitLog waits for a line of a JSON log for which match is true and returns its fields.
func (p *Process) AwaitLog(what string, match func(fields map[string]any) bool) map[string]any {
	p.t.Helper()
	deadline := time.After(patience)
	for seen := 0; ; {
		p.mu.Lock()
		lines, grown := p.stderr[seen:], p.grown
		p.mu.Unlock()
		for _, line := range lines {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && match(fields) {
				return fields
			}
		}
		seen += len(lines)
		select {
		case <-grown:
		case <-p.exited:
			p.t.Fatalf("the process ended without logging %s:\n%s", what, p.Stderr())
		case <-deadline:
			p.t.Fatalf("the process has not logged %s after %s:\n%s", what, patience, p.Stderr())
		}
	}
}

// AwaitEndpoint waits until the named endpoint of package health is served and returns its address.
func (p *Process) AwaitEndpoint(name string) string {
	p.t.Helper()
	fields := p.AwaitLog(fmt.Sprintf("that it serves endpoint %q", name), func(fields map[string]any) bool {
		return fields["msg"] == "Serving" && fields["endpoint"] == name
	})
	return fmt.Sprint(fields["address"])
}

// Signal sends a signal to the process, if it has not ended yet.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait waits for the process to end and returns its exit code, -1 if a signal killed it, and its standard output.
func (p *Process) Wait() (exitCode int, stdout string) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("the process has not ended after %s:\n%s", patience, p.Stderr())
	}
	return p.cmd.ProcessState.ExitCode(), p.stdout.String()
}
