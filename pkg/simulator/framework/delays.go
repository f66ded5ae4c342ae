package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/edgedelay"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
)

// edgeDelay builds the plugin on the world's round trips, as a matrix that somebody wrote down: they do not age.
//
// Which nodes are the cloud it learns from events of a started informer, of which there are none here: pods without
// bounds are alike to it.
func (v *vicinity) edgeDelay(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	if args, ok := obj.(*configv1.EdgeDelayArgs); ok && args.StaticFiles != (configv1.DelayFiles{}) {
		return nil, errors.New("arguments of plugin EdgeDelay: staticFiles is not read in a simulation: give the round trips of the world")
	}
	if v.delays == nil {
		store, err := roundTrips(v.setup)
		if err != nil {
			return nil, err
		}
		metrics, err := edgedelay.NewMetrics(prometheus.NewRegistry(), store, v.clock)
		if err != nil {
			return nil, err
		}
		factory := handle.SharedInformerFactory()
		if v.delays, err = edgedelay.NewShared(store, factory, v.clock, metrics); err != nil {
			return nil, err
		}
		v.pods = factory.Core().V1().Pods().Informer().GetStore()
	}
	return edgedelay.New(ctx, obj, handle, v.delays)
}

// mostRows bounds the matrix: its size is the square of the number of nodes.
const mostRows = 3000

func roundTrips(setup *engine.Setup) (*delay.Store, error) {
	store, nodes := delay.NewStore(), setup.Cluster.Nodes
	for i := range nodes {
		store.SetNode(nodes[i].Name, nodes[i].Labels[corev1.LabelTopologyZone])
	}
	if setup.World == nil || !setup.World.HasRTT() {
		return store, nil
	}
	if len(nodes) > mostRows {
		return nil, fmt.Errorf("plugin %s: %d nodes: expected at most %d where round trips are known", edgedelay.Name, len(nodes), mostRows)
	}
	for from := range nodes {
		peers := make([]delay.PeerSample, 0, len(nodes)-1)
		for to := range nodes {
			if to == from {
				continue
			}
			peers = append(peers, delay.PeerSample{Peer: nodes[to].Name, Sample: delay.Sample{
				P50: setup.World.RTT(from, to), Known: true, Source: delay.SourceStatic,
			}})
		}
		store.Update(nodes[from].Name, delay.SourceStatic, peers, virtual{setup.Now}.Now())
	}
	return store, nil
}

// placed and left keep the pods up to date that bounds may name.
func (v *vicinity) placed(pod *corev1.Pod) error {
	if v.pods == nil {
		return nil
	}
	return v.pods.Add(pod)
}

func (v *vicinity) left(pod *corev1.Pod) error {
	if v.pods == nil {
		return nil
	}
	return v.pods.Delete(pod)
}
