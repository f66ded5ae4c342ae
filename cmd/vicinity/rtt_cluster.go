package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

type clusterOptions struct {
	rttOptions

	limit  time.Duration
	layers []time.Duration
}

func newRTTClusterCommand() *cobra.Command {
	var o clusterOptions
	cmd := &cobra.Command{
		Use:   "cluster [NODE...]",
		Short: "Show which nodes are within a bound: exactly, and by clusters as the predecessor does",
		Long: "Show for each node which others are within a bound of the round-trip time: the exact radius, which EdgeDelay takes\n" +
			"with clustering Off, and the node's cluster, which it takes with clustering Layers. Within a cluster every two nodes are\n" +
			"within the bound, so a cluster never has more nodes than the radius; LOST are those that it leaves out. Only measured\n" +
			"paths count. The cluster is only read; with --matrix and --metadata none is needed.",
		Example: "  vicinity rtt cluster --max 25ms\n\n" +
			"  vicinity rtt cluster --max 13ms --layers 5ms,10ms --matrix delay.txt --metadata nodes.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.connection.addClusterFlags(cmd)
	o.addFileFlags(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&o.limit, "max", 0, "the bound, such as 25ms; required")
	flags.DurationSliceVar(&o.layers, "layers", nil,
		"bounds whose clusters are made beforehand, as initialClusterLayers in EdgeDelay's arguments")
	flags.StringVarP(&o.output, "output", "o", "", "json or yaml")
	mustComplete(cmd, "output", "json", "yaml")
	if err := cmd.MarkFlagRequired("max"); err != nil {
		panic(err) // only for a flag that does not exist
	}
	return cmd
}

// boundView is what rtt cluster shows.
type boundView struct {
	MaxMicroseconds int64 `json:"maxMicroseconds"`
	// Clusters is absent when there are too many nodes for clusters.
	Clusters [][]string  `json:"clusters,omitempty"`
	Nodes    []boundNode `json:"nodes"`
}

type boundNode struct {
	Node    string   `json:"node"`
	Radius  []string `json:"radius"`
	Cluster []string `json:"cluster,omitempty"`
	Lost    []string `json:"lost,omitempty"`
}

func (o *clusterOptions) run(ctx context.Context, names []string, out, errOut io.Writer) error {
	err := o.validate()
	if o.limit < 0 || o.limit > delay.MaxDelay {
		err = errors.Join(err, fmt.Errorf("--max: want a bound from 0 to %s, found %s", delay.MaxDelay, o.limit))
	}
	if !slices.IsSorted(o.layers) || slices.ContainsFunc(o.layers, func(d time.Duration) bool { return d < 0 || d > delay.MaxDelay }) {
		err = errors.Join(err, fmt.Errorf("--layers: want rising bounds from 0 to %s, found %v", delay.MaxDelay, o.layers))
	}
	if o.output == "wide" {
		err = errors.Join(err, known("--output", []string{o.output}, []string{"json", "yaml"}))
	}
	if err != nil {
		return err
	}
	view, err := o.read(ctx, errOut)
	if err != nil {
		return err
	}
	nodes, err := view.choose(names)
	if err != nil {
		return err
	}
	bound, err := view.bound(nodes, o.limit, o.layers)
	if err != nil {
		view.warnings = append(view.warnings, err.Error())
	}
	if o.output != "" {
		err = writeObject(out, o.output, bound)
	} else {
		err = writeBound(out, bound)
	}
	view.warn(errOut)
	return err
}

// bound works out what is within the bound of each node. The error tells why there are no clusters; the rest is there.
func (v *rttView) bound(nodes []string, limit time.Duration, initial []time.Duration) (boundView, error) {
	b := boundView{MaxMicroseconds: limit.Microseconds(), Nodes: make([]boundNode, 0, len(nodes))}
	layers := delay.NewLayers(v.store, initial)
	all, layersErr := layers.All(limit, v.now)
	if layersErr == nil {
		b.Clusters = all
		slices.SortFunc(b.Clusters, func(x, y []string) int { return slices.Compare(x, y) })
	}
	index := v.store.Index()
	for _, node := range nodes {
		row := boundNode{Node: node, Radius: []string{}}
		radius, ok := v.store.Radius(node, delay.Query{Max: limit, Percentile: delay.P50, OnUnknown: delay.PolicyReject}, v.now)
		for _, other := range v.nodes {
			id, known := index.ID(other)
			if other == node || ok && known && radius.Nodes.Has(id) {
				row.Radius = append(row.Radius, other)
			}
		}
		for _, cluster := range b.Clusters {
			if slices.Contains(cluster, node) {
				row.Cluster = cluster
			}
		}
		if layersErr == nil {
			row.Lost = slices.DeleteFunc(slices.Clone(row.Radius), func(other string) bool {
				return other == node || slices.Contains(row.Cluster, other)
			})
		}
		b.Nodes = append(b.Nodes, row)
	}
	return b, layersErr
}

func writeBound(out io.Writer, b boundView) error {
	rows := make([][]string, 0, len(b.Nodes))
	for _, n := range b.Nodes {
		rows = append(rows, []string{
			n.Node, strconv.Itoa(len(n.Radius)), listed(n.Radius), strconv.Itoa(len(n.Cluster)), listed(n.Lost),
		})
	}
	if err := writeTable(out, "NODE\tWITHIN\tRADIUS\tCLUSTER\tLOST", rows); err != nil {
		return err
	}
	for i, cluster := range b.Clusters {
		if i == 0 {
			fmt.Fprintf(out, "\nClusters within %s:\n", time.Duration(b.MaxMicroseconds)*time.Microsecond)
		}
		fmt.Fprintf(out, "  %s\n", strings.Join(cluster, " "))
	}
	return nil
}

// listed shows a few names.
func listed(names []string) string {
	const shown = 8
	switch {
	case len(names) == 0:
		return none
	case len(names) > shown:
		return strings.Join(names[:shown], ",") + fmt.Sprintf(",+%d", len(names)-shown)
	}
	return strings.Join(names, ",")
}
