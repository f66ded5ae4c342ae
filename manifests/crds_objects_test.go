package manifests

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	nodeDatasetCache = "chart/crds/vicinity.dev_nodedatasetcaches.yaml"
	nodeRTT          = "chart/crds/vicinity.dev_noderrts.yaml"
	backups          = "chart/crds/vicinity.dev_backupreservations.yaml"
	nodeDiskDevice   = "chart/crds/diskio.x-k8s.io_nodediskdevices.yaml"
	nodeDiskIOStats  = "chart/crds/diskio.x-k8s.io_nodediskiostats.yaml"
)

// Every object here uses each field of its kind once. It must be taken, lose nothing to pruning, and come back the same
// from the Go type: then schema and type know the same names.
func TestCompleteObjectsAreAccepted(t *testing.T) {
	cases := map[string]struct {
		file, object string
		into         any
	}{
		"NodeDatasetCache": {nodeDatasetCache, `
apiVersion: vicinity.dev/v1alpha1
kind: NodeDatasetCache
metadata: {name: n1}
status:
  observedAt: "2026-01-02T03:04:05Z"
  datasets:
    - {namespace: team, name: ds1, medium: SSD, cachedBytes: 10, totalBytes: 10, observedAt: "2026-01-02T03:04:05Z"}
    - {namespace: team, name: ds1, medium: HDD, cachedBytes: 9223372036854775807, observedAt: "2026-01-02T03:04:05Z"}
`, &vicinityv1alpha1.NodeDatasetCache{}},
		"NodeRTT": {nodeRTT, `
apiVersion: vicinity.dev/v1alpha1
kind: NodeRTT
metadata: {name: n1}
status:
  observedAt: "2026-01-02T03:04:05Z"
  peers:
    - {node: n2, source: Agent, observedAt: "2026-01-02T03:04:05Z", samples: 20, p50Microseconds: 340, p99Microseconds: 340, lossPartsPerMillion: 1}
    - {node: n2, source: Goldpinger, observedAt: "2026-01-02T03:04:05Z", samples: 1, p50Microseconds: 1000}
    - {node: n3, source: Agent, observedAt: "2026-01-02T03:04:05Z", samples: 20, lossPartsPerMillion: 1000000}
  endpoints:
    - {endpoint: "db.example.com:5432", observedAt: "2026-01-02T03:04:05Z", samples: 20, p50Microseconds: 9000, p99Microseconds: 9100}
  coordinate:
    vectorMicroseconds: [-120, 0, 7]
    heightMicroseconds: 10
    errorPartsPerMillion: 1500000
    adjustmentMicroseconds: 0
`, &vicinityv1alpha1.NodeRTT{}},
		"BackupReservation": {backups, `
apiVersion: vicinity.dev/v1alpha1
kind: BackupReservation
metadata: {name: n1}
status:
  observedAt: "2026-01-02T03:04:05Z"
  podCount: 1
  pods: [{namespace: team, name: db-0, node: n2, survives: Zone}]
  reserved: [{name: cpu, amount: 1500}, {name: example.com/gpu, amount: 1}]
`, &vicinityv1alpha1.BackupReservation{}},
		"NodeDiskDevice": {nodeDiskDevice, `
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskDevice
metadata: {name: n1-nodediskdevice, namespace: ioi-system}
spec:
  nodeName: n1
  devices:
    dev0:
      name: dev0
      vendor: Intel
      model: P4510
      type: emptyDir
      capacity: {read: 1000Mi, write: 1000Mi, total: 2000Mi}
`, &diskiov1alpha1.NodeDiskDevice{}},
		"NodeDiskIOStats, a drained disk among its devices": {nodeDiskIOStats, `
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskIOStats
metadata: {name: n1-nodediskiostats, namespace: ioi-system, generation: 3}
spec: {nodeName: n1, reservedPods: [7f69dbf7-f6e3-4434-9be8-fca2f8a1543d]}
status:
  observedGeneration: 3
  allocableBandwidth:
    dev0: {read: 970Mi, write: 980Mi, total: 1950Mi}
    dev1: {read: "0", write: "0", total: "0"}
`, &diskiov1alpha1.NodeDiskIOStats{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			schema, want := mustLoadSchema(t, CRDs(), tc.file), mustObject(t, tc.object)
			if faults := schema.faults(t.Context(), mustObject(t, tc.object)); len(faults) > 0 {
				t.Fatalf("refused: %q", faults)
			}
			pruned := mustObject(t, tc.object)
			schema.prune(pruned)
			if diff := cmp.Diff(want, pruned); diff != "" {
				t.Errorf("after pruning (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, throughType(t, want, tc.into)); diff != "" {
				t.Errorf("after a round trip through %T (-want +got):\n%s", tc.into, diff)
			}
		})
	}
}

func throughType(t *testing.T, object map[string]any, into any) map[string]any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(into); err != nil {
		t.Fatal(err)
	}
	return mustObject(t, string(data))
}

