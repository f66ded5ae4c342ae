package framework

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/cacheaware"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// vicinity builds our plugins on the experiment's world, where a cluster has custom resources.
type vicinity struct {
	datasets    datasets
	disks       disks
	clock       virtual
	fills       *blockio.Fills
	shared      *cacheaware.Shared
	diskMetrics *diskio.Metrics
}

func newVicinity(setup *engine.Setup, rank map[string]int) *vicinity {
	return &vicinity{
		datasets: datasets{setup, rank}, disks: describeDisks(setup), clock: virtual{setup.Now},
		fills: blockio.NewFills(configv1.MaxFillDuration),
	}
}

func (v *vicinity) cacheAware(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	if v.shared == nil {
		if err := v.share(handle); err != nil {
			return nil, err
		}
	}
	return cacheaware.New(ctx, args, handle, v.shared)
}

func (v *vicinity) share(handle fwk.Handle) error {
	factory := handle.SharedInformerFactory()
	nodes, err := state.NewNodes(factory.Core().V1().Nodes().Informer())
	if err != nil {
		return err
	}
	metrics, err := cacheaware.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return err
	}
	v.shared, err = cacheaware.NewShared(&v.datasets, nodes, factory, v.clock, metrics, v.fills)
	return err
}

func (v *vicinity) diskIO(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	if v.diskMetrics == nil {
		metrics, err := diskio.NewMetrics(prometheus.NewRegistry())
		if err != nil {
			return nil, err
		}
		v.diskMetrics = metrics
	}
	return diskio.New(ctx, args, handle, v.disks, models{}, v.fills, v.clock, v.diskMetrics)
}

// virtual is the trace's time.
type virtual struct{ now func() time.Duration }

// Now counts from the epoch, as the trace has no date.
func (c virtual) Now() time.Time { return time.Unix(0, 0).Add(c.now()) }

// Since is how long ago t was.
func (c virtual) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// datasets is what agents would report of the world's data.
type datasets struct {
	setup *engine.Setup
	rank  map[string]int
}

// Datasets says where the dataset's copies are, as agents do: by node, whole.
func (s *datasets) Datasets(key locality.DatasetKey, _ []configv1.DatasetSource) []locality.Dataset {
	bytes, holders, known := s.find(key)
	if !known {
		return nil
	}
	d := locality.Dataset{SizeBytes: bytes, NodeCached: true}
	for _, holder := range holders {
		d.Replicas = append(d.Replicas, locality.Replica{
			At: locality.OnNode(s.setup.Cluster.Nodes[holder].Name), Bytes: bytes, BytesKnown: true, Source: "simulation",
		})
	}
	return []locality.Dataset{d}
}

// find looks a dataset up by its full name, then by its bare one: an input need not have namespaces.
func (s *datasets) find(key locality.DatasetKey) (bytes int64, holders []int, known bool) {
	if s.setup.World == nil {
		return 0, nil, false
	}
	if bytes, holders, known = s.setup.World.Dataset(key.String()); known {
		return bytes, holders, true
	}
	return s.setup.World.Dataset(key.Name)
}

// Known says whether the world has the dataset.
func (s *datasets) Known(key locality.DatasetKey, _ []configv1.DatasetSource) bool {
	_, _, known := s.find(key)
	return known
}

// HoldsData says whether the node has a copy of anything.
func (s *datasets) HoldsData(node locality.Node, _ []configv1.DatasetSource) bool {
	at, known := s.rank[node.Name]
	return known && s.setup.World != nil && s.setup.World.HoldsData(at)
}

// OnDatasetChange has nobody to tell: the engine tries pods again itself.
func (*datasets) OnDatasetChange(func(locality.DatasetKey)) {}

// noLimit is the rate of a disk that the input does not limit, far from what sums of requests can overflow.
const noLimit = blockio.BytesPerSecond(math.MaxInt64 / 4)

// disks is what agents would report of the nodes' disks.
type disks map[string]*blockio.Node

// describeDisks gives every node one disk. Where the input limits none, nobody has described disks, and pods that want
// one that is known get no node, as in a cluster without agents.
func describeDisks(setup *engine.Setup) disks {
	all, limited := disks{}, false
	for i := range setup.Cluster.Nodes {
		n := &setup.Cluster.Nodes[i]
		rate := noLimit
		if n.DiskBytesPerSecond > 0 {
			limited, rate = true, blockio.BytesPerSecond(n.DiskBytesPerSecond)
		}
		supply := blockio.Supply{Bandwidth: blockio.Bandwidth{Read: rate, Write: rate, Total: rate}}
		all[n.Name] = &blockio.Node{Disks: []blockio.Disk{{ID: "disk", Mounts: []string{"/"}, Capacity: supply}}}
	}
	if !limited {
		return nil
	}
	return all
}

// Disks implements [diskio.Disks].
func (d disks) Disks(node string) *blockio.Node { return d[node] }

// DiskNodes are those that are described.
func (d disks) DiskNodes() []string { return slices.Sorted(maps.Keys(d)) }

// DiskKinds are all of one kind.
func (d disks) DiskKinds() []blockio.Kind { return []blockio.Kind{{}} }

// OnDiskChange is never called: the disks stay as they are.
func (disks) OnDiskChange(func(string)) {}

// models counts bytes as they are: the world's disks know no block sizes.
type models struct{}

// Model implements [diskio.Models].
func (models) Model(blockio.Kind) blockio.Model { return blockio.Identity{} }

// Known says that no kind needs a model.
func (models) Known(blockio.Kind) bool { return true }

// Generation never changes.
func (models) Generation() uint64 { return 1 }

// OnModelChange is never called.
func (models) OnModelChange(func()) {}
