package edgedelay

import (
	"context"
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
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

type activations chan string

func (a activations) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	for name := range pods {
		a <- name
	}
}

// cluster is the plugin over some nodes and pods, in informers that hold what the test puts there.
type cluster struct {
	*EdgeDelay
	factory   informers.SharedInformerFactory
	infos     []fwk.NodeInfo
	activated activations
}

func testNow() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func passiveClock() clock.PassiveClock { return clocktesting.NewFakePassiveClock(testNow()) }

func newCluster(ctx context.Context, t *testing.T, args configv1.EdgeDelayArgs, nodes ...*corev1.Node) *cluster {
	t.Helper()
	c := &cluster{factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0), activated: make(activations, 10)}
	handle, err := frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{}, nil,
		frameworkruntime.WithInformerFactory(c.factory), frameworkruntime.WithPodActivator(c.activated))
	if err != nil {
		t.Fatal(err)
	}
	store := delay.NewStore()
	metrics, err := NewMetrics(prometheus.NewRegistry(), store, passiveClock())
	if err != nil {
		t.Fatal(err)
	}
	shared, err := NewShared(store, c.factory, passiveClock(), metrics)
	if err != nil {
		t.Fatal(err)
	}
	configv1.SetDefaults_EdgeDelayArgs(&args)
	if c.EdgeDelay, err = New(ctx, &args, handle, shared); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		c.join(t, node)
	}
	return c
}

func node(name string) *corev1.Node { return st.MakeNode().Name(name).Obj() }

func cloudNode(name string) *corev1.Node {
	return st.MakeNode().Name(name).Label("kubernetes.io/role", "cloud").Obj()
}

// join adds a node as its informer would.
func (c *cluster) join(t *testing.T, node *corev1.Node) {
	t.Helper()
	if err := c.factory.Core().V1().Nodes().Informer().GetStore().Add(node); err != nil {
		t.Fatal(err)
	}
	c.store.SetNode(node.Name, node.Labels[corev1.LabelTopologyZone])
	c.cloud.set(node)
	info := framework.NewNodeInfo()
	info.SetNode(node)
	c.infos = append(c.infos, info)
}

// run adds a pod as its informer would.
func (c *cluster) run(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		if err := c.factory.Core().V1().Pods().Informer().GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
}

// measured reports milliseconds from one node to others.
func (c *cluster) measured(from string, milliseconds map[string]float64) {
	var peers []delay.PeerSample
	for to, ms := range milliseconds {
		peers = append(peers, delay.PeerSample{Peer: to, Sample: delay.Sample{
			P50: time.Duration(ms * float64(time.Millisecond)), Known: true, Count: 20, ObservedAt: testNow(),
		}})
	}
	c.store.Update(from, delay.SourceAgent, peers, testNow())
}

func labelled(name string, labels ...string) *corev1.Pod {
	pod := st.MakePod().Namespace("team").Name(name).UID(name).Obj()
	for i := 0; i < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, labels[i], labels[i+1])
	}
	return pod
}

func annotated(name, value string) *corev1.Pod {
	pod := labelled(name)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, vicinityv1alpha1.DelayAnnotation, value)
	return pod
}

// ownedBy makes the pod one of a workload's.
func ownedBy(pod *corev1.Pod, kind, name string) *corev1.Pod {
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}
	return pod
}

func on(node string, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}

// outcome is what the plugin says of a pod: why it is rejected as a whole, or the score of each node it may go to and
// the reason for each that it may not.
type outcome struct {
	Rejected string
	Scores   map[string]int64
	Reasons  map[string]string
}

// skipped is the score of nodes of pods that are not scored.
const skipped = -1

func (c *cluster) try(ctx context.Context, t *testing.T, pod *corev1.Pod) outcome {
	t.Helper()
	state, out := framework.NewCycleState(), outcome{Scores: map[string]int64{}, Reasons: map[string]string{}}
	_, status := c.PreFilter(ctx, state, pod, c.infos)
	if !status.IsSuccess() && !status.IsSkip() {
		return outcome{Rejected: status.Message()}
	}
	filters := !status.IsSkip()
	var feasible []fwk.NodeInfo
	for _, info := range c.infos {
		if filters {
			if status := c.Filter(ctx, state, pod, info); !status.IsSuccess() {
				out.Reasons[info.Node().Name] = status.Message()
				continue
			}
		}
		feasible = append(feasible, info)
	}
	status = c.PreScore(ctx, state, pod, feasible)
	for _, info := range feasible {
		score := int64(skipped)
		if !status.IsSkip() {
			if score, status = c.Score(ctx, state, pod, info); !status.IsSuccess() {
				t.Fatal(status)
			}
		}
		out.Scores[info.Node().Name] = score
	}
	return out
}
