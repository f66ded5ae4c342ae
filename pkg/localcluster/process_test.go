package localcluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// endless runs until SIGTERM, after telling in its log that it is ready for it.
const endless = `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done`

// deaf ignores SIGTERM.
const deaf = `trap '' TERM; echo up; while :; do sleep 0.05; done`

func TestStopEndsAProcessGently(t *testing.T) {
	c := bareCluster(t)
	p := startScript(t, c, "endless", endless)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.LogTail(10); got != "up\nbye" {
		t.Errorf("log %q, want that it ended on its own", got)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
	assertSilent(t, c)
}

func TestStopKillsAProcessThatIgnoresIt(t *testing.T) {
	c := bareCluster(t)
	p := startScript(t, c, "deaf", deaf)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := p.Stop(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "deaf") {
		t.Errorf("error %v, want one that says that deaf had to be killed", err)
	}
	if !p.exited() {
		t.Error("the process is still there")
	}
	assertSilent(t, c)
}

func TestKillThenRestartContinuesTheLog(t *testing.T) {
	c := bareCluster(t)
	first := startScript(t, c, "endless", endless)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Kill(); err != nil {
		t.Errorf("killing it again: %v", err)
	}
	second := startScript(t, c, "endless", "echo second; "+endless)
	if got := second.LogTail(10); got != "second\nup" {
		t.Errorf("log of the second run %q, want only its own lines", got)
	}
	whole, err := os.ReadFile(filepath.Join(c.Dir(), "logs", "endless.log"))
	if err != nil || string(whole) != "up\nsecond\nup\n" {
		t.Errorf("log file %q, %v, want both runs", whole, err)
	}
	if got := second.LogTail(1); got != "up" {
		t.Errorf("last line %q, want up", got)
	}
	assertSilent(t, c)
}

func TestFailedNamesAProcessThatDiesAlone(t *testing.T) {
	c := bareCluster(t)
	p := startScript(t, c, "shaky", `echo something is wrong; exit 3`)
	assertSays(t, <-c.Failed(), "shaky", "exit status 3", "something is wrong")
	<-p.Done()
}

func TestStartProcessWaitsUntilReady(t *testing.T) {
	c := bareCluster(t)
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	p, err := c.StartProcess(t.Context(), ProcessSpec{
		Name: "server", Path: script(t, "server", endless), ReadyURL: server.URL + "/readyz", Env: []string{"A=b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3: it was ready then", n)
	}
	if p.Name() != "server" || p.PID() <= 0 {
		t.Errorf("name %q, pid %d", p.Name(), p.PID())
	}
}

func TestStartProcessThatDoesNotGetReadyLeavesNothing(t *testing.T) {
	unready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "still loading", http.StatusServiceUnavailable)
	}))
	defer unready.Close()
	tests := []struct {
		name, text string
		want       []string
	}{
		{name: "never ready", text: endless, want: []string{"never ready", "still loading", "503", "up"}},
		{name: "dies first", text: "echo no such file; exit 1", want: []string{"dies first", "exit status 1", "no such file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := bareCluster(t)
			_, err := c.StartProcess(t.Context(), ProcessSpec{
				Name: tt.name, Path: script(t, "program", tt.text), ReadyURL: unready.URL, ReadyTimeout: time.Second,
			})
			assertSays(t, err, tt.want...)
			for _, p := range c.started() {
				if !p.exited() {
					t.Errorf("%s is still running", p.Name())
				}
			}
			assertSilent(t, c)
		})
	}
}

func TestStopOfAClusterStopsItsProcessesAndRemovesItsDirectory(t *testing.T) {
	c := bareCluster(t)
	gentle, stubborn := startScript(t, c, "endless", endless), startScript(t, c, "deaf", deaf)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if !gentle.exited() || !stubborn.exited() {
		t.Error("a process is still there")
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := c.Stop(ctx); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
	if _, err := c.StartProcess(t.Context(), ProcessSpec{Name: "late", Path: "true"}); !errors.Is(err, errStopped) {
		t.Errorf("starting a process in a stopped cluster: %v, want %v", err, errStopped)
	}
	assertSilent(t, c)
}

func TestAProcessThatFindsItsPortTakenIsTriedAgain(t *testing.T) {
	c := bareCluster(t)
	startScript(t, c, "late", "echo listen tcp 127.0.0.1:20000: bind: "+syscall.EADDRINUSE.Error()+"; exit 1")
	if err := <-c.Failed(); !errors.Is(err, errPortTaken) {
		t.Errorf("error %v, want %v", err, errPortTaken)
	}
	startScript(t, c, "broken", "exit 1")
	if err := <-c.Failed(); errors.Is(err, errPortTaken) {
		t.Errorf("error %v blames a port", err)
	}
}

func TestFreePortCanBeListenedOn(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if port < firstPort || port >= firstPort+portCount {
		t.Errorf("port %d is not in the range that outgoing connections leave alone", port)
	}
	listener, err := net.Listen("tcp", hostPort(port))
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

// startScript starts a program and waits until it has written something or is gone.
func startScript(t *testing.T, c *Cluster, name, text string) *Process {
	t.Helper()
	p, err := c.StartProcess(t.Context(), ProcessSpec{Name: name, Path: script(t, name, text)})
	if err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(p.LogTail(10), "up") && !p.exited() {
		time.Sleep(time.Millisecond)
	}
	return p
}

// assertSilent checks that no death was reported: those that were wanted are none of Failed's business.
func assertSilent(t *testing.T, c *Cluster) {
	t.Helper()
	select {
	case err := <-c.Failed():
		t.Errorf("reported as failed: %v", err)
	default:
	}
}

// On Linux a child dies with the thread that forked it, and a caller's thread may end at any time. Here the callers'
// threads end at once; there are two because the first thread of a program is never ended.
func TestProcessesOutliveTheThreadsThatAskedForThem(t *testing.T) {
	c := bareCluster(t)
	path := script(t, "endless", endless)
	started := make(chan *Process, 2)
	var asking, locked sync.WaitGroup
	locked.Add(2)
	for range 2 {
		asking.Go(func() {
			runtime.LockOSThread() // not unlocked: the thread ends with this goroutine
			locked.Done()
			locked.Wait()
			p, err := c.StartProcess(t.Context(), ProcessSpec{Name: "endless", Path: path})
			if err != nil {
				t.Error(err)
				return
			}
			started <- p
		})
	}
	asking.Wait()
	close(started)
	time.Sleep(300 * time.Millisecond)
	for p := range started {
		if p.exited() {
			t.Errorf("a process ended with the thread that asked for it: %s", p.exit)
		}
	}
}
