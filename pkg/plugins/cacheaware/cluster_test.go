package cacheaware

import (
	"context"
	"slices"
	"strings"
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
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datasetTable is a Datasets whose content the test writes. All datasets are in namespace "team".
type datasetTable struct {
	mu        sync.Mutex
	source    configv1.DatasetSource // that says it all
	content   map[string]locality.Dataset
	listeners []func(locality.DatasetKey)
}

func (d *datasetTable) Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key.Namespace != "team" || !slices.Contains(from, d.source) {
		return nil
	}
	return []locality.Dataset{d.content[key.Name]}
}

func (d *datasetTable) Known(key locality.DatasetKey, _ []configv1.DatasetSource) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.content[key.Name]
	return ok && key.Namespace == "team"
}

func (d *datasetTable) HoldsData(node locality.Node, _ []configv1.DatasetSource) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dataset := range d.content {
		for _, r := range dataset.Replicas {
			if r.At == locality.OnNode(node.Name) {
				return true
			}
		}
	}
	return false
}

func (d *datasetTable) OnDatasetChange(f func(locality.DatasetKey)) {
	d.listeners = append(d.listeners, f)
}

func (d *datasetTable) change(name string, to locality.Dataset) {
	d.mu.Lock()
	d.content[name] = to
	d.mu.Unlock()
	for _, f := range d.listeners {
		f(locality.DatasetKey{Namespace: "team", Name: name})
	}
}

// activations records the pods that were activated.
type activations chan string

func (a activations) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	for name := range pods {
		a <- name
	}
}

// cluster is a plugin on four nodes: gw, its rack mate, its zone mate, and one far away.
type cluster struct {
	*CacheAware
	datasets  *datasetTable
	activated activations
	clock     *clocktesting.FakePassiveClock
	fills     *blockio.Fills
	nodes     map[string]fwk.NodeInfo
}

type nodeTable map[string]*corev1.Node

func (t nodeTable) Named(name string) (locality.Node, bool) {
	node, ok := t[name]
	if !ok {
		return locality.Node{}, false
	}
	return nodeOf(node), true
}

func (t nodeTable) Member(at locality.Location) (locality.Node, bool) {
	for _, node := range t {
		if node.Labels[at.Key] == at.Value {
			return nodeOf(node), true
		}
	}
	return locality.Node{}, false
}

// testNow is when all tests happen.
func testNow() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// testDatasets: on-gw is behind a gateway; on-far lies on a disk; both-media is half in memory on gw and whole on a
// hard disk on far; stale was last seen an hour ago; nowhere is known and has no place.
func testDatasets() map[string]locality.Dataset {
	held := func(node string, bytes int64, medium locality.Medium) locality.Replica {
		return locality.Replica{At: locality.OnNode(node), Bytes: bytes, BytesKnown: true, Medium: medium, Observed: testNow()}
	}
	stale := held("gw", 1, locality.MediumSSD)
	stale.Observed = testNow().Add(-time.Hour)
	return map[string]locality.Dataset{
		"on-gw":      {Replicas: []locality.Replica{{At: locality.OnNode("gw"), Gateway: true}}},
		"on-far":     {Replicas: []locality.Replica{{At: locality.OnNode("far")}}},
		"both-media": {SizeBytes: 100, Replicas: []locality.Replica{held("gw", 80, locality.MediumMemory), held("far", 100, locality.MediumHDD)}},
		"stale":      {Replicas: []locality.Replica{stale}},
		"nowhere":    {NodeCached: true},
		"uncached":   {},
	}
}

