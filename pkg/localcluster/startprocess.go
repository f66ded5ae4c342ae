package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// defaultReadyTimeout is how long a process may take to get ready unless its ProcessSpec says otherwise.
const defaultReadyTimeout = time.Minute

// ProcessSpec describes a program to be run beside the control plane.
type ProcessSpec struct {
	// Name names the process in messages and its log file, <Dir>/logs/<Name>.log. A name may be used again when the
	// earlier process has ended; the log is continued then.
	Name string
	// Path is the program; a relative one is looked up like a shell does it.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is added to this process's environment.
	Env []string
	// ReadyURL is asked until it answers 200; empty: the process counts as ready at once. On loopback any
	// certificate is accepted.
	ReadyURL string
	// ReadyTimeout bounds the wait for ReadyURL; 0 means 1 minute.
	ReadyTimeout time.Duration
}

// StartProcess runs a program as a child that dies with this process at the latest, and waits until it is ready. ctx
// bounds the wait only: the process runs until it is stopped or the cluster is. Its death without having been stopped
// is reported to Failed. On an error the process is gone.
func (c *Cluster) StartProcess(ctx context.Context, spec ProcessSpec) (*Process, error) {
	p, err := c.launch(phaseUser, spec.Name, spec.Path, spec.Args, append(os.Environ(), spec.Env...))
	if err != nil {
		return nil, err
	}
	if spec.ReadyURL != "" {
		if err := p.awaitReady(ctx, spec); err != nil {
			return nil, errors.Join(err, p.Kill())
		}
	}
	c.supervise(p)
	return p, nil
}

func (p *Process) awaitReady(ctx context.Context, spec ProcessSpec) error {
	timeout := spec.ReadyTimeout
	if timeout == 0 {
		timeout = defaultReadyTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := probeClient(spec.ReadyURL)
	if err != nil {
		return fmt.Errorf("%s: %w", spec.Name, err)
	}
	return await(ctx, spec.Name+" at "+spec.ReadyURL, answersOK(client, spec.ReadyURL), p)
}
