package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/sweep"
)

// sweepOptions are the flags of simulate sweep.
type sweepOptions struct {
	nodes, pods, policies []string
	seeds                 string
	tune                  float64
	shuffle               bool
	tieBreak, model       string
	out, shard, output    string
	workers               int

	job        string
	jobOptions sweep.Job
}

func newSimulateSweepCommand() *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Play policies x traces x seeds on all cores",
		Long: "Play policies x traces x seeds on all cores, and show means over the seeds. The defaults are the published\n" +
			"experiments: six policies, seeds 42 to 51, 130 % demand, pods in random order.\n\n" +
			"Each result is kept in the folder --out as soon as it is there; the same command goes on after an interruption.\n" +
			"With --job nothing runs: an Indexed Job is written, each of whose pods plays a shard; `sweep merge` sums up the files.",
		Example: "  vicinity simulate sweep --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv,cpu050.csv\n\n" +
			"  # Two policies and a mix of both on one trace, and a table for a spreadsheet\n" +
			"  vicinity simulate sweep --nodes nodes.csv --pods pods.csv --policies FGD,BestFit,FGD=500+BestFit=500 --seeds 1-3 -o csv\n\n" +
			"  # The same on ten pods of a cluster, whose claim holds nodes.csv and pods.csv, and then the sum\n" +
			"  vicinity simulate sweep --nodes nodes.csv --pods pods.csv --job job.yaml --job-shards 10 --job-image IMAGE --job-claim traces\n" +
			"  kubectl apply -f job.yaml\n" +
			"  vicinity simulate sweep merge COPY-OF-THE-RESULTS",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if o.job != "" {
				return o.writeJob(cmd.OutOrStdout())
			}
			return o.run(cmd)
		},
	}
	o.addFlags(cmd)
	cmd.AddCommand(newSweepMergeCommand())
	return cmd
}

func (o *sweepOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&o.nodes, "nodes", nil, "files or folders with nodes: manifests, or CSV of the openb trace")
	flags.StringSliceVar(&o.pods, "pods", nil, "traces: files or folders with pods, each one a workload of its own")
	flags.StringSliceVar(&o.policies, "policies", []string{"Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"},
		"native policies; parts of a mix are joined by +")
	flags.StringVar(&o.seeds, "seeds", "42-51", "seeds and ranges of them")
	flags.Float64Var(&o.tune, "tune", 1.3, "make the GPU demand this part of the cluster's capacity; 0 leaves it as it is")
	flags.BoolVar(&o.shuffle, "shuffle", true, "let pods arrive in a random order")
	flags.StringVar(&o.tieBreak, "tie-break", string(policy.TieFirstByName), "firstByName or random, as in simulate")
	flags.StringVar(&o.model, modelFlag, "", modelUsage)
	flags.StringVar(&o.out, "out", "sweep", "folder of the results")
	flags.StringVar(&o.shard, "shard", "", "play a part of the grid only, such as 2/5, the third of five")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at the same time")
	flags.StringVarP(&o.output, "output", "o", "text", "text (means and standard deviations), or csv (a curve for each run)")
	flags.StringVar(&o.job, "job", "", "write the manifest of an Indexed Job to this file (- for stdout) instead of running")
	flags.StringVar(&o.jobOptions.Name, "job-name", "sweep", "with --job: its name")
	flags.StringVar(&o.jobOptions.Image, "job-image", "", "with --job: an image that has vicinity on its PATH")
	flags.StringVar(&o.jobOptions.Claim, "job-claim", "", "with --job: the claim that holds the files and takes the results")
	flags.IntVar(&o.jobOptions.Shards, "job-shards", 4, "with --job: the number of pods")
	flags.IntVar(&o.jobOptions.CPUs, "job-cpus", 4, "with --job: CPUs of each pod")
	mustComplete(cmd, "policies", schedconfig.PolicyNames()...)
	mustComplete(cmd, "output", "text", "csv")
	mustComplete(cmd, "tie-break", string(policy.TieFirstByName), string(policy.TieRandom))
}

