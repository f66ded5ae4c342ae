package main

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"

	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/daemon"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const description = `vicinity-agent measures the node that it runs on. What it measures, and how often, stands in its configuration file.

Collectors of this build: datasets, which reports how many bytes of cached datasets lie on the node; diskprofile, which
reports which disks the node has and what they can do; diskstats, which reports how much of that is left; rtt, which reports
round-trip times to other nodes.`

func main() {
	o := &options{
		nodeName: os.Getenv("NODE_NAME"), namespace: cmp.Or(os.Getenv("POD_NAMESPACE"), "vicinity-system"),
		healthAddress: ":9808", metricsAddress: ":9807",
	}
	os.Exit(daemon.Program{
		Name: "vicinity-agent", Description: description, AddFlags: o.addFlags, Validate: o.validate, Run: o.run,
	}.Main())
}

func (o *options) run(ctx context.Context) error {
	builders := collectors(o)
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
