package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/daemon"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const description = `vicinity-agent measures the node that it runs on. What it measures, and how often, stands in its configuration file.

Collectors of this build: datasets, which reports how many bytes of cached datasets lie on the node; and rtt, which reports
round-trip times to other nodes.`

func main() {
	o := &options{nodeName: os.Getenv("NODE_NAME"), healthAddress: ":9808", metricsAddress: ":9807"}
	os.Exit(daemon.Program{
		Name: "vicinity-agent", Description: description, AddFlags: o.addFlags, Validate: o.validate, Run: o.run,
	}.Main())
}

type options struct {
	config, nodeName, kubeconfig, healthAddress, metricsAddress string
}

func (o *options) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.config, "config", o.config, "`FILE` with an AgentConfiguration (config.vicinity.dev/v1); without it the defaults apply")
	fs.StringVar(&o.nodeName, "node-name", o.nodeName, "`NAME` of this machine's Node object; by default the value of $NODE_NAME")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"`FILE` that tells how to reach the API server, for collectors that report to it; by default as the pod's ServiceAccount")
	fs.StringVar(&o.healthAddress, "health-address", o.healthAddress, "`ADDRESS` that serves /healthz and /readyz, as host:port or :port")
	fs.StringVar(&o.metricsAddress, "metrics-address", o.metricsAddress, "`ADDRESS` that serves /metrics, as host:port or :port")
}

func (o *options) validate() error {
	if o.nodeName == "" {
		return errors.New("--node-name: expected the name of this machine's Node object, found nothing; set the flag or $NODE_NAME")
	}
	if faults := validation.IsDNS1123Subdomain(o.nodeName); len(faults) > 0 {
		return fmt.Errorf("--node-name: %q cannot be the name of a Node: %s", o.nodeName, strings.Join(faults, "; "))
	}
	return errors.Join(
		health.ValidateAddress("health-address", o.healthAddress),
		health.ValidateAddress("metrics-address", o.metricsAddress),
	)
}

func (o *options) run(ctx context.Context) error {
	builders := collectors(o.kubeconfig)
	config, err := agent.LoadConfiguration(o.config, agent.Names(builders))
	if err != nil {
		return err
	}
	probes, err := health.Listen(ctx, "health-address", o.healthAddress)
	if err != nil {
		return err
	}
	metrics, err := health.Listen(ctx, "metrics-address", o.metricsAddress)
	if err != nil {
		return errors.Join(err, probes.Close())
	}
	return agent.Run(ctx, agent.Options{
		NodeName: o.nodeName, Config: config, Builders: builders, Health: probes, Metrics: metrics,
		Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	})
}
