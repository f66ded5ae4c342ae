package main

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/vicinity-scheduler/vicinity/pkg/daemon"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const description = `vicinity-sniffer is the service for the decisions of the Vicinity scheduler.

It takes decision records from schedulers over gRPC, watches what becomes of pods and nodes, keeps both in SQLite or
PostgreSQL, and answers questions over HTTP: why a pod is where it is, why another one is pending, which node was how full
when. Its page shows the same in a browser. Who may get a pod may ask about it.`

func main() {
	o := newOptions()
	os.Exit(daemon.Program{
		Name:        "vicinity-sniffer",
		Description: description,
		AddFlags:    o.addFlags,
		Validate:    o.validate,
		Run:         o.run,
	}.Main())
}

func (o *options) run(ctx context.Context) (err error) {
	run := decisions.Options{Retention: o.retention}
	if run.Database, err = o.databaseAddress(); err != nil {
		return err
	}
	if run.Kubernetes, err = o.kubernetes(); err != nil {
		return err
	}
	defer func() {
		// Run closes them; these are for a start that does not get that far.
		for _, ln := range []net.Listener{run.Health, run.Ingest, run.Legacy, run.HTTP} {
			if ln != nil {
				_ = ln.Close()
			}
		}
	}()
	var errs [4]error
	run.Health, errs[0] = health.Listen(ctx, "health-address", o.healthAddress)
	run.Ingest, errs[1] = ingest.Listen(ctx, o.ingestAddress, o.ingestTLS.CertFile != "")
	if o.ingestTLS.CertFile != "" {
		run.IngestTLS = &o.ingestTLS
	}
	if o.legacyAddress != "" {
		run.Legacy, errs[2] = health.Listen(ctx, "legacy-address", o.legacyAddress)
	}
	if run.Kubernetes != nil {
		run.HTTP, errs[3] = health.Listen(ctx, "http-address", o.httpAddress)
	}
	if o.httpTLS.CertFile != "" {
		run.HTTPTLS = &o.httpTLS
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return decisions.Run(ctx, run)
}
