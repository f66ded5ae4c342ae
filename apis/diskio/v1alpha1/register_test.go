package v1alpha1

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

func decode(t *testing.T, text string) (runtime.Object, schema.GroupVersion) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object, kind, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object, kind.GroupVersion()
}

func TestDecodingADeviceOfThePredecessorsDriver(t *testing.T) {
	object, version := decode(t, `
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskDevice
metadata: {name: n1-nodediskdevice, namespace: ioi-system}
spec:
  nodeName: n1
  devices:
    fakeDevice: {name: fakeDevice, vendor: Intel, model: P4510, type: emptyDir, capacity: {read: 1000Mi, write: 1000Mi, total: 2000Mi}}
`)
	device, ok := object.(*NodeDiskDevice)
	if !ok || version != GroupVersion() {
		t.Fatalf("decoded %T of %s", object, version)
	}
	got := device.Spec.Devices["fakeDevice"]
	if device.Spec.NodeName != "n1" || got.Type != DiskDeviceTypeEmptyDir || got.Vendor != "Intel" || got.Model != "P4510" ||
		got.Capacity.Total.Value() != 2000<<20 {
		t.Errorf("decoded %+v", device.Spec)
	}
}

func TestDecodingStatsWithTheMisspeltBandwidth(t *testing.T) {
	object, _ := decode(t, `
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskIOStats
metadata: {name: n1-nodediskiostats, namespace: ioi-system, generation: 3}
spec: {nodeName: n1, reservedPods: [7f69dbf7-f6e3-4434-9be8-fca2f8a1543d]}
status: {observedGeneration: 3, allocableBandwidth: {dev0: {read: 970Mi, write: 980Mi, total: 1950Mi}}}
`)
	stats, ok := object.(*NodeDiskIOStats)
	if !ok {
		t.Fatalf("decoded %T", object)
	}
	read := stats.Status.AllocableBandwidth["dev0"].Read
	if stats.Status.ObservedGeneration == nil || *stats.Status.ObservedGeneration != 3 || read.Value() != 970<<20 ||
		len(stats.Spec.ReservedPods) != 1 {
		t.Errorf("decoded %+v %+v", stats.Spec, stats.Status)
	}
}
