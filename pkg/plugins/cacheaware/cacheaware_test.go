package cacheaware

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datasetTable is a Datasets whose content the test writes.
type datasetTable struct {
	mu         sync.Mutex
	placements map[string]locality.Placement // by dataset name; all in namespace "team"
	listeners  []func(locality.DatasetKey)
}

func (d *datasetTable) Placement(key locality.DatasetKey) locality.Placement {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key.Namespace != "team" {
		return locality.Placement{}
	}
	return d.placements[key.Name]
}

func (d *datasetTable) Known(key locality.DatasetKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.placements[key.Name]
	return ok && key.Namespace == "team"
}

func (d *datasetTable) OnDatasetChange(f func(locality.DatasetKey)) {
	d.listeners = append(d.listeners, f)
}

func (d *datasetTable) move(name string, placement locality.Placement) {
	d.mu.Lock()
	d.placements[name] = placement
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
	informers informers.SharedInformerFactory
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

func newCluster(ctx context.Context, t *testing.T, policy vicinityv1alpha1.DatasetPolicy, claims ...*corev1.PersistentVolumeClaim) *cluster {
	t.Helper()
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	for _, claim := range claims {
		if err := factory.Core().V1().PersistentVolumeClaims().Informer().GetStore().Add(claim); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{
		datasets: &datasetTable{placements: map[string]locality.Placement{
			"on-gw":   {Gateways: []locality.Location{{Key: locality.HostnameKey, Value: "gw"}}},
			"on-far":  {DataLocations: []locality.Location{{Key: locality.HostnameKey, Value: "far"}}},
			"nowhere": {},
		}},
		activated: make(activations, 10),
		informers: factory,
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
	args := &configv1.CacheAwareArgs{DatasetPolicy: policy}
	configv1.SetDefaults_CacheAwareArgs(args)
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if c.CacheAware, err = New(ctx, args, handle, c.datasets, table, metrics); err != nil {
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

func using(datasets ...string) map[string]string {
	labels := map[string]string{}
	for i, name := range datasets {
		labels["dataset."+string(rune('0'+i))+".id"] = name
	}
	return labels
}

// outcome is what the plugin makes of a pod, extension point by extension point, up to the scores by node.
type outcome struct {
	PreFilter string // code, and reason if any
	Passing   []string
	PreScore  string
	Scores    map[string]int64
}

func (c *cluster) schedule(ctx context.Context, t *testing.T, pod *corev1.Pod) outcome {
	t.Helper()
	state := framework.NewCycleState()
	_, status := c.PreFilter(ctx, state, pod, nil)
	out := outcome{PreFilter: describe(status)}
	if !status.IsSuccess() && !status.IsSkip() {
		return out
	}
	for _, name := range []string{"far", "gw", "rack-mate", "zone-mate"} {
		if status.IsSkip() || c.Filter(ctx, state, pod, c.nodes[name]).IsSuccess() {
			out.Passing = append(out.Passing, name)
		}
	}
	preScore := c.PreScore(ctx, state, pod, nil)
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

func describe(status *fwk.Status) string {
	return strings.TrimSuffix(status.Code().String()+": "+status.Message(), ": ")
}

func TestPodFromPreFilterToScore(t *testing.T) {
	all := []string{"far", "gw", "rack-mate", "zone-mate"}
	claim := func(name string, labels map[string]string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: labels}}
	}
	onGateway := map[string]int64{"gw": 100, "rack-mate": 75, "zone-mate": 50, "far": 0}
	const policy = vicinityv1alpha1.DatasetPolicyAnnotation
	cases := map[string]struct {
		pod    *corev1.Pod
		policy vicinityv1alpha1.DatasetPolicy
		claims []*corev1.PersistentVolumeClaim
		want   outcome
	}{
		"a pod without datasets is none of this plugin's business": {
			pod:  podWith(map[string]string{"app": "web"}),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"a dataset behind a gateway draws its pod there, then to its rack, then to its zone": {
			pod:  podWith(using("on-gw")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"two datasets: the mean, (100+0)/2, (75+0)/2, (50+0)/2, (0+100)/2": {
			pod: podWith(using("on-gw", "on-far")),
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 50, "rack-mate": 38, "zone-mate": 25, "far": 50},
			},
		},
		"a dataset without a placement, or unknown, takes no part in the mean": {
			pod:  podWith(using("on-gw", "nowhere", "unheard-of")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"only datasets without a placement: all nodes are equal": {
			pod:  podWith(using("nowhere")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"a volume claim marked by Datashim names the dataset": {
			pod:    st.MakePod().Namespace("team").Name("p").UID("p").PVC("data").Obj(),
			claims: []*corev1.PersistentVolumeClaim{claim("data", map[string]string{"dataset": "on-gw"})},
			want:   outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"a volume claim without the mark counts if a dataset has its name": {
			pod:  st.MakePod().Namespace("team").Name("p").UID("p").PVC("on-gw").Obj(),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"a volume claim of another kind is not a dataset": {
			pod:    st.MakePod().Namespace("team").Name("p").UID("p").PVC("disk").Obj(),
			claims: []*corev1.PersistentVolumeClaim{claim("disk", nil)},
			want:   outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"datasets of another namespace do not count": {
			pod:  st.MakePod().Namespace("other").Name("p").UID("p").Labels(using("on-gw")).Obj(),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"required by annotation: only the gateway passes": {
			pod:  podWith(using("on-gw"), policy, "Required"),
			want: outcome{PreFilter: "Success", Passing: []string{"gw"}, PreScore: "Success", Scores: map[string]int64{"gw": 100}},
		},
		"required by the arguments, relaxed by the annotation": {
			pod: podWith(using("on-gw"), policy, "Preferred"), policy: vicinityv1alpha1.DatasetPolicyRequired,
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"two required datasets on different nodes: no node has both": {
			pod: podWith(using("on-gw", "on-far")), policy: vicinityv1alpha1.DatasetPolicyRequired,
			want: outcome{PreFilter: "Success", PreScore: "Success", Scores: map[string]int64{}},
		},
		"required and nowhere": {
			pod: podWith(using("on-gw", "nowhere")), policy: vicinityv1alpha1.DatasetPolicyRequired,
			want: outcome{PreFilter: `UnschedulableAndUnresolvable: required dataset "team/nowhere" is nowhere: ` +
				`no node is known to serve or hold it`},
		},
		"a malformed label is named": {
			pod: podWith(map[string]string{"dataset.x.id": "on-gw"}),
			want: outcome{
				PreFilter: `UnschedulableAndUnresolvable: label "dataset.x.id": want an integer as index, found "x"`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := newCluster(ctx, t, tc.policy, tc.claims...)
			if diff := cmp.Diff(tc.want, c.schedule(ctx, t, tc.pod)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMalformedPolicyIsNamed(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, "")
	got := c.schedule(ctx, t, podWith(nil, vicinityv1alpha1.DatasetPolicyAnnotation, "Maybe")).PreFilter
	for _, part := range []string{"UnschedulableAndUnresolvable", vicinityv1alpha1.DatasetPolicyAnnotation, "Maybe", "Required"} {
		if !strings.Contains(got, part) {
			t.Errorf("PreFilter = %s; want it to contain %q", got, part)
		}
	}
}

// TestDatasetsAreLogged: the line that the predecessor's users looked for, at the verbosity they will use.
func TestDatasetsAreLogged(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(2), ktesting.BufferLogs(true)))
	ctx := klog.NewContext(t.Context(), logger)
	newCluster(ctx, t, "").schedule(ctx, t, podWith(using("on-gw")))
	log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	for _, part := range []string{"team/pod", "team/on-gw", "kubernetes.io/hostname=gw"} {
		if !strings.Contains(log, part) {
			t.Errorf("log at V(2) is %q; want it to contain %q", log, part)
		}
	}
}
