package perf

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// nodeCount is the size of the clusters of all budgets.
const nodeCount = 5000

func nodeName(i int) string { return fmt.Sprint("node-", i) }

// noActivation is for plugins of which no pod is rejected.
type noActivation struct{ fwk.PodActivator }

// surroundings are what plugins are built from.
type surroundings struct {
	informers informers.SharedInformerFactory
	nodes     *state.Nodes
	handle    fwk.Handle
}

// newSurroundings returns a context, too, that ends with the benchmark.
func newSurroundings(b *testing.B) (context.Context, *surroundings) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	s := &surroundings{informers: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	var err error
	s.nodes, err = state.NewNodes(s.informers.Core().V1().Nodes().Informer())
	must(b, err)
	s.handle, err = frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{}, nil,
		frameworkruntime.WithInformerFactory(s.informers), frameworkruntime.WithPodActivator(noActivation{}))
	must(b, err)
	return ctx, s
}

// stateWith is the state over a client in memory that serves one custom resource with these objects.
func (s *surroundings) stateWith(ctx context.Context, b *testing.B, resource schema.GroupVersionResource,
	objects []*unstructured.Unstructured,
) *state.State {
	b.Helper()
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(apiruntime.NewScheme(),
		map[schema.GroupVersionResource]string{resource: objects[0].GetKind() + "List"})
	for _, object := range objects {
		must(b, client.Tracker().Create(resource, object, object.GetNamespace()))
	}
	scheme := metadatafake.NewTestScheme()
	must(b, metav1.AddMetaToScheme(scheme))
	definitions := metadatafake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: resource.GroupResource().String()},
	})
	known, err := state.NewForClients(client, definitions, s.nodes, prometheus.NewRegistry())
	must(b, err)
	go known.Run(ctx)
	must(b, known.WaitForSync(ctx))
	return known
}

func reportP99(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