func newCluster(ctx context.Context, t *testing.T, args configv1.CacheAwareArgs, claims ...*corev1.PersistentVolumeClaim) *cluster {
	t.Helper()
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	for _, claim := range claims {
		if err := factory.Core().V1().PersistentVolumeClaims().Informer().GetStore().Add(claim); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{
		datasets:  &datasetTable{source: configv1.SourceNodeDatasetCache, content: testDatasets()},
		activated: make(activations, 10),
		clock:     clocktesting.NewFakePassiveClock(testNow()),
		fills:     blockio.NewFills(time.Hour),
		nodes:     map[string]fwk.NodeInfo{},
	}
	handle, err := frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{}, nil,
		frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithPodActivator(c.activated))
	if err != nil {
		t.Fatal(err)
	}
	table := nodeTable{}
	for name, place := range map[string][3]string{
		"gw": {"r1", "a", "eu"}, "rack-mate": {"r1", "a", "eu"}, "zone-mate": {"r2", "a", "eu"}, "far": {"r1", "c", "us"},
	} {
		node := st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
			Label(vicinityv1alpha1.RackLabel, place[0]).
			Label(corev1.LabelTopologyZone, place[1]).
			Label(corev1.LabelTopologyRegion, place[2]).Obj()
		table[name] = node
		info := framework.NewNodeInfo()
		info.SetNode(node)
		c.nodes[name] = info
	}
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	shared, err := NewShared(c.datasets, table, factory, c.clock, metrics, c.fills)
	if err != nil {
		t.Fatal(err)
	}
	configv1.SetDefaults_CacheAwareArgs(&args)
	if c.CacheAware, err = New(ctx, &args, handle, shared); err != nil {
		t.Fatal(err)
	}
	return c
}

func podWith(labels map[string]string, annotations ...string) *corev1.Pod {
	pod := st.MakePod().Namespace("team").Name("pod").UID("pod").Labels(labels).Obj()
	for i := 0; i+1 < len(annotations); i += 2 {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, annotations[i], annotations[i+1])
	}
	return pod
}

// rejectedFor is a pod that was first rejected so long ago.
func rejectedFor(d time.Duration, pod *corev1.Pod) *corev1.Pod {
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		LastTransitionTime: metav1.NewTime(testNow().Add(-d)),
	}}
	return pod
}

func using(datasets ...string) map[string]string {
	labels := map[string]string{}
	for i, name := range datasets {
		labels["dataset."+string(rune('0'+i))+".id"] = name
	}
	return labels
}

// outcome is what the plugin makes of a pod, extension point by extension point, up to the scores by node.
type outcome struct {
	PreFilter string   // code, and reason if any
	Nodes     []string // that PreFilter leaves, if it names them
	Passing   []string
	PreScore  string
	Scores    map[string]int64
}

func (c *cluster) schedule(ctx context.Context, t *testing.T, pod *corev1.Pod) outcome {
	t.Helper()
	state := framework.NewCycleState()
	result, status := c.PreFilter(ctx, state, pod, nil)
	out := outcome{PreFilter: describe(status)}
	if !status.IsSuccess() && !status.IsSkip() {
		return out
	}
	if result != nil {
		out.Nodes = result.NodeNames.UnsortedList()
	}
	var passing []fwk.NodeInfo
	for _, name := range []string{"far", "gw", "rack-mate", "zone-mate"} {
		if status.IsSkip() || c.Filter(ctx, state, pod, c.nodes[name]).IsSuccess() {
			out.Passing = append(out.Passing, name)
			passing = append(passing, c.nodes[name])
		}
	}
	preScore := c.PreScore(ctx, state, pod, passing)
	out.PreScore = describe(preScore)
	if !preScore.IsSuccess() {
		return out
	}
	out.Scores = map[string]int64{}
	for _, name := range out.Passing {
		score, status := c.Score(ctx, state, pod, c.nodes[name])
		if !status.IsSuccess() {
			t.Fatalf("Score on %s: %v", name, status)
		}
		out.Scores[name] = score
	}
	return out
}

// place reserves the node for the pod, as if it had won.
func (c *cluster) place(ctx context.Context, t *testing.T, pod *corev1.Pod, node string) {
	t.Helper()
	state := framework.NewCycleState()
	if _, status := c.PreFilter(ctx, state, pod, nil); !status.IsSuccess() && !status.IsSkip() {
		t.Fatalf("PreFilter: %v", status)
	}
	if status := c.Reserve(ctx, state, pod, node); !status.IsSuccess() {
		t.Fatalf("Reserve: %v", status)
	}
}

func describe(status *fwk.Status) string {
	return strings.TrimSuffix(status.Code().String()+": "+status.Message(), ": ")
}
