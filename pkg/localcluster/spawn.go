package localcluster

import (
	"errors"
	"os/exec"
	"runtime"
)

// errStopped answers whoever wants a process of a cluster that is gone.
var errStopped = errors.New("the cluster has been stopped")

// spawner forks all children from one operating system thread. The kernel's parent death signal is sent when the
// forking *thread* ends, and Go ends threads as it likes; this one lives exactly as long as the spawner.
type spawner struct {
	requests chan spawnRequest
	quit     chan struct{}
}

type spawnRequest struct {
	cmd    *exec.Cmd
	result chan<- error
}

// newSpawner starts the thread. close ends it, and with it every child that is still running.
func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest), quit: make(chan struct{})}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	for {
		select {
		case r := <-s.requests:
			r.result <- r.cmd.Start()
		case <-s.quit:
			return
		}
	}
}

// start is cmd.Start on the spawner's thread.
func (s *spawner) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	select {
	case s.requests <- spawnRequest{cmd: cmd, result: result}:
		return <-result
	case <-s.quit:
		return errStopped
	}
}

func (s *spawner) close() {
	close(s.quit)
}
