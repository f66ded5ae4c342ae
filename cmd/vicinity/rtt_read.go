package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/staticfile"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

const (
	nodeRTTResource = "noderrts"
	// maxRefinements bounds the work on coordinates of nodes that report none: the scheduler does it bit by bit.
	maxRefinements   = 200
	refinementSize   = 20_000
	nodeRTTsGuidance = "apply the CRD noderrts.vicinity.dev, which is part of Vicinity's install.yaml"
)

// read takes the matrix from files if there are any, else from the cluster.
func (o *rttOptions) read(ctx context.Context, errOut io.Writer) (*rttView, error) {
	if o.matrix != "" {
		return readRTTFiles(o.matrix, o.metadata, time.Now())
	}
	config, _, err := o.connection.load()
	if err != nil {
		return nil, err
	}
	return readRTTs(ctx, config, errOut)
}

func readRTTFiles(matrix, metadata string, now time.Time) (*rttView, error) {
	rows, err := staticfile.Load(matrix, metadata)
	if err != nil {
		return nil, err
	}
	view := &rttView{store: delay.NewStore(), nodes: staticfile.Names(rows), now: now}
	for i := range rows {
		view.store.SetNode(rows[i].From, "")
		view.store.Update(rows[i].From, delay.SourceStatic, rows[i].Peers, now)
	}
	view.refine()
	return view, nil
}

// readRTTs reads as the scheduler does, with the same code, and returns when everything has been listed.
func readRTTs(ctx context.Context, config *rest.Config, errOut io.Writer) (*rttView, error) {
	ctx, reading := beginReading(ctx, config, "nodes and round-trip times", errOut)
	defer reading.end()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	if err := tryReadingRTTs(ctx, config, client); err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	defer func() { reading.cancel(); factory.Shutdown() }()
	index, err := state.NewNodes(factory.Core().V1().Nodes().Informer())
	if err != nil {
		return nil, err
	}
	metrics := prometheus.NewRegistry()
	known, err := state.New(config, index, metrics)
	if err != nil {
		return nil, err
	}
	reading.running.Go(func() { known.Run(ctx) })
	factory.StartWithContext(ctx)
	if err := errors.Join(known.WaitForSync(ctx), factory.WaitForCacheSyncWithContext(ctx).AsError()); err != nil {
		return nil, context.Cause(ctx)
	}
	nodes, err := factory.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	view := newRTTView(known.RTTs(), nodes, time.Now())
	view.refine()
	view.warnings, err = malformedParts(metrics)
	return view, err
}

// tryReadingRTTs asks for a little of everything, because informers retry for ever where a command should say what is
// wrong.
func tryReadingRTTs(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
	little := metav1.ListOptions{Limit: 1}
	if _, err := client.CoreV1().Nodes().List(ctx, little); err != nil {
		return cannotRead(ctx, config, "nodes", err)
	}
	definitions, err := installedDefinitions(ctx, config)
	if err != nil {
		return err
	}
	resource := vicinityv1alpha1.GroupVersion().WithResource(nodeRTTResource)
	if !definitions[resource.GroupResource().String()] {
		return errors.New("this cluster has no round-trip times: " + nodeRTTsGuidance)
	}
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	if _, err := reader.Resource(resource).List(ctx, little); err != nil {
		return cannotRead(ctx, config, resource.GroupResource().String(), err)
	}
	return nil
}

func newRTTView(store *delay.Store, nodes []*corev1.Node, now time.Time) *rttView {
	view := &rttView{store: store, now: now}
	for _, node := range nodes {
		store.SetNode(node.Name, node.Labels[corev1.LabelTopologyZone])
		view.nodes = append(view.nodes, node.Name)
	}
	for _, name := range store.Names() {
		if _, ok := delay.EndpointOf(name); ok {
			view.endpoints = append(view.endpoints, name)
		}
	}
	slices.Sort(view.nodes)
	return view
}

// refine embeds the nodes that report no coordinate.
func (v *rttView) refine() {
	for range maxRefinements {
		if !v.store.Refine(refinementSize) {
			return
		}
	}
}