func (o *sweepOptions) validate() error {
	var errs []error
	if len(o.nodes) == 0 || len(o.pods) == 0 {
		errs = append(errs, badInputf("--nodes and --pods: want files, found %d and %d", len(o.nodes), len(o.pods)))
	}
	if o.job != "" && o.model != "" {
		errs = append(errs, badInputf("--job: its pods decide by the model that is built into the image; leave --model out"))
	}
	if o.workers < 1 {
		errs = append(errs, badInputf("--workers: want 1 or more, found %d", o.workers))
	}
	if o.tune < 0 || o.tune > 1000 {
		errs = append(errs, badInputf("--tune: want a ratio from 0 to 1000, found %v", o.tune))
	}
	errs = append(errs, oneOf("output", o.output, "text", "csv"),
		oneOf("tie-break", o.tieBreak, string(policy.TieFirstByName), string(policy.TieRandom)))
	if _, err := sweep.ParseSeeds(o.seeds); err != nil {
		errs = append(errs, badInputf("--seeds: %w", err))
	}
	if _, err := sweep.ParseShard(o.shard); err != nil {
		errs = append(errs, badInputf("--shard: %w", err))
	}
	return errors.Join(errs...)
}

// writeJob writes the manifest; pods find the files in the claim, by their names here.
func (o *sweepOptions) writeJob(out io.Writer) error {
	within := func(files []string) string {
		var paths []string
		for _, file := range files {
			paths = append(paths, path.Join(sweep.DataFolder, filepath.Base(file)))
		}
		return strings.Join(paths, ",")
	}
	o.jobOptions.Args = []string{
		"--nodes", within(o.nodes), "--pods", within(o.pods), "--policies", strings.Join(o.policies, ","), "--seeds", o.seeds,
		"--tune", fmt.Sprint(o.tune), "--shuffle=" + strconv.FormatBool(o.shuffle), "--tie-break", o.tieBreak,
		"--workers", strconv.Itoa(o.jobOptions.CPUs),
	}
	text, err := o.jobOptions.Manifest()
	if err != nil {
		return inputError{err}
	}
	if o.job == "-" {
		_, err := out.Write(text)
		return err
	}
	if err := os.WriteFile(o.job, text, 0o600); err != nil {
		return fmt.Errorf("writing the Job: %w", err)
	}
	return nil
}

func newSweepMergeCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "merge FOLDER",
		Short:   "Sum up the results of all shards of a sweep",
		Example: "  vicinity simulate sweep merge sweep -o csv > allocation.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, "text", "csv"); err != nil {
				return err
			}
			_, results, err := sweep.Merge(args[0])
			if err != nil {
				return inputError{err}
			}
			return writeSweep(cmd.OutOrStdout(), output, results)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or csv")
	mustComplete(cmd, "output", "text", "csv")
	return cmd
}

func writeSweep(out io.Writer, output string, results []*report.Document) error {
	if output == "csv" {
		return report.WriteDocumentCurves(out, results)
	}
	return sweep.WriteText(out, sweep.Summarise(results))
}

// bar is a line that shows how far a sweep is: rewritten on a terminal, now and then a new one elsewhere.
type bar struct {
	out         io.Writer
	terminal    bool
	began, next time.Time
	first       int
	started     bool
}

func newBar(out io.Writer) *bar {
	b := &bar{out: out, began: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	b.next = b.began.Add(silentFor)
	return b
}

func (b *bar) show(done, of int) {
	now := time.Now()
	if !b.started {
		b.started, b.first = true, done
	}
	if now.Before(b.next) && (done < of || now.Sub(b.began) < silentFor) {
		return
	}
	b.next = now.Add(progressEvery)
	const width = 30
	filled := width * done / max(of, 1)
	left := ""
	if ran := done - b.first; ran > 0 && done < of {
		left = ", " + (now.Sub(b.began) / time.Duration(ran) * time.Duration(of-done)).Round(time.Second).String() + " left"
	}
	start, end := "", "\n"
	if b.terminal {
		start, end = "\r\x1b[K", ""
		if done == of {
			end = "\n"
		}
	}
	drawn := strings.Repeat("#", filled) + strings.Repeat(".", width-filled)
	fmt.Fprintf(b.out, "%s[%s] %d of %d runs%s%s", start, drawn, done, of, left, end)
}
