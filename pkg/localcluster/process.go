package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

const (
	// tailBytes bounds how much of a log file LogTail reads.
	tailBytes = 64 << 10
	// errorTailLines is how much of a log an error message shows.
	errorTailLines = 20
)

// Process is a child process of a cluster.
type Process struct {
	name      string
	phase     phase
	cmd       *exec.Cmd
	logPath   string
	logOffset int64 // where this run's output begins: a restarted program appends to its log
	done      chan struct{}
	exit      string // how it ended; to be read after done is closed
	stopped   atomic.Bool
}

// launch starts a process whose output is appended to the log file.
func launch(s *spawner, name, logFolder string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{name: name, cmd: cmd, logPath: filepath.Join(logFolder, fileName(name)+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log file of %s: %w", name, err)
	}
	defer log.Close() // the child has its own copy
	if p.logOffset, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("log file of %s: %w", name, err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if err := s.start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.exit = "exit status 0"
		if err := cmd.Wait(); err != nil {
			p.exit = err.Error()
		}
		close(p.done)
	}()
	return p, nil
}

// Name is the name the process was started under.
func (p *Process) Name() string { return p.name }

// PID is the operating system's number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the process with SIGKILL and waits until it is gone. A process that has already exited is no error.
func (p *Process) Kill() error {
	p.stopped.Store(true)
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Stop asks the process to end with SIGTERM and waits until it is gone. When ctx ends first, the process is killed,
// and the error says so. A process that has already exited is no error.
func (p *Process) Stop(ctx context.Context) error {
	p.stopped.Store(true)
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	if err := p.Kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s (pid %d) did not end after SIGTERM and was killed: %w", p.name, p.PID(), ctx.Err())
}

// LogTail is the end of what the process has written: at most n lines, empty when its log is gone with the cluster.
func (p *Process) LogTail(n int) string {
	f, err := os.Open(p.logPath)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(p.logOffset, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return ""
	}
	return lastLines(string(text), n)
}

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to %s (pid %d): %w", s, p.name, p.PID(), err)
	}
	return nil
}

func (p *Process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// finished tells whether the process was stopped and is gone. One that is gone without having been stopped is a
// failure that somebody has still to notice.
func (p *Process) finished() bool { return p.stopped.Load() && p.exited() }

// deathError describes a process that ended although nobody stopped it.
func (p *Process) deathError() error {
	tail := p.LogTail(errorTailLines)
	err := fmt.Errorf("%s (%s, pid %d) ended: %s; %s", p.name, p.cmd.Path, p.PID(), p.exit, quoteLog(p.logPath, tail))
	if strings.Contains(tail, syscall.EADDRINUSE.Error()) {
		return errors.Join(errPortTaken, err)
	}
	return err
}

// quoteLog introduces the end of a log in an error message.
func quoteLog(path, tail string) string {
	if tail == "" {
		return "it has written nothing to " + path
	}
	return "the end of " + path + ":\n" + tail
}

// lastLines are the last n lines of text, without a final newline.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-max(0, n)):], "\n")
}
