package localstack

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

// Names of the components, also of their processes; the executable of X is vicinity-X.
const (
	Scheduler  = "scheduler"
	Controller = "controller"
	Agent      = "agent"
	Sniffer    = "sniffer"
)

// Components are the names of all components, the scheduler first.
func Components() []string { return []string{Scheduler, Controller, Agent, Sniffer} }

const readyTimeout = 90 * time.Second

// component is a started program and what is needed to start it again.
type component struct {
	spec       localcluster.ProcessSpec
	metricsURL string
	process    *localcluster.Process
	killed     bool
}

// start finds the component's executable and runs it until it is ready.
func (s *Stack) start(ctx context.Context, c *component) error {
	path, err := s.options.Locate("vicinity-" + c.spec.Name)
	if err != nil {
		return err
	}
	c.spec.Path, c.spec.ReadyTimeout = path, readyTimeout
	s.progressf("starting vicinity-%s", c.spec.Name)
	c.process, err = s.Cluster.StartProcess(ctx, c.spec)
	if err != nil {
		return fmt.Errorf("starting vicinity-%s: %w", c.spec.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.components[c.spec.Name] = c
	return nil
}

// Process returns a running component's process, or an error that says which components there are.
func (s *Stack) Process(name string) (*localcluster.Process, error) {
	c, err := s.component(name)
	if err != nil {
		return nil, err
	}
	return c.process, nil
}

func (s *Stack) component(name string) (*component, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.components[name]
	if !ok {
		started := make([]string, 0, len(s.components))
		for name := range s.components {
			started = append(started, name)
		}
		slices.Sort(started)
		return nil, fmt.Errorf("process %q was not started here; there is %q", name, started)
	}
	return c, nil
}

// KillComponent ends a component with SIGKILL, as a crash does.
func (s *Stack) KillComponent(name string) error {
	c, err := s.component(name)
	if err != nil {
		return err
	}
	c.killed = true
	if err := c.process.Kill(); err != nil {
		return fmt.Errorf("killing vicinity-%s: %w", name, err)
	}
	return nil
}

// StopComponent asks a component to end and waits for it. One that has ended already is no error.
func (s *Stack) StopComponent(ctx context.Context, name string) error {
	c, err := s.component(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := c.process.Stop(ctx); err != nil {
		return fmt.Errorf("stopping vicinity-%s: %w", name, err)
	}
	return nil
}

// RestartComponent starts a component again as it was, after stopping it if it still runs.
func (s *Stack) RestartComponent(ctx context.Context, name string) error {
	c, err := s.component(name)
	if err != nil {
		return err
	}
	if err := s.StopComponent(ctx, name); err != nil {
		return err
	}
	if c.killed {
		if err := s.releaseLease(ctx, name); err != nil {
			return err
		}
	}
	return s.start(ctx, &component{spec: c.spec, metricsURL: c.metricsURL})
}

// releaseLease removes the leader election lease of a process that died without giving it up.
func (s *Stack) releaseLease(ctx context.Context, name string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "vicinity-" + name}}
	if err := client.IgnoreNotFound(s.Kube.Delete(ctx, lease)); err != nil {
		return fmt.Errorf("releasing the lease of the killed vicinity-%s: %w", name, err)
	}
	return nil
}

// LogTail returns the last lines of a component's log, or nothing when it was never started.
func (s *Stack) LogTail(name string, lines int) string {
	c, err := s.component(name)
	if err != nil {
		return ""
	}
	return c.process.LogTail(lines)
}
