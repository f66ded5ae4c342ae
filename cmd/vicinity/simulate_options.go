package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/worldfile"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// simulateOptions are the flags of simulate and simulate apply.
type simulateOptions struct {
	apply bool
	// emptyCluster accepts an input without nodes.
	emptyCluster bool

	config, schedulerConfig string
	extended                []string
	nodes, pods             []string
	kubeconfig, world       string
	times                   bool

	policy, device, dimExt, norm string
	model                        string
	compare                      []string
	engine, tieBreak             string

	tune    float64
	seed    int64
	shuffle bool
	retry   bool

	output, html, csv, logFormat string
	placements, bellman          bool
	greed, interactive           bool
}

// Values of flags.
const (
	engineAuto      = "auto"
	engineNative    = "native"
	engineFramework = "framework"
	logFormatSimon  = "simon"
)

func (o *simulateOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&o.config, "simon-config", "f", "", "cluster configuration of the predecessor (kind Config, simon/v1alpha1)")
	flags.StringVarP(&o.schedulerConfig, "default-scheduler-config", "s", "",
		"KubeSchedulerConfiguration, v1 or the predecessor's v1beta1")
	flags.StringSliceVarP(&o.extended, "extended-resources", "e", nil, "accepted for the predecessor's sake: gpu is always on")
	flags.StringSliceVar(&o.nodes, "nodes", nil, "files or folders with nodes: manifests, or CSV of the openb trace")
	flags.StringSliceVar(&o.pods, "pods", nil, "files or folders with pods and workloads: manifests, or CSV of the openb trace")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "read nodes and pods of this file's cluster; it is never written to")
	flags.StringVar(&o.world, "world", "", "file with datasets, links, disks, failures of nodes and what pods do with them")
	flags.BoolVar(&o.times, "times", false, "let pods of CSV files arrive and leave at the trace's times")

	flags.StringVarP(&o.policy, "policy", "p", "", "native policy, or a mix such as FGD=500,BestFit=500; instead of -s")
	flags.StringVar(&o.model, modelFlag, "", modelUsage)
	flags.StringVar(&o.device, "gpu-sel", "", "with --policy: how a shared GPU is chosen (default: as the policy's study did)")
	flags.StringVar(&o.dimExt, "dim-ext", "", "with --policy DotProd: how a node's GPUs become vectors (default merge)")
	flags.StringVar(&o.norm, "norm", "", "with --policy DotProd: what the vectors are divided by (default max)")
	flags.StringSliceVar(&o.compare, "compare", nil, "two configurations or policies: --compare A B, or A,B")
	flags.StringVar(&o.engine, "engine", engineAuto, "native, framework, or auto: native when everything that scores has a native form")
	flags.StringVar(&o.tieBreak, "tie-break", string(policy.TieFirstByName),
		"which of equally good nodes wins: firstByName, in a random but fixed order, or random, as in kube-scheduler")

	flags.Float64Var(&o.tune, "tune", 0, "make the GPU demand this part of the cluster's capacity, such as 1.3; overrides -f")
	flags.Int64Var(&o.seed, "seed", 0, "the one seed of the run; overrides -f")
	flags.BoolVar(&o.shuffle, "shuffle", false, "let pods arrive in a random order; overrides -f")
	flags.BoolVar(&o.retry, "retry", false, "let pods that find no node wait for others to leave, instead of dropping them")

	flags.StringVarP(&o.output, "output", "o", "text", "text, json or csv")
	flags.StringVar(&o.output, "format", "text", "the same as --output")
	flags.BoolVar(&o.placements, "placements", false, "with -o json: where each pod went")
	flags.StringVar(&o.html, "html", "", "write a self-contained page with charts to this file")
	flags.StringVar(&o.csv, "csv", "", "write the predecessor's analysis tables into this folder")
	flags.StringVar(&o.logFormat, "log-format", "", "simon: write the predecessor's log lines to stderr")
	flags.BoolVar(&o.bellman, "bellman", false, "compute the recursive fragmentation for the log, which takes many times as long")

	flags.BoolVar(&o.greed, "use-greed", false, "has no effect, as in the predecessor")
	flags.BoolVarP(&o.interactive, "interactive", "i", false, "has no effect: all applications are deployed")
	for _, dead := range []string{"use-greed", "interactive"} {
		if err := flags.MarkHidden(dead); err != nil {
			panic(err) // the flag was added above
		}
	}
	completeSimulate(cmd)
}

func completeSimulate(cmd *cobra.Command) {
	mustComplete(cmd, "engine", engineAuto, engineNative, engineFramework)
	mustComplete(cmd, "tie-break", string(policy.TieFirstByName), string(policy.TieRandom))
	mustComplete(cmd, "output", "text", "json", "csv")
	mustComplete(cmd, "format", "text", "json", "csv")
	mustComplete(cmd, "log-format", logFormatSimon)
	mustComplete(cmd, "extended-resources", extendedResources()...)
	mustComplete(cmd, "policy", schedconfig.PolicyNames()...)
	mustComplete(cmd, "compare", schedconfig.PolicyNames()...)
	for _, file := range []string{"simon-config", "default-scheduler-config"} {
		if err := cmd.MarkFlagFilename(file, "yaml", "yml"); err != nil {
			panic(err) // the flag was added above
		}
	}
}

