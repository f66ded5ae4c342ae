package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	defaultStartTimeout = 2 * time.Minute
	// startTries is how often a start is tried again with other ports when one was taken.
	startTries = 3
	// failures is how many unexpected deaths are kept for a reader of Failed; more say nothing new.
	failures = 16
)

// Options describe a cluster.
type Options struct {
	// Name is shown in progress lines and used in the temporary directory's name.
	Name string
	// Binaries are the programs, as returned by Build.
	Binaries Binaries
	// Progress receives a line at the start, every few seconds while it lasts, and at the end; nil is silent.
	Progress io.Writer
	// StartTimeout bounds the start; 0 means 2 minutes.
	StartTimeout time.Duration
}

// Cluster is a running control plane.
type Cluster struct {
	dir             string
	owner           *os.File // holds the lock on dir
	binaries        Binaries
	pki             *pki
	server          string // address of the API server
	adminKubeconfig []byte
	spawner         *spawner
	failed          chan error

	mu        sync.Mutex
	processes []*Process // see started
	gone      bool       // Stop has begun
}

// Start starts a control plane and returns when pods can be created in it. ctx bounds the start only: a started
// cluster runs until Stop. On an error everything that was started is gone again.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	timeout := o.StartTimeout
	if timeout == 0 {
		timeout = defaultStartTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sweep(ctx, os.TempDir())
	var c *Cluster
	what := fmt.Sprintf("control plane %s", fileName(o.Name))
	err := newReporter(o.Progress).step("starting "+what, what+" ready", func() (err error) {
		for range startTries {
			c, err = start(ctx, o)
			if !errors.Is(err, errPortTaken) {
				break
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("starting the local control plane %q: %w", o.Name, err)
	}
	return c, nil
}

// start is one try of Start.
func start(ctx context.Context, o Options) (*Cluster, error) {
	dir, owner, err := newFolder(os.TempDir(), o.Name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		dir: dir, owner: owner, binaries: o.Binaries,
		spawner: newSpawner(), failed: make(chan error, failures),
	}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	for _, p := range c.started() {
		c.supervise(p)
	}
	return c, nil
}

// startAll starts the processes, each as soon as what it needs is ready.
func (c *Cluster) startAll(ctx context.Context) error {
	if err := os.Mkdir(c.logFolder(), 0o700); err != nil {
		return err
	}
	var store string
	var files pkiFiles
	first, firstCtx := errgroup.WithContext(ctx)
	first.Go(func() (err error) {
		store, err = c.startEtcd(firstCtx)
		return err
	})
	first.Go(func() (err error) {
		if c.pki, err = newPKI(time.Now()); err == nil {
			files, err = c.pki.write(c.dir)
		}
		return err
	})
	if err := first.Wait(); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx, store, files); err != nil {
		return err
	}
	var err error
	if c.adminKubeconfig, err = c.certKubeconfig("admin", c.pki.admin); err != nil {
		return err
	}
	last, lastCtx := errgroup.WithContext(ctx)
	last.Go(func() error { return c.startControllerManager(lastCtx, files) })
	last.Go(func() error { return c.startKwok(lastCtx) })
	return last.Wait()
}

// Dir is the temporary directory of the cluster, readable by this user only. Stop removes it.
func (c *Cluster) Dir() string { return c.dir }

// Binaries are the programs the cluster was started with.
func (c *Cluster) Binaries() Binaries { return c.binaries }

// Failed yields an error when a child ended that nobody stopped. It is never closed.
func (c *Cluster) Failed() <-chan error { return c.failed }

// supervise reports the process to Failed when it ends without having been stopped.
func (c *Cluster) supervise(p *Process) {
	go func() {
		<-p.done
		if p.stopped.Load() {
			return
		}
		select {
		case c.failed <- p.deathError():
		default: // nobody has read the earlier ones
		}
	}()
}

// launch starts a process of the cluster; env is its whole environment.
func (c *Cluster) launch(ph phase, name, path string, args, env []string) (*Process, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = env
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil, fmt.Errorf("starting %s: %w", name, errStopped)
	}
	p, err := launch(c.spawner, name, c.logFolder(), cmd)
	if err != nil {
		return nil, err
	}
	p.phase = ph
	c.processes = append(slices.DeleteFunc(c.processes, (*Process).finished), p)
	return p, nil
}

// started are the processes that were started and not stopped since.
func (c *Cluster) started() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}

func (c *Cluster) logFolder() string { return filepath.Join(c.dir, "logs") }

// childEnv is the environment of the control plane's processes. It is not the user's: etcd, kwok and Kubernetes take
// settings from variables, and a user who works with real ones may have some of them set.
func (c *Cluster) childEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + c.dir}
}

// awaitURL waits until a process of the cluster answers; it gives up at once when any of them dies.
func (c *Cluster) awaitURL(ctx context.Context, what, address string, p *Process) error {
	client, err := probeClient(address)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(c.started(), func(other *Process) bool { return other == p })
	return await(ctx, what, answersOK(client, address), append(others, p)...)
}

// writeKubeconfig writes the kubeconfig file of a process of the control plane.
func (c *Cluster) writeKubeconfig(name string, pair keyPair) (string, error) {
	content, err := c.certKubeconfig(name, pair)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, name+".kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("kubeconfig of %s: %w", name, err)
	}
	return path, nil
}
