package rtt

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	// hostEnv names the host that a process of this test binary is, in JSON.
	hostEnv = "VICINITY_RTT_TEST_HOST"
	// highestPriority is a nice value.
	highestPriority = -20
)

// hostSpec is what a host is told.
type hostSpec struct {
	Name     string
	Interval time.Duration
	Config   configv1.RTTConfiguration
}

// round is what a host prints after each round.
type round struct {
	Host    string
	Started time.Time
	Error   string
	Status  vicinityv1alpha1.NodeRTTStatus
}

// hostMain is the process of a host: the collector as it is in the agent, with an API server that takes everything.
func hostMain() int {
	// A machine that runs other tests at the same time must not show in round-trip times.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, highestPriority)
	var spec hostSpec
	if err := json.Unmarshal([]byte(os.Getenv(hostEnv)), &spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(klog.NewContext(context.Background(), klog.Background()), syscall.SIGTERM)
	defer stop()
	collector, err := newCollector(spec.Name, &spec.Config, memoryStore{}, prometheus.NewRegistry(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	printed := json.NewEncoder(os.Stdout)
	for ctx.Err() == nil {
		started := time.Now()
		roundCtx, cancel := context.WithTimeout(ctx, spec.Interval)
		said := round{Host: spec.Name, Started: started}
		if err := collector.Collect(roundCtx, started); err != nil {
			said.Error = err.Error()
		}
		cancel()
		said.Status = collector.status()
		if err := printed.Encode(said); err != nil {
			break
		}
		pause(ctx, time.Until(started.Add(spec.Interval)))
	}
	if err := collector.Close(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// memoryStore is an API server that takes every report, and a node without a zone label.
type memoryStore struct{}

func (memoryStore) Read(context.Context) (*vicinityv1alpha1.NodeRTTStatus, error) { return nil, nil }
func (memoryStore) Write(context.Context, vicinityv1alpha1.NodeRTTStatus) error   { return nil }
func (memoryStore) Zone(context.Context) (string, error)                          { return "", nil }
func (memoryStore) Close()                                                        {}
