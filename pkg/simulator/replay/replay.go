package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/records"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// Schema names the form of the JSON.
const Schema = "vicinity.replay/v1"

// Apply gives the experiment the pods of the records, with their times, in their order. Pods that run on a node in the
// input, as in a snapshot that was taken afterwards, are set free if their placement was recorded. It returns the names of
// pods that were recorded and are not in the input.
func Apply(x *simulator.Experiment, t *records.Trace) (unknown []string) {
	known := map[string]*model.Pod{}
	for _, list := range [][]model.Pod{x.Pods, x.Daemons} {
		for i := range list {
			known[list[i].Key()] = &list[i]
		}
	}
	recorded := map[string]bool{}
	var pods []model.Pod
	for _, d := range t.Decisions {
		pod := known[d.Pod]
		if pod == nil {
			unknown = append(unknown, d.Pod)
			continue
		}
		recorded[d.Pod] = true
		copied := *pod
		length := copied.Departure - copied.Arrival
		copied.Arrival, copied.Node, copied.GPUIndexes = d.Arrival, "", nil
		if copied.Departure != 0 {
			copied.Departure = copied.Arrival + length
		}
		pods = append(pods, copied)
	}
	x.Pods = pods
	x.Daemons = slices.DeleteFunc(slices.Clone(x.Daemons), func(p model.Pod) bool { return recorded[p.Key()] })
	x.Workload = simulator.Workload{Seed: x.Workload.Seed}
	x.Queue.Retry = true
	return unknown
}

// Row is one pod's nodes.
type Row struct {
	Pod string `json:"pod"`
	// Recorded is the node of the records; empty for none, as in the others.
	Recorded string `json:"recorded"`
	// Replayed has a node for each configuration.
	Replayed []string `json:"replayed"`
}

// differs says whether a configuration decided otherwise than the records or another one.
func (r *Row) differs() bool {
	return slices.ContainsFunc(r.Replayed, func(node string) bool { return node != r.Recorded })
}

// Result is a replay.
type Result struct {
	Schema   string        `json:"schema"`
	Policies []string      `json:"policies"`
	Attempts int           `json:"attempts"`
	Pods     int           `json:"pods"`
	Gaps     []records.Gap `json:"gaps"`
	// Unknown are pods of the records that the input does not have.
	Unknown []string `json:"unknownPods"`
	// Same has for each configuration the number of pods that went where they were recorded.
	Same []int `json:"same"`
	// Differences are the pods that did not, with any configuration.
	Differences []Row `json:"differences"`
}

// Compare puts records and runs side by side.
func Compare(t *records.Trace, unknown []string, runs ...*report.Run) *Result {
	result := &Result{
		Schema: Schema, Attempts: t.Records, Gaps: append([]records.Gap{}, t.Gaps...), Unknown: append([]string{}, unknown...),
		Same: make([]int, len(runs)), Differences: []Row{},
	}
	nodes := make([]map[string]string, len(runs))
	for i, run := range runs {
		result.Policies = append(result.Policies, run.Policy)
		nodes[i] = map[string]string{}
		for j := range run.Placements {
			node := ""
			if p := &run.Placements[j]; p.Scheduled() {
				node = run.Nodes[p.Binding.Node].Name
			}
			nodes[i][run.Pods[run.Placements[j].Pod].Key()] = node
		}
	}
	for _, d := range t.Decisions {
		row := Row{Pod: d.Pod, Recorded: d.Node}
		for i := range runs {
			node, played := nodes[i][d.Pod]
			if !played {
				break
			}
			row.Replayed = append(row.Replayed, node)
			if node == d.Node {
				result.Same[i]++
			}
		}
		if len(row.Replayed) < len(runs) {
			continue
		}
		result.Pods++
		if row.differs() {
			result.Differences = append(result.Differences, row)
		}
	}
	return result
}

// WriteJSON writes the result as one object.
func (r *Result) WriteJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// WriteText writes a line for each pod that went elsewhere, and a summary.
func (r *Result) WriteText(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if len(r.Differences) > 0 {
		fmt.Fprint(table, "POD\tRECORDED")
		for _, policy := range r.Policies {
			fmt.Fprintf(table, "\t%s", policy)
		}
		fmt.Fprintln(table)
	}
	for _, row := range r.Differences {
		fmt.Fprintf(table, "%s\t%s", row.Pod, orNone(row.Recorded))
		for _, node := range row.Replayed {
			fmt.Fprintf(table, "\t%s", orNone(node))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	for i, policy := range r.Policies {
		fmt.Fprintf(out, "%s: %d of %d pods went where they were recorded\n", policy, r.Same[i], r.Pods)
	}
	return nil
}

func orNone(node string) string {
	if node == "" {
		return "<none>"
	}
	return node
}

// Pace is an observer that lets a replay take its time: events happen when they did, speeded up. It ends waiting when
// done is closed.
type Pace struct {
	speed float64
	began time.Time
	now   func() time.Time
	done  <-chan struct{}
}

// NewPace starts now. speed is how many seconds of the records pass in one; it is positive.
func NewPace(speed float64, now func() time.Time, done <-chan struct{}) *Pace {
	return &Pace{speed: speed, began: now(), now: now, done: done}
}

// Observe waits until it is time for the next event.
func (p *Pace) Observe(e *model.Event) {
	due := p.began.Add(time.Duration(float64(e.Time) / p.speed))
	wait := time.NewTimer(due.Sub(p.now()))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-p.done:
	}
}
