package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/diskmodel"
)

// modelTimeout bounds how long documents may take that models point to; they are all fetched at once, and only once.
const modelTimeout = 5 * time.Second

// asAsked follows a fault of models.
const asAsked = "disks without a model are charged what pods ask for"

// diskModels are the models that could be loaded.
type diskModels struct{ *diskmodel.Snapshot }

// Model implements diskio.Models.
func (m diskModels) Model(kind blockio.Kind) blockio.Model {
	model, _ := m.Snapshot.Model(kind.Vendor, kind.Model)
	return model
}

// name says which model a disk has.
func (m diskModels) name(kind blockio.Kind) string {
	if _, known := m.Snapshot.Model(kind.Vendor, kind.Model); known {
		return "Loaded"
	}
	return "Identity"
}

// readModels loads the models that the scheduler uses, as far as they can be reached from here. warnings tell of the
// others.
func readModels(ctx context.Context, client kubernetes.Interface, o *diskOptions) (models diskModels, warnings []string, err error) {
	loader, err := diskmodel.NewLoader(diskmodel.Options{
		Path: o.args.DiskIOModelConfig, Timeout: modelTimeout, Backoff: wait.Backoff{Steps: 1},
	}, prometheus.NewRegistry())
	if err != nil {
		return diskModels{}, nil, fmt.Errorf("models of disks: %w", err)
	}
	where := fmt.Sprintf("ConfigMap %s/%s", o.schedulerNamespace, diskmodel.VendorsConfigMap)
	vendors, err := client.CoreV1().ConfigMaps(o.schedulerNamespace).Get(ctx, diskmodel.VendorsConfigMap, metav1.GetOptions{})
	switch {
	case err == nil:
		if err := loader.SetVendors(vendors.Data[diskmodel.VendorsKey]); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s", where, oneLine(err.Error())))
		}
	case ctx.Err() != nil:
		return diskModels{}, nil, context.Cause(ctx)
	case !apierrors.IsNotFound(err):
		warnings = append(warnings, fmt.Sprintf("%s cannot be read: %v; %s", where, err, asAsked))
	}
	loading, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	if err := loader.Refresh(loading); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			warnings = append(warnings, line+"; "+asAsked)
		}
	}
	return diskModels{loader.Snapshot()}, warnings, nil
}
