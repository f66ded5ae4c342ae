package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// defaultKubeconfig is ignored by git in this repository.
const defaultKubeconfig = ".vicinity/kubeconfig"

// maxNodes keeps a slip of the finger from filling the machine's memory.
const maxNodes = 20000

type upOptions struct {
	nodes           int
	with            []string
	kubeconfigOut   string
	schedulerConfig string
	compatProfiles  bool
	crds            []string
}

func newUpCommand() *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a local control plane with fake nodes and Vicinity's scheduler until Ctrl-C",
		Long: "Run a local control plane (real etcd, kube-apiserver and kube-controller-manager; nodes and running pods are\n" +
			"faked by kwok), apply Vicinity's manifests, and run vicinity-scheduler under its own ServiceAccount. The first\n" +
			"start builds the programs, which takes minutes. Ctrl-C stops everything and leaves nothing behind.",
		Example: "  vicinity up\n" +
			"  vicinity up --nodes 12 --crds datashim --compat-profiles\n" +
			"  vicinity up --with controller --scheduler-config my-config.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd.Context(), &o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	optional, sets := localstack.Components()[1:], knownCRDSets()
	flags := cmd.Flags()
	flags.IntVar(&o.nodes, "nodes", 6, "number of fake nodes, spread over zones, regions and racks")
	flags.StringSliceVar(&o.with, "with", []string{localstack.Sniffer}, "components to run beside the scheduler: "+strings.Join(optional, ", "))
	flags.StringVar(&o.kubeconfigOut, "kubeconfig-out", defaultKubeconfig, "where to write an admin's kubeconfig; removed at the end")
	flags.StringVar(&o.schedulerConfig, "scheduler-config", "", "a KubeSchedulerConfiguration file to use instead of the manifests' one")
	flags.BoolVar(&o.compatProfiles, "compat-profiles", false,
		"also serve pods of the schedulers named "+strings.Join(localstack.CompatSchedulerNames(), ", "))
	flags.StringSliceVar(&o.crds, "crds", nil, "other projects' CRDs to install: "+strings.Join(sets, ", "))
	mustComplete(cmd, "with", optional...)
	mustComplete(cmd, "crds", sets...)
	return cmd
}

// knownCRDSets is for help texts; an unreadable embedded folder shows up when it is used.
func knownCRDSets() []string {
	sets, err := localstack.ForeignCRDSets()
	if err != nil {
		return nil
	}
	return sets
}

func (o *upOptions) validate() error {
	var errs []error
	if o.nodes < 0 || o.nodes > maxNodes {
		errs = append(errs, fmt.Errorf("--nodes: want a number from 0 to %d, found %d", maxNodes, o.nodes))
	}
	errs = append(errs, known("--with", o.with, localstack.Components()[1:]), known("--crds", o.crds, knownCRDSets()))
	if o.kubeconfigOut == "" {
		errs = append(errs, errors.New("--kubeconfig-out: want a file name, found nothing"))
	}
	return errors.Join(errs...)
}

func known(flag string, given, allowed []string) error {
	for _, value := range given {
		if !slices.Contains(allowed, value) {
			return fmt.Errorf("%s: want one of %s, found %q", flag, strings.Join(allowed, ", "), value)
		}
	}
	return nil
}

func up(ctx context.Context, o *upOptions, out, errOut io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	config, err := o.readSchedulerConfig()
	if err != nil {
		return err
	}
	// Found before the cluster is started, so that a missing build is noticed at once.
	for _, name := range append([]string{localstack.Scheduler}, o.with...) {
		if _, err := localstack.LocateExecutable("vicinity-" + name); err != nil {
			return err
		}
	}
	binaries, err := localcluster.Build(ctx, errOut)
	if err != nil {
		return err
	}
	stack, err := localstack.Start(ctx, localstack.Options{
		Name:        "up",
		Binaries:    binaries,
		Locate:      localstack.LocateExecutable,
		ForeignCRDs: o.crds,
		Progress:    errOut,
	})
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(errOut, "stopping")
		err = errors.Join(err, stack.Stop(ctx))
	}()
	profiles, err := o.populate(ctx, stack, config, errOut)
	if err != nil {
		return err
	}
	remove, err := writeKubeconfig(o.kubeconfigOut, stack.Cluster.AdminKubeconfig(), errOut)
	if err != nil {
		return err
	}
	defer remove()
	o.explain(out, stack, profiles, kubectlFor(binaries.Kubectl))
	if err := announceSniffer(ctx, stack, out); err != nil {
		return err
	}
	fmt.Fprint(out, "\nPress Ctrl-C to stop.\n")
	select {
	case <-ctx.Done():
		return nil
	case err := <-stack.Cluster.Failed():
		return err
	}
}

// readSchedulerConfig reads the user's configuration, or nothing when the manifests' one is to be used.
func (o *upOptions) readSchedulerConfig() (*localstack.SchedulerConfig, error) {
	if o.schedulerConfig == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.schedulerConfig)
	if err != nil {
		return nil, fmt.Errorf("--scheduler-config: %w", err)
	}
	config, err := localstack.ParseSchedulerConfig(data)
	if err != nil {
		return nil, fmt.Errorf("--scheduler-config %s: %w", o.schedulerConfig, err)
	}
	return &config, nil
}

// populate creates the nodes and starts the components. It returns the scheduler's profiles.
func (o *upOptions) populate(
	ctx context.Context, stack *localstack.Stack, given *localstack.SchedulerConfig, errOut io.Writer,
) ([]string, error) {
	config, err := stack.SchedulerConfig()
	if given != nil {
		config, err = *given, nil
	}
	if err != nil {
		return nil, err
	}
	if o.compatProfiles {
		if err := config.AddCompatProfiles(); err != nil {
			return nil, err
		}
	}
	if o.nodes > 0 {
		fmt.Fprintf(errOut, "up: creating %d nodes\n", o.nodes)
		if err := stack.ApplyNodes(ctx, layOut(o.nodes)); err != nil {
			return nil, err
		}
	}
	if err := stack.StartScheduler(ctx, config); err != nil {
		return nil, err
	}
	for _, name := range o.with {
		if err := stack.StartComponent(ctx, name, o.agentNode()); err != nil {
			return nil, err
		}
	}
	return config.ProfileNames(), nil
}

// agentNode is the node that an agent takes this machine for.
func (o *upOptions) agentNode() string {
	if o.nodes == 0 {
		return "localhost"
	}
	return layOut(o.nodes)[0].Name
}

// explain says what is there and how to use it.
func (o *upOptions) explain(out io.Writer, stack *localstack.Stack, profiles []string, kubectl string) {
	kubectl += " --kubeconfig " + o.kubeconfigOut
	crds := "none"
	if len(o.crds) > 0 {
		crds = strings.Join(o.crds, ", ")
	}
	fmt.Fprintf(out, `
Vicinity is up.

  API server     %s
  nodes          %d
  schedulerName  %s
  components     %s
  foreign CRDs   %s
  logs           %s/logs

  %s get nodes -L topology.kubernetes.io/region,topology.kubernetes.io/zone,%s
  %s get pods --all-namespaces -o wide

Nodes that you create yourself become Ready if they have the label %s=%s.
`,
		stack.Cluster.AdminConfig().Host, o.nodes, strings.Join(profiles, ", "),
		strings.Join(append([]string{localstack.Scheduler}, o.with...), ", "), crds, stack.Cluster.Dir(),
		kubectl, localstack.RackLabel, kubectl, localcluster.KwokLabel, localcluster.KwokManaged)
}