func TestImpossibleObjectsAreRejected(t *testing.T) {
	const dataset = `
status:
  datasets:
    - {namespace: team, name: ds1, medium: SSD, observedAt: "2026-01-02T03:04:05Z", `
	const peer = `
status:
  peers:
    - {node: n2, source: Agent, observedAt: "2026-01-02T03:04:05Z", samples: 1, `
	cases := map[string]struct {
		file, object string
		want         []string
	}{
		"more bytes cached than there are": {
			nodeDatasetCache, dataset + `cachedBytes: 11, totalBytes: 10}`,
			[]string{`status.datasets[0]: Invalid value: cachedBytes must not be more than totalBytes`},
		},
		"a negative number of bytes": {
			nodeDatasetCache, dataset + `cachedBytes: -1}`,
			[]string{`status.datasets[0].cachedBytes: Invalid value: -1: status.datasets[0].cachedBytes in body should be greater than or equal to 1`},
		},
		"an unknown medium": {
			nodeDatasetCache, `
status:
  datasets:
    - {namespace: team, name: ds1, medium: Tape, observedAt: "2026-01-02T03:04:05Z", cachedBytes: 1}`,
			[]string{`status.datasets[0].medium: Unsupported value: "Tape": supported values: "Memory", "SSD", "HDD"`},
		},
		"the same dataset twice on one medium": {
			nodeDatasetCache, `
status:
  datasets:
    - {namespace: team, name: ds1, medium: SSD, observedAt: "2026-01-02T03:04:05Z", cachedBytes: 1}
    - {namespace: team, name: ds1, medium: SSD, observedAt: "2026-01-02T03:04:06Z", cachedBytes: 2}`,
			[]string{`status.datasets[1]: Duplicate value: {"medium":"SSD","name":"ds1","namespace":"team"}`},
		},
		"no time": {
			nodeDatasetCache, `
status:
  datasets:
    - {namespace: team, name: ds1, medium: SSD, cachedBytes: 1}`,
			[]string{`status.datasets[0].observedAt: Required value`},
		},
		"half of the probes faster than the median": {
			nodeRTT, peer + `p50Microseconds: 3, p99Microseconds: 2}`,
			[]string{`status.peers[0]: Invalid value: p99Microseconds needs a p50Microseconds that is not more`},
		},
		"a percentile without the median": {
			nodeRTT, peer + `p99Microseconds: 2}`,
			[]string{`status.peers[0]: Invalid value: p99Microseconds needs a p50Microseconds that is not more`},
		},
		"more lost than sent": {
			nodeRTT, peer + `lossPartsPerMillion: 1000001}`,
			[]string{`status.peers[0].lossPartsPerMillion: Invalid value: 1000001: status.peers[0].lossPartsPerMillion in body should be less than or equal to 1000000`},
		},
		"a coordinate without dimensions": {
			nodeRTT, `
status: {coordinate: {vectorMicroseconds: [], heightMicroseconds: 10, errorPartsPerMillion: 1}}`,
			[]string{`status.coordinate.vectorMicroseconds: Invalid value: 0: status.coordinate.vectorMicroseconds in body should have at least 1 items`},
		},
		"a reservation of nothing": {
			backups, `
status: {reserved: [{name: cpu, amount: 0}]}`,
			[]string{`status.reserved[0].amount: Invalid value: 0: status.reserved[0].amount in body should be greater than or equal to 1`},
		},
		"bandwidth that is no quantity": {
			nodeDiskIOStats, `
spec: {nodeName: n1}
status: {allocableBandwidth: {dev0: {read: fast}}}`,
			[]string{`status.allocableBandwidth.dev0.read: Invalid value: "fast": status.allocableBandwidth.dev0.read in body should match ` +
				`'^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			schema := mustLoadSchema(t, CRDs(), tc.file)
			got := schema.faults(t.Context(), mustObject(t, tc.object))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
