package diskio

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	clocktesting "k8s.io/utils/clock/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const mi = 1 << 20

// diskTable is a Disks whose content the test writes.
type diskTable struct {
	mu        sync.Mutex
	nodes     map[string]*blockio.Node
	listeners []func(string)
}

func (d *diskTable) Disks(node string) *blockio.Node {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[node]
}

func (d *diskTable) DiskKinds() []blockio.Kind {
	d.mu.Lock()
	defer d.mu.Unlock()
	kinds := map[blockio.Kind]struct{}{}
	for _, node := range d.nodes {
		for i := range node.Disks {
			kinds[node.Disks[i].Kind] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(kinds))
}

func (d *diskTable) DiskNodes() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.nodes))
}

func (d *diskTable) OnDiskChange(f func(string)) { d.listeners = append(d.listeners, f) }

// set replaces what is known of n1, by nothing for nil.
func (d *diskTable) set(disks *blockio.Node) {
	const node = "n1"
	d.mu.Lock()
	if d.nodes[node] = disks; disks == nil {
		delete(d.nodes, node)
	}
	d.mu.Unlock()
	for _, f := range d.listeners {
		f(node)
	}
}

// modelTable has a model of its own for some kinds, and the identity for the others.
type modelTable map[blockio.Kind]blockio.Model

func (m modelTable) Model(kind blockio.Kind) blockio.Model {
	if model, ok := m[kind]; ok {
		return model
	}
	return blockio.Identity{}
}

func (m modelTable) Known(kind blockio.Kind) bool { _, ok := m[kind]; return ok }
func (m modelTable) Generation() uint64           { return uint64(len(m)) }
func (m modelTable) OnModelChange(func())         {}

// brokenModel applies to nothing.
type brokenModel struct{}

func (brokenModel) Normalize(blockio.Request) (blockio.Demand, error) {
	return blockio.Demand{}, errors.New("the ratio is not a number")
}

type activations chan string

func (a activations) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	for name := range pods {
		a <- name
	}
}

type cluster struct {
	*DiskIO
	disks     *diskTable
	fills     *blockio.Fills
	activated activations
	registry  *prometheus.Registry
	clock     *clocktesting.FakePassiveClock
}

func testNow() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// supply is a bandwidth in MiB/s.
func supply(read, write, total int64) blockio.Supply {
	return blockio.Supply{Bandwidth: blockio.Bandwidth{
		Read: blockio.BytesPerSecond(read * mi), Write: blockio.BytesPerSecond(write * mi), Total: blockio.BytesPerSecond(total * mi),
	}}
}

// oneDisk is a node with one default disk.
func oneDisk(capacity blockio.Supply) *blockio.Node {
	return &blockio.Node{Disks: []blockio.Disk{{ID: "dev0", Kind: blockio.Kind{Vendor: "Intel", Model: "P4510"}, Capacity: capacity}}}
}

func newCluster(ctx context.Context, t *testing.T, args configv1.DiskIOArgs, models modelTable, nodes map[string]*blockio.Node) *cluster {
	t.Helper()
	c := &cluster{
		disks: &diskTable{nodes: nodes}, fills: blockio.NewFills(time.Hour), activated: make(activations, 10),
		clock: clocktesting.NewFakePassiveClock(testNow()), registry: prometheus.NewRegistry(),
	}
	handle, err := frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{}, nil,
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)),
		frameworkruntime.WithPodActivator(c.activated))
	if err != nil {
		t.Fatal(err)
	}
	configv1.SetDefaults_DiskIOArgs(&args)
	metrics, err := NewMetrics(c.registry)
	if err != nil {
		t.Fatal(err)
	}
	c.DiskIO, err = New(ctx, &args, handle, c.disks, models, c.fills, c.clock, metrics)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asking is a pod with the annotation; "-" is none.
func asking(name, annotation string) *corev1.Pod {
	pod := st.MakePod().Namespace("team").Name(name).UID(name).Obj()
	if annotation != "-" {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, vicinityv1alpha1.BlockIOAnnotation, annotation)
	}
	return pod
}

// node is a NodeInfo with pods on it.
func node(name string, pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(st.MakeNode().Name(name).Obj())
	return info
}

// try returns what the plugin says of the pod on the node: the reason for a rejection, or the score; -1 when skipped.
func (c *cluster) try(ctx context.Context, t *testing.T, pod *corev1.Pod, info fwk.NodeInfo) (reason string, score int64) {
	t.Helper()
	state := framework.NewCycleState()
	_, status := c.PreFilter(ctx, state, pod, nil)
	if !status.IsSuccess() && !status.IsSkip() {
		return status.Message(), -1
	}
	if !status.IsSkip() {
		if status := c.Filter(ctx, state, pod, info); !status.IsSuccess() {
			return status.Message(), -1
		}
	}
	if status := c.PreScore(ctx, state, pod, nil); status.IsSkip() {
		return "", -1
	} else if !status.IsSuccess() {
		t.Fatalf("PreScore: %v", status)
	}
	score, status = c.Score(ctx, state, pod, info)
	if !status.IsSuccess() {
		t.Fatalf("Score: %v", status)
	}
	return "", score
}
