package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/mlpmodel"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/mlpscore"
)

// modelKey is the binary key of a ConfigMap that holds a model.
const modelKey = "model.safetensors"

// networks has the model that plugin MLPScore uses, in all profiles.
type networks struct {
	*mlpmodel.Loader
	metrics         *mlpscore.Metrics
	file, configMap string
}

// startNetworks loads the model that the arguments name, and keeps it up to date until ctx ends.
func startNetworks(ctx context.Context, args *configv1.MLPScoreArgs, client kubernetes.Interface) (*networks, error) {
	n := &networks{file: args.ModelFile, configMap: args.ModelConfigMap}
	var err error
	if n.metrics, err = mlpscore.NewMetrics(registry{}); err != nil {
		return nil, err
	}
	if n.Loader, err = mlpmodel.New(manifests.Model(), registry{}); err != nil {
		return nil, err
	}
	switch {
	case n.file != "":
		go n.WatchFile(ctx, n.file, mlpmodel.DefaultInterval)
	case n.configMap != "":
		if err := n.watchConfigMap(ctx, client); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *networks) watchConfigMap(ctx context.Context, client kubernetes.Interface) error {
	namespace := schedulerNamespace()
	informer := coreinformers.NewFilteredConfigMapInformer(client, namespace, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, n.configMap).String()
	})
	use := func(obj any) {
		configMap, ok := obj.(*corev1.ConfigMap)
		if !ok {
			return
		}
		before := n.Current()
		if err := n.Offer(configMap.BinaryData[modelKey]); err != nil {
			klog.FromContext(ctx).Error(err, "Model cannot be used", "configMap", klog.KObj(configMap), "key", modelKey)
		} else if now := n.Current(); now != before {
			klog.FromContext(ctx).Info("Model is in use", "model", now.Name, "configMap", klog.KObj(configMap))
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		// A ConfigMap that is deleted leaves its model in use: it was a good one.
		AddFunc: use, UpdateFunc: func(_, obj any) { use(obj) },
	})
	if err != nil {
		return fmt.Errorf("watching ConfigMap %s/%s: %w", namespace, n.configMap, err)
	}
	go informer.RunWithContext(ctx)
	return nil
}

// schedulerNamespace is the namespace that the scheduler runs in.
func schedulerNamespace() string {
	if namespace := os.Getenv(namespaceVariable); namespace != "" {
		return namespace
	}
	return defaultNamespace
}
