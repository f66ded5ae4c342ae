package manifests

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/test/crds"
)

func TestCRDsAreThoseOfTheAPIPackages(t *testing.T) {
	type names struct {
		Group, Kind, Plural, Singular string
		Scope                         apiextensions.ResourceScope
	}
	want := map[string]names{
		"chart/crds/diskio.x-k8s.io_nodediskdevices.yaml": {
			diskiov1alpha1.GroupName, "NodeDiskDevice", "nodediskdevices", "nodediskdevice", apiextensions.NamespaceScoped,
		},
		"chart/crds/diskio.x-k8s.io_nodediskiostats.yaml": {
			diskiov1alpha1.GroupName, "NodeDiskIOStats", "nodediskiostats", "nodediskiostats", apiextensions.NamespaceScoped,
		},
		"chart/crds/vicinity.dev_backupreservations.yaml": {
			vicinityv1alpha1.GroupName, "BackupReservation", "backupreservations", "backupreservation", apiextensions.ClusterScoped,
		},
		"chart/crds/vicinity.dev_nodedatasetcaches.yaml": {
			vicinityv1alpha1.GroupName, "NodeDatasetCache", "nodedatasetcaches", "nodedatasetcache", apiextensions.ClusterScoped,
		},
		"chart/crds/vicinity.dev_noderrts.yaml": {
			vicinityv1alpha1.GroupName, "NodeRTT", "noderrts", "noderrt", apiextensions.ClusterScoped,
		},
	}
	files, err := fs.Glob(CRDs(), "chart/crds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, file := range files {
		crd := mustLoadSchema(t, CRDs(), file).crd
		got := names{crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Names.Plural, crd.Spec.Names.Singular, crd.Spec.Scope}
		if diff := cmp.Diff(want[file], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		subresources, err := apiextensions.GetSubresourcesForVersion(crd, version)
		if err != nil || subresources == nil || subresources.Status == nil {
			t.Errorf("%s has no status subresource (%v)", file, err)
		}
	}
}

func TestForeignCRDsAreValid(t *testing.T) {
	files, err := fs.Glob(crds.FS(), "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range files {
		crd := mustLoadSchema(t, crds.FS(), file).crd
		got = append(got, crd.Name)
	}
	want := []string{
		"datasets.com.ie.ibm.hpsys", "datasets.datashim.io",
		"datasetsinternal.com.ie.ibm.hpsys", "datasetsinternal.datashim.io",
		"datasets.data.fluid.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CRDs (-want +got):\n%s", diff)
	}
}

// Bytes a node could never be written into placements by somebody else: the newer group drops them, the older keeps them.
func TestDatashimGroupsDifferInWhatTheyPrune(t *testing.T) {
	const text = `
apiVersion: GROUP/v1alpha1
kind: DatasetInternal
metadata: {name: ds1, namespace: team}
spec: {local: {type: COS, bucket: b}, unknown: 1}
status:
  caching:
    placements:
      gateways: [{key: kubernetes.io/hostname, value: n1, bytes: 10}]
      datalocations: [{key: kubernetes.io/hostname, value: n2}]
`
	for group, wantBytes := range map[string]bool{"com.ie.ibm.hpsys": true, "datashim.io": false} {
		t.Run(group, func(t *testing.T) {
			schema := mustLoadSchema(t, crds.FS(), "datashim/datasetsinternal."+group+".yaml")
			got := mustObject(t, strings.ReplaceAll(text, "GROUP", group))
			if faults := schema.faults(t.Context(), got); len(faults) > 0 {
				t.Fatalf("refused: %q", faults)
			}
			schema.prune(got)

			kept := strings.ReplaceAll(strings.ReplaceAll(text, "GROUP", group), ", unknown: 1", "")
			if !wantBytes {
				kept = strings.ReplaceAll(kept, ", bytes: 10", "")
			}
			if diff := cmp.Diff(mustObject(t, kept), got); diff != "" {
				t.Errorf("after pruning (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFluidKeepsWhatItsSchemaDoesNotList(t *testing.T) {
	const text = `
apiVersion: data.fluid.io/v1alpha1
kind: Dataset
metadata: {name: hbase, namespace: team}
spec:
  mounts: [{mountPoint: "https://mirror.example.com/hbase", name: hbase, encryptOptions: [{name: key}]}]
  placement: Shared
  dataRestoreLocation: {path: /data, nodeName: n1}
status:
  phase: Bound
  ufsTotal: 566.22MiB
  cacheStates: {cached: 0.00B, cachedPercentage: "0.0%"}
  hcfs: {endpoint: "alluxio://hbase:20000"}
`
	schema := mustLoadSchema(t, crds.FS(), "fluid/datasets.data.fluid.io.yaml")
	got := mustObject(t, text)
	if faults := schema.faults(t.Context(), got); len(faults) > 0 {
		t.Fatalf("refused: %q", faults)
	}
	schema.prune(got)
	if diff := cmp.Diff(mustObject(t, text), got); diff != "" {
		t.Errorf("after pruning (-want +got):\n%s", diff)
	}
}
