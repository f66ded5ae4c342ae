package localcluster

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// phase orders the stop: a process is stopped before those it needs.
type phase int

const (
	phaseUser        phase = iota // started through StartProcess
	phaseControllers              // kwok, kube-controller-manager
	phaseAPIServer
	phaseStore
	phaseEnd
)

// grace is how long a process of the phase may take to end after SIGTERM. Programs under test get the time that
// pods get for giving up leadership and the like; the data of the others is about to be deleted anyway.
func (p phase) grace() time.Duration {
	if p == phaseUser {
		return 10 * time.Second
	}
	return 3 * time.Second
}

// Stop ends all processes and removes the temporary directory. Those started through StartProcess go first, then the
// control plane from its clients down to the store; what does not end in time, or when ctx ends, is killed. Further
// calls do nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return nil
	}
	c.gone = true
	processes := c.processes
	c.mu.Unlock()

	for ph := range phaseEnd {
		var group sync.WaitGroup
		for _, p := range processes {
			if p.phase == ph {
				group.Go(func() { p.stopWithin(ctx, ph.grace()) })
			}
		}
		group.Wait()
	}
	c.spawner.close()
	return errors.Join(os.RemoveAll(c.dir), c.owner.Close())
}

// stopWithin stops the process, killing it when it takes too long; that it had to is no failure of the cluster's stop.
// A process that could not even be killed ends with the spawner's thread.
func (p *Process) stopWithin(ctx context.Context, grace time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	_ = p.Stop(ctx)
}
