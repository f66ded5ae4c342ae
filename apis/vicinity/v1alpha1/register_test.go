package v1alpha1

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kind := range slices.Sorted(maps.Keys(scheme.KnownTypes(GroupVersion()))) {
		if scheme.KnownTypes(GroupVersion())[kind].PkgPath() == "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1" {
			got = append(got, kind)
		}
	}
	want := []string{
		"BackupReservation", "BackupReservationList", "NodeDatasetCache", "NodeDatasetCacheList", "NodeRTT", "NodeRTTList",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestDecodingThroughTheScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	object, kind, err := decoder.Decode([]byte(`
apiVersion: vicinity.dev/v1alpha1
kind: NodeDatasetCache
metadata: {name: n1}
status:
  datasets: [{namespace: team, name: ds1, medium: Memory, cachedBytes: 7, observedAt: "2026-01-02T03:04:05Z"}]
`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, ok := object.(*NodeDatasetCache)
	if !ok || kind.GroupVersion() != GroupVersion() {
		t.Fatalf("decoded %T of %s", object, kind)
	}
	got := cache.Status.Datasets[0]
	if got.Medium != MediumMemory || got.CachedBytes != 7 || got.TotalBytes != 0 || got.ObservedAt.Unix() != 1767323045 {
		t.Errorf("decoded %+v", got)
	}
}
