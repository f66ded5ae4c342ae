package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// startSniffer runs the decision service unless it runs already. What the scheduler has recorded before waits in its spool
// and is delivered then.
func startSniffer(ctx context.Context, stack *localstack.Stack) error {
	if _, err := stack.Process(localstack.Sniffer); err == nil {
		return nil
	}
	return stack.StartComponent(ctx, localstack.Sniffer, "")
}

// announceSniffer says where the decision service has its page, and how the command line reaches it, if it runs.
func announceSniffer(ctx context.Context, stack *localstack.Stack, out io.Writer) error {
	if _, err := stack.Process(localstack.Sniffer); err != nil {
		return nil //nolint:nilerr // the error says that it was not started, which is no fault
	}
	address, err := stack.SnifferURL()
	if err != nil {
		return err
	}
	token, err := stack.ReaderToken(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `
Decisions are shown at

  %s/#token=%s

and told by "vicinity explain" and "vicinity occupancy" after

  export %s=%s %s=%s
`, address, token, serviceVariable, address, tokenVariable, token)
	return nil
}
