package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracesink"
)

// notifyRetries makes gRPC repeat a call that did not reach the service. A repeated event is stored once.
const notifyRetries = `{"methodConfig": [{"name": [{"service": "api.SnifferService"}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "2s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

type notifyOptions struct {
	address, stage, event string
	timeout               time.Duration
}

func newNotifyCommand() *cobra.Command {
	o := &notifyOptions{}
	cmd := &cobra.Command{
		Use:   "notify --address HOST:PORT [--stage STAGE] [--event EVENT] [--timeout DURATION]",
		Short: "Tell the decision service that a container starts or ends, from its lifecycle hook",
		Long: "Tell the decision service, or a service of the predecessor's, that a container starts or ends. It takes the flags and\n" +
			"the environment of scheduler-sniffer's notifier, with one dash or two, and stands in its place in lifecycle hooks.\n\n" +
			"The pod is the one of SNIFFER_POD_NAME, else of the host's name; the node that of SNIFFER_NODE_NAME. POD_NAMESPACE and\n" +
			"POD_UID, if set, tell pods of one name apart. Unlike the notifier's, the exit code is not 0 when the event was not taken.",
		Example: "  lifecycle:\n" +
			"    preStop:\n" +
			"      exec:\n" +
			"        command: [vicinity, notify, --address=vicinity-sniffer.vicinity-system:4242, --stage=preStop, --event=preStop]",
		DisableFlagParsing: true, // the predecessor's flags are those of Go's flag package
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.parse(args)
			if errors.Is(err, flag.ErrHelp) {
				return cmd.Help()
			}
			if err != nil {
				return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
			}
			return o.send(cmd.Context(), time.Now())
		},
	}
	return cmd
}

func (o *notifyOptions) parse(args []string) error {
	flags := flag.NewFlagSet("notify", flag.ContinueOnError)
	flags.SetOutput(&nowhere{})
	flags.StringVar(&o.address, "address", "", "")
	flags.StringVar(&o.stage, "stage", "preStop", "")
	flags.StringVar(&o.event, "event", "preStop", "")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case o.address == "":
		return errors.New("want --address host:port of the service")
	case flags.NArg() > 0:
		return fmt.Errorf("want no arguments besides flags, found %q", flags.Args())
	case o.timeout <= 0:
		return fmt.Errorf("want a --timeout of more than 0, found %s", o.timeout)
	}
	return nil
}

// nowhere swallows what the flag package prints besides returning it.
type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }

func (o *notifyOptions) send(ctx context.Context, now time.Time) error {
	pod := os.Getenv("SNIFFER_POD_NAME")
	if pod == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("want the pod's name in SNIFFER_POD_NAME, found none, nor the host's: %w", err)
		}
		pod = host
	}
	conn, err := grpc.NewClient(o.address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(notifyRetries))
	if err != nil {
		return fmt.Errorf("notifying %s: %w", o.address, err)
	}
	defer func() { _ = conn.Close() }() // the process ends
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	_, err = tracev1.NewSnifferServiceClient(conn).Send(ctx, tracesink.LegacyRequest(&trace.Event{
		Object: "Pod", Name: pod, Namespace: os.Getenv("POD_NAMESPACE"), UID: os.Getenv("POD_UID"), Node: os.Getenv("SNIFFER_NODE_NAME"),
		Endpoint: o.stage, Event: cmp.Or(o.event, o.stage), Time: now,
	}), grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("notifying %s that pod %s is at %s, within %s: %w", o.address, pod, o.stage, o.timeout, err)
	}
	return nil
}
