package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// capacityPlan is the JSON of a plan.
type capacityPlan struct {
	Schema string `json:"schema"`
	Policy string `json:"policy"`
	Shape  string `json:"shape"`
	// Nodes is how many have to be added.
	Nodes int `json:"nodes"`
	Runs  int `json:"runs"`
	// Result is the run with them.
	Result *report.Document `json:"result"`
}

func newSimulateCapacityCommand() *cobra.Command {
	o := simulateOptions{emptyCluster: true}
	var shape string
	var most int
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "Find the fewest nodes of a shape with which every pod finds a node",
		Long: "Find the fewest nodes of a shape that have to be added to the cluster, which may be empty, so that the policy finds a\n" +
			"node for every pod at its first attempt. The workload is taken as it is: it is not tuned to the cluster's size.",
		Example: "  vicinity simulate capacity --nodes nodes.yaml --pods pods.yaml -p FGD --shape cpu=96,memory=384Gi,gpus=8,model=G2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := parseShape(shape)
			if err != nil {
				return badInputf("--shape: %w", err)
			}
			if err := o.validate(cmd, nil); err != nil {
				return err
			}
			return o.capacity(cmd, &node, shape, most)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&shape, "shape", "", "the nodes to add, such as cpu=96,memory=384Gi,gpus=8,model=G2,pods=110")
	cmd.Flags().IntVar(&most, "most", 10_000, "give up beyond this many")
	return cmd
}

func (o *simulateOptions) capacity(cmd *cobra.Command, shape *model.Node, text string, most int) error {
	list := &faults.List{}
	s, err := o.plan(cmd.Context(), cmd, list)
	writeWarnings(cmd.ErrOrStderr(), list.Warnings())
	if err != nil {
		return err
	}
	x := s.loaded.Experiment
	engine, newScheduler, err := s.engine(s.choices[0], &x, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	x.Workload.TuningRatio = 0
	show := newProgress(cmd.ErrOrStderr(), x.Policy.Title(), len(x.Pods), time.Now())
	plan, err := simulator.PlanCapacity(cmd.Context(), &x, shape, most, simulator.Options{NewScheduler: newScheduler, Observer: show})
	if err != nil {
		return fmt.Errorf("planning with %s: %w", x.Policy.Title(), err)
	}
	run := &report.Run{Result: plan.Result, Engine: engine}
	out := capacityPlan{
		Schema: "vicinity.capacity/v1", Policy: x.Policy.Title(), Shape: text, Nodes: plan.Nodes, Runs: plan.Runs,
		Result: report.ToDocument(run, o.placements),
	}
	return out.write(cmd.OutOrStdout(), o.output)
}

func (p *capacityPlan) write(out io.Writer, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(p); err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
		return nil
	}
	fmt.Fprintf(out, "%s places all %d pods with %d nodes of %s added; found in %d runs\n", p.Policy, p.Result.Pods, p.Nodes, p.Shape, p.Runs)
	return nil
}

// parseShape reads a node in short form.
func parseShape(text string) (model.Node, error) {
	node := model.Node{Name: "added"}
	if text == "" {
		return node, errors.New("want a shape such as cpu=96,memory=384Gi,gpus=8,model=G2; found none")
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "cpu":
			node.CPUMilli, err = quantity(value, (*resource.Quantity).MilliValue)
		case "memory":
			node.MemoryBytes, err = quantity(value, (*resource.Quantity).Value)
		case "gpus":
			node.GPUs, err = strconv.Atoi(value)
		case "pods":
			node.MaxPods, err = strconv.Atoi(value)
		case "model":
			node.GPUModel = value
		default:
			return node, fmt.Errorf("want cpu, memory, gpus, model or pods; found %q", key)
		}
		if err != nil {
			return node, fmt.Errorf("%s: want a number, found %q: %w", key, value, err)
		}
	}
	if node.CPUMilli <= 0 || node.MemoryBytes <= 0 {
		return node, fmt.Errorf("want cpu and memory above 0, found %q", text)
	}
	return node, nil
}

func quantity(text string, in func(*resource.Quantity) int64) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	return in(&q), nil
}
