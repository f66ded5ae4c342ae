package cacheaware

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// Name is the plugin's name in scheduler configurations.
const Name = "CacheAware"

// Datasets knows where datasets are. Its methods may be called from any goroutine.
type Datasets interface {
	// Placement returns where the dataset can be read now; empty when that is not known.
	Placement(locality.DatasetKey) locality.Placement
	// Known reports whether a dataset of that name exists, with or without a placement.
	Known(locality.DatasetKey) bool
	// OnDatasetChange registers a function that is called when a dataset's placement may have changed.
	OnDatasetChange(func(locality.DatasetKey))
}

// CacheAware implements the scheduler plugin.
type CacheAware struct {
	datasets      Datasets
	nodes         locality.NodeIndex
	claims        corelisters.PersistentVolumeClaimLister
	defaultPolicy vicinityv1alpha1.DatasetPolicy
	tiers         locality.Tiers
	waiting       *waitingPods
	metrics       *Metrics
}

var (
	_ fwk.PreFilterPlugin   = (*CacheAware)(nil)
	_ fwk.FilterPlugin      = (*CacheAware)(nil)
	_ fwk.PreScorePlugin    = (*CacheAware)(nil)
	_ fwk.ScorePlugin       = (*CacheAware)(nil)
	_ fwk.SignPlugin        = (*CacheAware)(nil)
	_ fwk.EnqueueExtensions = (*CacheAware)(nil)
)

// New builds the plugin for one profile. Its goroutines end with ctx.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle,
	datasets Datasets, nodes locality.NodeIndex, metrics *Metrics,
) (*CacheAware, error) {
	args, ok := obj.(*configv1.CacheAwareArgs)
	if !ok {
		return nil, fmt.Errorf("arguments of plugin %s: want *CacheAwareArgs, found %T", Name, obj)
	}
	if err := configv1.ValidateCacheAwareArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	pl := &CacheAware{
		datasets:      datasets,
		nodes:         nodes,
		claims:        handle.SharedInformerFactory().Core().V1().PersistentVolumeClaims().Lister(),
		defaultPolicy: args.DatasetPolicy,
		metrics:       metrics,
	}
	for _, tier := range args.Tiers {
		pl.tiers = append(pl.tiers, locality.Tier{LabelKey: tier.LabelKey, Percent: int64(tier.Percent)})
	}
	waiting, err := startWaitingPods(ctx, handle, datasets)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", Name, err)
	}
	pl.waiting = waiting
	return pl, nil
}

// Name returns the plugin's name.
func (pl *CacheAware) Name() string { return Name }

// nodeOf is the part of a node that locality looks at.
func nodeOf(node *corev1.Node) locality.Node {
	return locality.Node{Name: node.Name, Labels: node.Labels}
}
