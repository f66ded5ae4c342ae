package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
	"github.com/vicinity-scheduler/vicinity/test/scenarios"
)

type demoOptions struct {
	output        string
	keep          bool
	list          bool
	kubeconfigOut string
}

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo [SCENARIO...]",
		Short: "Run scenarios on a local control plane and show where each pod went, and why",
		Long: "Run scenarios on a local control plane: real etcd, kube-apiserver and kube-controller-manager, fake nodes, and\n" +
			"vicinity-scheduler. Each scenario prints one line: ok or FAIL, its name, the decisive pod, the pod's node and the\n" +
			"reason. A SCENARIO is a name, a pattern over names, or the path of a scenario file; without any all are run.",
		Example: "  vicinity demo\n" +
			"  vicinity demo cacheaware/gateway-node --keep\n" +
			"  vicinity demo 'cacheaware/gateway-*' -o json\n" +
			"  vicinity demo my/scenarios/cacheaware/mine.yaml",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completeScenarios()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return demo(cmd.Context(), o, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "text", "text (a line per scenario) or json (an object per line)")
	flags.BoolVar(&o.keep, "keep", false, "leave the cluster up, with what the last scenario left, until Ctrl-C")
	flags.BoolVar(&o.list, "list", false, "list the scenarios instead of running them")
	flags.StringVar(&o.kubeconfigOut, "kubeconfig-out", defaultKubeconfig, "with --keep: where to write a kubeconfig; removed at the end")
	mustComplete(cmd, "output", "text", "json")
	return cmd
}

// completeScenarios offers the names and descriptions of the embedded scenarios to the shell.
func completeScenarios() ([]string, cobra.ShellCompDirective) {
	catalogue, err := format.Load(scenarios.FS())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, s := range catalogue {
		names = append(names, cobra.CompletionWithDesc(s.ID(), s.Description))
	}
	return names, cobra.ShellCompDirectiveDefault
}

func demo(ctx context.Context, o demoOptions, args []string, out, errOut io.Writer) error {
	if !slices.Contains([]string{"text", "json"}, o.output) {
		return fmt.Errorf("unknown output %q; want text or json", o.output)
	}
	catalogue, err := format.Load(scenarios.FS())
	if err != nil {
		return err
	}
	selected, err := format.Select(catalogue, args)
	if err != nil {
		return err
	}
	if o.list {
		return listScenarios(out, selected)
	}
	// Found before the cluster is started, so that a missing build is noticed at once.
	scheduler, err := localstack.LocateExecutable("vicinity-" + localstack.Scheduler)
	if err != nil {
		return err
	}
	binaries, err := localcluster.Build(ctx, errOut)
	if err != nil {
		return err
	}
	runner := &scenario.Runner{
		Binaries: binaries,
		Locate:   localstack.LocateExecutable,
		BinDir:   filepath.Dir(scheduler),
		Progress: errOut,
	}
	began := time.Now()
	ended, report := began, reporter(o.output, out, selected)
	runner.Report = func(r scenario.Result) {
		ended = time.Now()
		report(r)
	}
	if o.keep {
		runner.Keep = func(ctx context.Context, stack *localstack.Stack) error {
			return hold(ctx, stack, o.kubeconfigOut, kubectlFor(binaries.Kubectl), errOut)
		}
	}
	results, err := runner.Run(ctx, selected)
	if err != nil {
		return err
	}
	return summarise(results, ended.Sub(began), errOut)
}

// hold keeps the cluster until Ctrl-C or until one of its processes dies.
func hold(ctx context.Context, stack *localstack.Stack, kubeconfig, kubectl string, errOut io.Writer) error {
	remove, err := writeKubeconfig(kubeconfig, stack.Cluster.AdminKubeconfig(), errOut)
	if err != nil {
		return err
	}
	defer remove()
	if err := startSniffer(ctx, stack); err != nil {
		return err
	}
	const text = `
The cluster is still up. Look at it with

  %s --kubeconfig %s get pods --all-namespaces -o wide
`
	fmt.Fprintf(errOut, text, kubectl, kubeconfig)
	if err := announceSniffer(ctx, stack, errOut); err != nil {
		return err
	}
	fmt.Fprint(errOut, "\nPress Ctrl-C to stop it.\n")
	select {
	case <-ctx.Done():
		return nil
	case err := <-stack.Cluster.Failed():
		return err
	}
}

// summarise says how the run went as a whole, and fails if a scenario failed.
func summarise(results []scenario.Result, took time.Duration, errOut io.Writer) error {
	failed := scenario.Failed(results)
	if len(failed) == 0 {
		fmt.Fprintf(errOut, "%d of %d scenarios ok in %s\n", len(results), len(results), took.Round(time.Second))
		return nil
	}
	var names []string
	for _, r := range failed {
		names = append(names, r.Scenario)
	}
	return fmt.Errorf("%d of %d scenarios failed: %s", len(failed), len(results), strings.Join(names, ", "))
}
