package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
)

// interruptedStatus is what shells report for a program that was ended by Ctrl-C.
const interruptedStatus = 130

func main() {
	os.Exit(run())
}

func run() int {
	// controller-runtime complains on stderr when nobody has chosen a logger; the command line has nothing to log.
	ctrl.SetLogger(logr.Discard())
	// Simulations read scheduler configurations with the arguments of our plugins.
	scheme.Install()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// From the first signal on a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	root := newRootCommand(filepath.Base(os.Args[0]))
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(os.Stderr, "%s: interrupted\n", root.Name())
		return interruptedStatus
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", root.Name(), err)
		return exitStatus(err)
	}
}
