package main

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"github.com/vicinity-scheduler/vicinity/pkg/daemon"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const description = `vicinity-sniffer is the service for the decisions of the Vicinity scheduler.

This version serves health and metrics only; it does not accept decision records yet.`

func main() {
	o := &options{healthAddress: ":8082"}
	os.Exit(daemon.Program{
		Name:        "vicinity-sniffer",
		Description: description,
		AddFlags:    o.addFlags,
		Validate:    o.validate,
		Run:         o.run,
	}.Main())
}

type options struct {
	healthAddress string
}

func (o *options) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.healthAddress, "health-address", o.healthAddress,
		"`ADDRESS` that serves /healthz, /readyz and /metrics, as host:port or :port")
}

func (o *options) validate() error {
	return health.ValidateAddress("health-address", o.healthAddress)
}

func (o *options) run(ctx context.Context) error {
	ln, err := health.Listen(ctx, "health-address", o.healthAddress)
	if err != nil {
		return err
	}
	return decisions.Run(ctx, decisions.Options{Health: ln})
}
