package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/cache"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

// newCommand is kube-scheduler's command around app.Setup and app.Run. kube-scheduler's own constructor calls
// both in one go; here the scheduler is at hand between them, which is where decisions get recorded.
func newCommand() *cobra.Command {
	opts := options.NewOptions()
	cmd := &cobra.Command{
		Use:   "vicinity-scheduler",
		Short: "kube-scheduler with Vicinity's plugins",
		Long: "vicinity-scheduler is kube-scheduler with plugins that place pods near their cached data.\n" +
			"It takes the flags and the KubeSchedulerConfiguration of kube-scheduler; the plugins are enabled there.\n" +
			"Vicinity version " + version.String() + ".",
		Args:              cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error { return opts.ComponentGlobalsRegistry.Set() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			return run(cmd.Context(), cmd, opts)
		},
	}
	flags := opts.Flags
	verflag.AddFlags(flags.FlagSet("global"))
	globalflag.AddGlobalFlags(flags.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range flags.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	width, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		width = 0 // not a terminal: help is not wrapped
	}
	cliflag.SetUsageAndHelpFunc(cmd, *flags, width)
	return cmd
}

func run(ctx context.Context, cmd *cobra.Command, opts *options.Options) error {
	gates := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gates); err != nil {
		return fmt.Errorf("logging flags: %w", err)
	}
	cliflag.PrintFlags(cmd.Flags())
	if opts.InformerName == nil {
		name, err := cache.NewInformerName("vicinity-scheduler")
		if err != nil {
			return fmt.Errorf("informer name for metrics: %w", err)
		}
		opts.InformerName = name
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := server.SetupSignalHandler()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()

	shared := newPlugins()
	completed, sched, err := app.Setup(ctx, opts, shared.options()...)
	if err != nil {
		return fmt.Errorf("starting the scheduler: %w", err)
	}
	recorded, err := startRecording(ctx, sched, shared.recorder)
	if err != nil {
		return err
	}
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	opts.ComponentGlobalsRegistry.AddMetrics()
	err = app.Run(ctx, completed, sched)
	cancel()
	recorded()
	if ctx.Err() != nil {
		return nil // app.Run returns an error even when it was asked to stop
	}
	return err
}
