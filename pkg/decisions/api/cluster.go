package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// maxPairs bounds an answer on delays; beyond it a picture shows nothing anyway.
const maxPairs = 40_000

// Cluster reads what agents report about nodes. present is false where the cluster does not have the kind.
type Cluster interface {
	Delays(ctx context.Context) (delays []Delay, present bool, err error)
	Disks(ctx context.Context) (disks []Disk, present bool, err error)
}

// NewCluster reads from the API server at each question: they are few.
func NewCluster(config *rest.Config) (Cluster, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{diskiov1alpha1.AddToScheme, vicinityv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering our kinds: %w", err)
		}
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("preparing to read nodes' reports: %w", err)
	}
	return &cluster{reader}, nil
}

type cluster struct {
	reader client.Reader
}

// list reads all objects of a kind.
func (c *cluster) list(ctx context.Context, into client.ObjectList) (present bool, err error) {
	err = c.reader.List(ctx, into)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading nodes' reports: %w", err)
	}
	return true, nil
}

// Delays implements Cluster.
func (c *cluster) Delays(ctx context.Context) ([]Delay, bool, error) {
	var reports vicinityv1alpha1.NodeRTTList
	present, err := c.list(ctx, &reports)
	if err != nil || !present {
		return nil, present, err
	}
	delays := []Delay{}
	for i := range reports.Items {
		report := &reports.Items[i]
		for _, peer := range report.Status.Peers {
			delays = append(delays, Delay{
				From: report.Name, To: peer.Node, P50Us: peer.P50Microseconds, P99Us: peer.P99Microseconds,
				LossPpm: int64(peer.LossPartsPerMillion), Observed: peer.ObservedAt.UTC(),
			})
		}
	}
	return delays[:min(len(delays), maxPairs)], true, nil
}

// Disks implements Cluster.
func (c *cluster) Disks(ctx context.Context) ([]Disk, bool, error) {
	var devices diskiov1alpha1.NodeDiskDeviceList
	present, err := c.list(ctx, &devices)
	if err != nil || !present {
		return nil, present, err
	}
	var reports diskiov1alpha1.NodeDiskIOStatsList
	if _, err := c.list(ctx, &reports); err != nil {
		return nil, false, err
	}
	free := map[string]map[string]diskiov1alpha1.IOBandwidth{}
	for i := range reports.Items {
		status := &reports.Items[i].Status
		byDevice := maps.Clone(status.AllocatableBandwidth)
		if byDevice == nil {
			byDevice = map[string]diskiov1alpha1.IOBandwidth{}
		}
		maps.Copy(byDevice, status.AllocableBandwidth)
		free[reports.Items[i].Spec.NodeName] = byDevice
	}
	disks := []Disk{}
	for i := range devices.Items {
		spec := &devices.Items[i].Spec
		for _, id := range slices.Sorted(maps.Keys(spec.Devices)) {
			device := spec.Devices[id]
			left, known := free[spec.NodeName][id]
			disks = append(disks, Disk{
				Node: spec.NodeName, Device: device.Name,
				Total: device.Capacity.Total.Value(), TotalRead: device.Capacity.Read.Value(), TotalWrite: device.Capacity.Write.Value(),
				Free: left.Total.Value(), FreeRead: left.Read.Value(), FreeWrite: left.Write.Value(), Known: known,
			})
		}
	}
	return disks, true, nil
}

func (s *server) delays(ctx context.Context, c *caller, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	if err := c.must(ctx, "list", vicinityv1alpha1.GroupName, "noderrts"); err != nil {
		return nil, err
	}
	if s.Cluster == nil {
		return DelayList{Items: []Delay{}}, nil
	}
	items, present, err := s.Cluster.Delays(ctx)
	return DelayList{Present: present, Items: append([]Delay{}, items...)}, err
}

func (s *server) disks(ctx context.Context, c *caller, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	for _, resource := range []string{"nodediskdevices", "nodediskiostats"} {
		if err := c.must(ctx, "list", diskiov1alpha1.GroupName, resource); err != nil {
			return nil, err
		}
	}
	if s.Cluster == nil {
		return DiskList{Items: []Disk{}}, nil
	}
	items, present, err := s.Cluster.Disks(ctx)
	return DiskList{Present: present, Items: append([]Disk{}, items...)}, err
}
