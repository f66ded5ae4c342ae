package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/snapshot"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// stockConfig is kube-scheduler's default profile.
const stockConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}]
`

// explainDryRun says where the pod of a manifest would go. It lists nodes and pods of the cluster, and writes nothing.
func (o *explainOptions) explainDryRun(ctx context.Context, args []string, out, errOut io.Writer) error {
	switch {
	case !o.dryRun:
		return errors.New("--scheduler-config is for --dry-run")
	case o.file == "" || o.pending || len(args) > 0:
		return errors.New("--dry-run: want a manifest with --file, and neither a pod's name nor --pending")
	case o.output != "" && o.output != "json":
		return fmt.Errorf("--output: want json, found %q", o.output)
	}
	list := &faults.List{}
	pod, err := onePod(ctx, o.file, list)
	writeWarnings(errOut, list.Warnings())
	if err != nil {
		return err
	}
	config := []byte(stockConfig)
	if o.scheduler != "" {
		if config, err = os.ReadFile(o.scheduler); err != nil {
			return fmt.Errorf("reading the scheduler configuration: %w", err)
		}
	}
	answer, err := o.ask(ctx, config, pod)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return writeJSON(out, answer)
	}
	return writeAnswer(out, pod, answer)
}

// ask takes a snapshot of the cluster, and asks the scheduler of the configuration.
func (o *explainOptions) ask(ctx context.Context, config []byte, pod *model.Pod) (*framework.Answer, error) {
	rest, namespace, err := o.service.connection.load()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	set, err := snapshot.List(ctx, client, rest.Host)
	if err != nil {
		return nil, err
	}
	if pod.Namespace == "" {
		pod.Namespace = namespace
	}
	live := &faults.List{} // what is odd in a live cluster is not the user's to mend here
	q := &framework.Question{Cluster: model.Cluster{Nodes: set.ModelNodes(live)}, Pod: *pod}
	_, q.Running = manifests.ModelPods(set.Expand(live), live)
	return framework.DryRun(logr.NewContext(ctx, logr.Discard()), &framework.Options{Config: config}, q)
}

// onePod reads a manifest that makes exactly one pod.
func onePod(ctx context.Context, file string, list *faults.List) (*model.Pod, error) {
	set, err := manifests.Read(ctx, file, list)
	if err != nil {
		return nil, err
	}
	pods, _ := manifests.ModelPods(set.Expand(list), list)
	if err := list.Err(); err != nil {
		return nil, err
	}
	if len(pods) != 1 {
		return nil, fmt.Errorf("%s: want a manifest of one pod that has no node yet, found %d", file, len(pods))
	}
	return &pods[0], nil
}

func writeAnswer(out io.Writer, pod *model.Pod, answer *framework.Answer) error {
	if answer.Node == "" {
		fmt.Fprintf(out, "Pod %s would find no node: %s\n\n", clean(pod.Key()), clean(answer.Reason))
	} else {
		fmt.Fprintf(out, "Pod %s would go to node %s.\n\n", clean(pod.Key()), clean(answer.Node))
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tSCORE\tWHY")
	for i := range answer.Nodes {
		v := &answer.Nodes[i]
		if v.Plugin != "" {
			fmt.Fprintf(table, "%s\t-\trejected by %s: %s\n", clean(v.Node), v.Plugin, clean(v.Reason))
			continue
		}
		why := []string{"the only node left"}
		if len(v.Scores) > 0 {
			why = why[:0]
		}
		for _, s := range v.Scores {
			why = append(why, fmt.Sprintf("%s %d", s.Plugin, s.Weighted))
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", clean(v.Node), v.Total, strings.Join(why, ", "))
	}
	return table.Flush()
}
