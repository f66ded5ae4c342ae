package diskstats

import (
	"context"

	"k8s.io/client-go/rest"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

const (
	devicesSuffix = "-nodediskdevice"
	statsSuffix   = "-nodediskiostats"
)

// objects are those of the node on the API server. Their errors say what to do.
type objects interface {
	// Devices returns the described disks, nil if nobody described them.
	Devices(ctx context.Context) (*diskiov1alpha1.NodeDiskDeviceSpec, error)
	// Generation returns the generation of the NodeDiskIOStats, 0 if there is none.
	Generation(ctx context.Context) (int64, error)
	// Write replaces the status, and creates the object if need be.
	Write(ctx context.Context, status diskiov1alpha1.NodeDiskIOStatsStatus) error
	// Close releases the connection.
	Close()
}

// apiObjects implements objects.
type apiObjects struct {
	node           string
	devices, stats *report.Store
}

func newAPIObjects(config *rest.Config, node, namespace string) (*apiObjects, error) {
	version := diskiov1alpha1.GroupVersion()
	devices, err := report.NewStore(config, report.Object{
		Kind: version.WithKind("NodeDiskDevice"), Resource: "nodediskdevices", Namespace: namespace, Name: node + devicesSuffix, Node: node,
	})
	if err != nil {
		return nil, err
	}
	stats, err := report.NewStore(config, report.Object{
		Kind: version.WithKind("NodeDiskIOStats"), Resource: "nodediskiostats", Namespace: namespace, Name: node + statsSuffix, Node: node,
	})
	if err != nil {
		return nil, err
	}
	return &apiObjects{node, devices, stats}, nil
}

// Devices implements objects.
func (o *apiObjects) Devices(ctx context.Context) (*diskiov1alpha1.NodeDiskDeviceSpec, error) {
	device := &diskiov1alpha1.NodeDiskDevice{}
	found, err := o.devices.Read(ctx, device)
	if err != nil || !found {
		return nil, err
	}
	return &device.Spec, nil
}

// Generation implements objects.
func (o *apiObjects) Generation(ctx context.Context) (int64, error) {
	stats := &diskiov1alpha1.NodeDiskIOStats{}
	if _, err := o.stats.Read(ctx, stats); err != nil {
		return 0, err
	}
	return stats.Generation, nil
}

// Write implements objects.
func (o *apiObjects) Write(ctx context.Context, status diskiov1alpha1.NodeDiskIOStatsStatus) error {
	return o.stats.WriteStatus(ctx, &diskiov1alpha1.NodeDiskIOStats{
		Spec: diskiov1alpha1.NodeDiskIOStatsSpec{NodeName: o.node}, Status: status,
	})
}

// Close implements objects.
func (o *apiObjects) Close() {
	o.devices.Close()
	o.stats.Close()
}
