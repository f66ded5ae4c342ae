package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/staticfile"
)

// staticManager owns what is imported. A new import replaces all of the old one.
const staticManager = "vicinity-rtt-import"

type filesOptions struct {
	rttOptions

	estimate, dryRun bool
}

func newRTTExportCommand() *cobra.Command {
	var o filesOptions
	cmd := &cobra.Command{
		Use:   "export --matrix FILE --metadata FILE [NODE...]",
		Short: "Write the matrix of round-trip times into files, in the predecessor's formats",
		Long: "Write the medians between the nodes into two files in the formats of kubernetes-edge-scheduler: a matrix of milliseconds\n" +
			"and a JSON object with the names of its rows. Every pair must be known; --estimate takes estimates for the others. The\n" +
			"simulator, `rtt import` and EdgeDelay's argument staticFiles read them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.export(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.connection.addClusterFlags(cmd)
	cmd.Flags().StringVar(&o.matrix, "matrix", "", "the `FILE` to write the matrix to; required")
	cmd.Flags().StringVar(&o.metadata, "metadata", "", "the `FILE` to write the names to; required")
	cmd.Flags().BoolVar(&o.estimate, "estimate", false, "take estimates for pairs that nobody measured")
	return cmd
}

func (o *filesOptions) export(ctx context.Context, names []string, out, errOut io.Writer) error {
	if o.matrix == "" || o.metadata == "" {
		return errors.New("--matrix and --metadata: want the files to write to")
	}
	config, _, err := o.connection.load()
	if err != nil {
		return err
	}
	view, err := readRTTs(ctx, config, errOut)
	if err != nil {
		return err
	}
	nodes, err := view.choose(names)
	if err != nil {
		return err
	}
	matrix, metadata, estimated, err := o.format(view, nodes)
	if err != nil {
		return err
	}
	for file, content := range map[string][]byte{o.matrix: matrix, o.metadata: metadata} {
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // what the user asks for, for others to read
			return fmt.Errorf("writing round-trip times: %w", err)
		}
	}
	fmt.Fprintf(out, "wrote %d nodes to %s and %s, %d of %d pairs estimated\n",
		len(nodes), o.matrix, o.metadata, estimated, len(nodes)*(len(nodes)-1))
	view.warn(errOut)
	return nil
}

// format makes the files' content, and counts the pairs that are estimated.
func (o *filesOptions) format(view *rttView, nodes []string) (matrix, metadata []byte, estimated int, err error) {
	matrix, metadata, err = staticfile.Format(nodes, func(from, to string) (time.Duration, bool) {
		if sample, ok := view.best(from, to); ok {
			return sample.P50, true
		}
		estimate, ok := view.store.Estimate(from, to)
		if ok && o.estimate {
			estimated++
		}
		return estimate.Delay, ok && o.estimate
	})
	if err != nil {
		err = fmt.Errorf("%w; name the nodes to leave the others out, or take estimates with --estimate", err)
	}
	return matrix, metadata, estimated, err
}