// validate checks what flags say, and puts the second of `--compare A B` where it belongs.
func (o *simulateOptions) validate(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("compare") {
		o.compare = append(o.compare, args...)
		args = nil
		if len(o.compare) != 2 {
			return badInputf("--compare: want two configurations or policies, found %d: %s", len(o.compare), strings.Join(o.compare, " "))
		}
	}
	var errs []error
	if len(args) > 0 {
		errs = append(errs, badInputf("unexpected argument %q; configurations are given with -f and -s", args[0]))
	}
	errs = append(errs,
		oneOf("engine", o.engine, engineAuto, engineNative, engineFramework),
		oneOf("tie-break", o.tieBreak, string(policy.TieFirstByName), string(policy.TieRandom)),
		oneOf("output", o.output, "text", "json", "csv"),
		oneOf("log-format", o.logFormat, "", logFormatSimon),
		o.validateSources(), o.validatePolicy(),
	)
	for _, name := range o.extended {
		errs = append(errs, oneOf("extended-resources", name, extendedResources()...))
	}
	return errors.Join(errs...)
}

func (o *simulateOptions) validateSources() error {
	files := len(o.nodes)+len(o.pods) > 0 || o.kubeconfig != ""
	switch {
	case o.config != "" && files:
		return badInputf("want either -f or --nodes, --pods and --kubeconfig, found both")
	case o.config != "":
		return nil
	case o.apply && !files:
		return badInputf("-f: want a cluster configuration, found none")
	case !files:
		return badInputf("want something to simulate: -f with a configuration, --nodes and --pods, or --kubeconfig")
	case len(o.nodes) == 0 && o.kubeconfig == "" && !o.emptyCluster:
		return badInputf("--nodes: want files or folders with nodes, found none")
	}
	return nil
}

func (o *simulateOptions) validatePolicy() error {
	given := 0
	for _, set := range []bool{o.schedulerConfig != "", o.policy != "", len(o.compare) > 0} {
		if set {
			given++
		}
	}
	if given > 1 {
		return badInputf("want one of -s, --policy and --compare, found %d", given)
	}
	return nil
}

// load reads cluster and workload, and applies the flags that override them.
func (o *simulateOptions) load(ctx context.Context, cmd *cobra.Command, list *faults.List) (*input.Loaded, error) {
	stop := afterSilence(cmd.ErrOrStderr(), "reading the cluster and the workload ...")
	loaded, err := input.Load(ctx, &input.Source{
		Config: o.config, Nodes: o.nodes, Pods: o.pods, Kubeconfig: o.kubeconfig, Times: o.times, EmptyCluster: o.emptyCluster,
	}, list)
	stop()
	if err != nil {
		return nil, asInput(err)
	}
	w := &loaded.Experiment.Workload
	changed := cmd.Flags().Changed
	if changed("tune") {
		w.TuningRatio = o.tune
	}
	if changed("seed") {
		w.Seed = o.seed
	}
	if changed("shuffle") {
		w.Shuffle = o.shuffle
	}
	if o.config == "" {
		// What the study's experiments use, and what the predecessor's configuration has a say in.
		loaded.Experiment.Typical = studyTypical()
	}
	loaded.Experiment.Queue.Retry = o.retry
	if err := o.applyWorld(&loaded.Experiment); err != nil {
		return nil, err
	}
	if err := loaded.Experiment.Validate(); err != nil && !o.emptyCluster {
		return nil, inputError{err}
	}
	return loaded, nil
}

// applyWorld reads the file of --world. Waiting for data and disks then makes runs longer, and pods that a failing node
// has lost are tried again.
func (o *simulateOptions) applyWorld(x *simulator.Experiment) error {
	if o.world == "" {
		return nil
	}
	data, err := os.ReadFile(o.world)
	if err != nil {
		return badInputf("--world: %w", err)
	}
	world, err := worldfile.Parse(o.world, data)
	if err != nil {
		return inputError{err}
	}
	x.Queue.Retry, x.Queue.RunFullLength = true, true
	if err := world.Apply(x); err != nil {
		return badInputf("%s: %w", o.world, err)
	}
	return nil
}

// asInput marks what a reader returns: files that are absent or faulty are bad input, an interrupt is not.
func asInput(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return inputError{err}
}

// choices are the configurations to run: one, or two to be compared.
func (o *simulateOptions) choices() []string {
	switch {
	case len(o.compare) > 0:
		return o.compare
	case o.schedulerConfig != "":
		return []string{o.schedulerConfig}
	case o.policy != "":
		return []string{o.policy}
	default:
		// The predecessor adds this one to whatever profile it is given none for.
		return []string{policy.Simon}
	}
}

// scheduler reads a configuration, which is a file, or a policy by its name.
func (o *simulateOptions) scheduler(choice string, list *faults.List) (*schedconfig.Choice, error) {
	if o.schedulerConfig == "" && !slices.Contains([]string{".yaml", ".yml", ".json"}, extension(choice)) {
		native, err := schedconfig.ParsePolicy(choice, o.device, o.dimExt, o.norm)
		if err != nil {
			return nil, inputError{err}
		}
		return &schedconfig.Choice{Native: native}, nil
	}
	data, err := os.ReadFile(choice)
	if err != nil {
		return nil, badInputf("reading the scheduler configuration: %w", err)
	}
	config := schedconfig.Parse(choice, data, list)
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	return schedconfig.Choose(config, list)
}
