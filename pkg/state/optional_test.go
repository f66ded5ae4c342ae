package state

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// crds is the resource of custom resource definitions.
func crds() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

func definition(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}

// TestDefinitionsComeAndGo: a resource whose definition appears after the start is watched, and its effect ends
// when the definition goes. The same against a real API server is scenario cacheaware/crds-installed-later.
func TestDefinitionsComeAndGo(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	logger, ctx := ktesting.NewTestContext(t)
	_ = logger
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	sources := []configv1.DatasetSource{configv1.SourceDatashim}
	internal := schema.GroupVersionResource{Group: "datashim.io", Version: "v1alpha1", Resource: "datasetsinternal"}
	object := gatewayOn("n1")
	object.SetAPIVersion("datashim.io/v1alpha1")
	object.SetKind("DatasetInternal")
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{internal: "DatasetInternalList"})
	if _, err := dynamicClient.Resource(internal).Namespace("team").Create(ctx, object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metadataClient := metadatafake.NewSimpleMetadataClient(scheme, definition("unrelated.example.com"))

	s, err := NewForClients(dynamicClient, metadataClient, newTestNodes(t), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); s.Run(ctx) }()
	if err := s.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Known(testKey(), sources) {
		t.Fatal("dataset is known before its definition is")
	}

	changes := make(chan locality.DatasetKey, 10)
	s.OnDatasetChange(func(key locality.DatasetKey) { changes <- key })
	definitions := metadataClient.Resource(crds()).(metadatafake.MetadataClient)
	if _, err := definitions.CreateFake(definition("datasetsinternal.datashim.io"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, changes)
	if got := len(locality.Merge(s.Datasets(testKey(), sources)...).Replicas); got != 1 {
		t.Errorf("after the definition came: %d gateways, want 1", got)
	}

	if err := definitions.Delete(ctx, "datasetsinternal.datashim.io", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, changes)
	if s.Known(testKey(), sources) {
		t.Error("dataset is still known after its definition went")
	}
	cancel()
	<-stopped
}

func awaitChange(t *testing.T, changes <-chan locality.DatasetKey) {
	t.Helper()
	select {
	case key := <-changes:
		if key != testKey() {
			t.Fatalf("change of %v, want %v", key, testKey())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no change was told")
	}
}
