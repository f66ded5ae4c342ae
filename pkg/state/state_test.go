package state

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// fakeClients are of a cluster that has Datashim's DatasetInternal and, on node n1, one of its objects.
func fakeClients(t *testing.T) (dynamic.Interface, metadata.Interface) {
	t.Helper()
	internal := schema.GroupVersionResource{Group: "datashim.io", Version: "v1alpha1", Resource: "datasetsinternal"}
	object := gatewayOn("n1")
	object.SetAPIVersion("datashim.io/v1alpha1")
	object.SetKind("DatasetInternal")
	d := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{internal: "DatasetInternalList"})
	if _, err := d.Resource(internal).Namespace("team").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return d, metadatafake.NewSimpleMetadataClient(scheme, definition("datasetsinternal.datashim.io"))
}

func newTestState(t *testing.T, only ...configv1.DatasetSource) *State {
	t.Helper()
	d, m := fakeClients(t)
	s, err := NewForClients(d, m, newTestNodes(t), prometheus.NewRegistry(), only...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKeysAreThoseOfTheGivenSourcesInOrder(t *testing.T) {
	s := newTestState(t)
	s.sources[configv1.SourceNodeDatasetCache].(*nodeCaches).set(cacheObject("n1", cacheEntry("z", "SSD", 1, 0), cacheEntry("ds", "SSD", 1, 0)))
	s.sources[configv1.SourceDatashim].(*datashim).setStatus(0, statusOf("Failed", "Failed")) // known, though nowhere
	z := locality.DatasetKey{Namespace: "team", Name: "z"}
	for _, tc := range []struct {
		from []configv1.DatasetSource
		want []locality.DatasetKey
	}{
		{from: []configv1.DatasetSource{configv1.SourceNodeDatasetCache, configv1.SourceDatashim}, want: []locality.DatasetKey{testKey(), z}},
		{from: []configv1.DatasetSource{configv1.SourceDatashim}, want: []locality.DatasetKey{testKey()}},
		{from: []configv1.DatasetSource{configv1.SourceFluid, "Alluxio"}},
	} {
		if diff := cmp.Diff(tc.want, s.Keys(tc.from)); diff != "" {
			t.Errorf("keys of %v (-want +got):\n%s", tc.from, diff)
		}
	}
}

func TestOnlyTheGivenSourcesAreRead(t *testing.T) {
	s := newTestState(t, configv1.SourceFluid)
	if got := s.Resources(configv1.SourceDatashim); got != nil {
		t.Errorf("Datashim, which was not asked for: want nothing to be read, found %v", got)
	}
	want := []schema.GroupVersionResource{{Group: "data.fluid.io", Version: "v1alpha1", Resource: "datasets"}}
	if diff := cmp.Diff(want, s.Resources(configv1.SourceFluid)); diff != "" {
		t.Errorf("resources of Fluid (-want +got):\n%s", diff)
	}
	if len(s.optional.resources) != 1 {
		t.Errorf("want one resource to be watched, found %v", s.optional.resources)
	}
}

// Listed means read: who asks right after the wait must see every object that was there before.
func TestWaitForSyncWaitsUntilTheListIsRead(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	s := newTestState(t)
	reading, proceed := make(chan struct{}), make(chan struct{})
	s.OnDatasetChange(func(locality.DatasetKey) {
		close(reading) // the only object
		<-proceed
	})
	stopped := make(chan struct{})
	go func() { defer close(stopped); s.Run(ctx) }()
	defer func() { cancel(); <-stopped }()
	<-reading
	short, cancelShort := context.WithTimeout(ctx, 10*syncPoll)
	defer cancelShort()
	if err := s.WaitForSync(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the object is being read: want the wait to last, found %v", err)
	}
	close(proceed)
	long, cancelLong := context.WithTimeout(ctx, 30*time.Second)
	defer cancelLong()
	if err := s.WaitForSync(long); err != nil {
		t.Error(err)
	}
}