func newRTTImportCommand() *cobra.Command {
	var o filesOptions
	cmd := &cobra.Command{
		Use:   "import --matrix FILE --metadata FILE",
		Short: "Put a matrix of round-trip times from files into the cluster, as source Static",
		Long: "Put a matrix of round-trip times, in the formats of kubernetes-edge-scheduler, into the NodeRTT objects of the cluster's\n" +
			"nodes, as source Static. It counts where nobody has measured lately, and never grows old. What was imported before is\n" +
			"replaced, what agents and Goldpinger measured stays. Rows of nodes that the cluster does not have are left out.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.importFiles(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.connection.addClusterFlags(cmd)
	cmd.Flags().StringVar(&o.matrix, "matrix", "", "the `FILE` with the matrix; required")
	cmd.Flags().StringVar(&o.metadata, "metadata", "", "the `FILE` with the names; required")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only say what would be written")
	return cmd
}

func (o *filesOptions) importFiles(ctx context.Context, out, errOut io.Writer) error {
	if o.matrix == "" || o.metadata == "" {
		return errors.New("--matrix and --metadata: want the files to read")
	}
	rows, err := staticfile.Load(o.matrix, o.metadata)
	if err != nil {
		return err
	}
	config, _, err := o.connection.load()
	if err != nil {
		return err
	}
	view, err := readRTTs(ctx, config, errOut)
	if err != nil {
		return err
	}
	here := slices.DeleteFunc(staticfile.Names(rows), func(name string) bool { return !slices.Contains(view.nodes, name) })
	left := slices.DeleteFunc(staticfile.Names(rows), func(name string) bool { return slices.Contains(here, name) })
	if len(left) > 0 {
		fmt.Fprintf(errOut, "warning: not nodes of this cluster, left out: %s\n", listed(left))
	}
	if len(here) == 0 {
		return fmt.Errorf("none of the %d names is that of a node: want names such as %s",
			len(rows), strings.Join(view.nodes[:min(3, len(view.nodes))], ", "))
	}
	if o.dryRun {
		fmt.Fprintf(out, "would write the paths of %d nodes\n", len(here))
		return nil
	}
	if err := writeStatic(ctx, config, rows, here, view.now); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote the paths of %d nodes\n", len(here))
	return nil
}

// writeStatic applies the rows of the nodes that are here. A write that fails leaves those before it in place; the command
// can be repeated.
func writeStatic(ctx context.Context, config *rest.Config, rows []delay.Row, here []string, now time.Time) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	objects := client.Resource(vicinityv1alpha1.GroupVersion().WithResource(nodeRTTResource))
	nodes := client.Resource(corev1.SchemeGroupVersion.WithResource("nodes"))
	options := metav1.ApplyOptions{FieldManager: staticManager, Force: true}
	for i := range rows {
		if !slices.Contains(here, rows[i].From) {
			continue
		}
		node, err := nodes.Get(ctx, rows[i].From, metav1.GetOptions{})
		if err != nil {
			return cannotRead(ctx, config, "nodes", err)
		}
		owned := &vicinityv1alpha1.NodeRTT{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.GetName(), UID: node.GetUID()}},
		}}
		object, err := nodeRTTObject(rows[i].From, owned)
		if err != nil {
			return err
		}
		if _, err := objects.Apply(ctx, rows[i].From, object, options); err != nil {
			return fmt.Errorf("writing NodeRTT %s: %w", rows[i].From, err)
		}
		if object, err = nodeRTTObject(rows[i].From, staticStatus(&rows[i], here, now)); err != nil {
			return err
		}
		if _, err := objects.ApplyStatus(ctx, rows[i].From, object, options); err != nil {
			return fmt.Errorf("writing the status of NodeRTT %s: %w", rows[i].From, err)
		}
	}
	return nil
}

// staticStatus has an entry for each other node that is here. 1 us is also what the object has for anything shorter.
func staticStatus(row *delay.Row, here []string, now time.Time) *vicinityv1alpha1.NodeRTT {
	object := &vicinityv1alpha1.NodeRTT{}
	for i := range row.Peers {
		peer := &row.Peers[i]
		if slices.Contains(here, peer.Peer) {
			object.Status.Peers = append(object.Status.Peers, vicinityv1alpha1.PeerRTT{
				Node: peer.Peer, Source: vicinityv1alpha1.RTTSourceStatic, RTT: vicinityv1alpha1.RTT{
					ObservedAt: metav1.NewTime(now), Samples: 1, P50Microseconds: max(1, peer.P50.Microseconds()),
				},
			})
		}
	}
	return object
}

func nodeRTTObject(name string, object *vicinityv1alpha1.NodeRTT) (*unstructured.Unstructured, error) {
	object.APIVersion, object.Kind, object.Name = vicinityv1alpha1.GroupVersion().String(), "NodeRTT", name
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("encoding NodeRTT %s: %w", name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}
