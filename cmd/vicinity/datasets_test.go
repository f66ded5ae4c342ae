package main

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// said is what each source knows. It stands for the state.
type said map[configv1.DatasetSource]map[locality.DatasetKey]locality.Dataset

func (s said) Keys(from []configv1.DatasetSource) []locality.DatasetKey {
	var keys []locality.DatasetKey
	for _, source := range from {
		keys = slices.AppendSeq(keys, maps.Keys(s[source]))
	}
	slices.SortFunc(keys, locality.DatasetKey.Compare)
	return slices.Compact(keys)
}

func (s said) Known(key locality.DatasetKey, from []configv1.DatasetSource) bool {
	return slices.Contains(s.Keys(from), key)
}

func (s said) Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset {
	parts := make([]locality.Dataset, 0, len(from))
	for _, source := range from {
		parts = append(parts, s[source][key])
	}
	return parts
}

func dataset(name string) locality.DatasetKey {
	return locality.DatasetKey{Namespace: "default", Name: name}
}

// readAt is when the cluster of these tests is read.
func readAt() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func counted(node string, medium locality.Medium, bytes int64, age time.Duration) locality.Replica {
	return locality.Replica{
		At: locality.OnNode(node), Bytes: bytes, BytesKnown: true, Medium: medium, Observed: readAt().Add(-age),
		Source: string(configv1.SourceNodeDatasetCache),
	}
}

func fromDatashim(key, value string, gateway bool) locality.Replica {
	return locality.Replica{
		At: locality.Location{Key: key, Value: value}, Gateway: gateway, Source: string(configv1.SourceDatashim),
	}
}

func testNode(name string, ready corev1.ConditionStatus, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
	}
}

// testCluster has a dataset for each way in which a place counts or does not.
func testCluster(t *testing.T) *clusterView {
	t.Helper()
	cordoned := testNode("cordoned", corev1.ConditionTrue, map[string]string{"zone": "shut"})
	cordoned.Spec.Unschedulable = true
	nodes := []*corev1.Node{
		testNode("n1", corev1.ConditionTrue, map[string]string{"zone": "a", locality.HostnameKey: "host-1"}),
		testNode("n2", corev1.ConditionTrue, map[string]string{"zone": "a"}),
		testNode("n3", corev1.ConditionTrue, nil),
		testNode("n4", corev1.ConditionTrue, nil),
		testNode("down", corev1.ConditionUnknown, map[string]string{locality.HostnameKey: "host-down"}),
		cordoned,
	}
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Node{}, 0, cache.Indexers{})
	index, err := state.NewNodes(informer)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if err := informer.GetStore().Add(node); err != nil {
			t.Fatal(err)
		}
	}
	const hostname = locality.HostnameKey
	return &clusterView{
		sources: []configv1.DatasetSource{configv1.SourceNodeDatasetCache, configv1.SourceFluid, configv1.SourceDatashim},
		index:   index, nodes: nodes,
		known: said{
			configv1.SourceNodeDatasetCache: {
				// 5 + 75 of 100 GB on n1; the rest is more, but does not count.
				dataset("imagenet"): {SizeBytes: 100e9, NodeCached: true, Replicas: []locality.Replica{
					counted("n1", locality.MediumMemory, 5e9, 90*time.Second), counted("n1", locality.MediumSSD, 75e9, 90*time.Second),
					counted("n2", locality.MediumHDD, 100e9, 20*time.Minute), counted("gone", locality.MediumSSD, 90e9, time.Hour),
					counted("down", locality.MediumSSD, 90e9, 0), counted("cordoned", locality.MediumSSD, 95e9, 0),
				}},
				dataset("clock-ahead"):     {SizeBytes: 1 << 40, Replicas: []locality.Replica{counted("n1", locality.MediumHDD, 1<<20, -time.Hour)}},
				dataset("all-stale"):       {SizeBytes: 100, Replicas: []locality.Replica{counted("n1", locality.MediumSSD, 100, time.Hour)}},
				dataset("more-than-there"): {SizeBytes: 1000, Replicas: []locality.Replica{counted("n1", locality.MediumSSD, 5000, 0)}},
				dataset("no-size"):         {Replicas: []locality.Replica{counted("n2", locality.MediumUnknown, 1234567, 0)}},
			},
			configv1.SourceFluid: {
				dataset("starting"): {Replicas: []locality.Replica{
					{At: locality.OnNode("n3"), BytesKnown: true, Medium: locality.MediumMemory, Source: string(configv1.SourceFluid)},
				}},
				{Namespace: "team", Name: "images"}: {SizeBytes: 4 << 30},
			},
			configv1.SourceDatashim: {
				dataset("imagenet"): {Replicas: []locality.Replica{fromDatashim(hostname, "n1", false)}}, // has no time, and loses
				dataset("gateways"): {Replicas: []locality.Replica{
					fromDatashim(hostname, "host-1", true), fromDatashim("zone", "a", true), fromDatashim("zone", "shut", true),
					fromDatashim("zone", "nowhere", true), fromDatashim(hostname, "host-down", true),
				}},
				dataset("many-places"): {Replicas: []locality.Replica{
					fromDatashim(hostname, "n1", false), fromDatashim(hostname, "n2", false), fromDatashim(hostname, "n3", false),
					fromDatashim(hostname, "n4", false), fromDatashim(hostname, "gone", false),
				}},
			},
		},
	}
}

func TestDatasetsOutput(t *testing.T) {
	for _, format := range []string{"", "wide", "json", "yaml"} {
		t.Run("format "+format, func(t *testing.T) {
			cluster := testCluster(t)
			var out bytes.Buffer
			if err := writeDatasets(&out, format, describeDatasets(cluster, cluster.keys(), readAt(), 5*time.Minute)); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "datasets."+cmp.Or(format, "text"))
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("output (-want +got); `go test ./cmd/vicinity -update` accepts it:\n%s", diff)
			}
		})
	}
}

func TestNoDatasetsPrintNoTableButAnEmptyList(t *testing.T) {
	for format, want := range map[string]string{"": "", "wide": "", "json": `"items": []`, "yaml": "items: []"} {
		var out bytes.Buffer
		if err := writeDatasets(&out, format, describeDatasets(testCluster(t), nil, readAt(), time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("format %q: want %q, found %q", format, want, got)
		}
	}
}

func TestSelectDatasets(t *testing.T) {
	cluster := testCluster(t)
	team := locality.DatasetKey{Namespace: "team", Name: "images"}
	// A dataset that the state answers for without listing it, like one that has only labels on nodes.
	labelled := dataset("labelled")
	cluster.known = unlisted{said: cluster.known.(said), key: labelled}
	cases := map[string]struct {
		namespace   string
		names       []string
		want        []locality.DatasetKey
		wantMissing []string
	}{
		"a namespace":                     {namespace: "team", want: []locality.DatasetKey{team}},
		"an empty namespace":              {namespace: "nobody"},
		"by name":                         {namespace: "default", names: []string{"no-size", "imagenet"}, want: []locality.DatasetKey{dataset("imagenet"), dataset("no-size")}},
		"a name of another namespace":     {namespace: "default", names: []string{"images"}, wantMissing: []string{"images"}},
		"a name in all namespaces":        {names: []string{"images"}, want: []locality.DatasetKey{team}},
		"one found, one not, asked twice": {namespace: "team", names: []string{"images", "x", "x"}, want: []locality.DatasetKey{team}, wantMissing: []string{"x"}},
		"only labels on nodes":            {namespace: "default", names: []string{"labelled"}, want: []locality.DatasetKey{labelled}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			keys, missing := selectDatasets(cluster, tc.namespace, tc.names)
			if diff := gocmp.Diff(tc.want, keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tc.wantMissing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
	if keys, _ := selectDatasets(cluster, "", nil); len(keys) != 9 {
		t.Errorf("all namespaces: want 9 datasets, found %v", keys)
	}
}

type unlisted struct {
	said
	key locality.DatasetKey
}

func (u unlisted) Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset {
	if key == u.key {
		return []locality.Dataset{{Replicas: []locality.Replica{{At: locality.OnNode("n1"), Source: string(configv1.SourceFluid)}}}}
	}
	return u.said.Datasets(key, from)
}

func TestHumanBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1.0Ki", 1536: "1.5Ki", 10188: "9.9Ki", 10240: "10Ki",
		1<<20 - 1: "1.0Mi", 1 << 20: "1.0Mi", 100e9: "93Gi", 5e9: "4.7Gi", 1 << 50: "1.0Pi", math.MaxInt64: "8.0Ei",
	} {
		if got := humanBytes(n); got != want {
			t.Errorf("humanBytes(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestHumanPercent(t *testing.T) {
	for percent, want := range map[float64]string{0: "0%", 0.1: "<1%", 1: "1%", 37.5: "37%", 99.9: "99%", 100: "100%"} {
		if got := humanPercent(percent); got != want {
			t.Errorf("humanPercent(%v) = %s, want %s", percent, got, want)
		}
	}
}

func TestDatasetsCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "absent"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	cases := map[string]struct {
		args    []string
		out     []string
		wantErr []string
	}{
		"help has examples":        {args: []string{"--help"}, out: []string{"vicinity datasets images labels -o wide", "default 5m0s", "NodeDatasetCache,Fluid,Datashim"}},
		"no kubeconfig":            {wantErr: []string{"--kubeconfig, $KUBECONFIG or ~/.kube/config", "vicinity up"}},
		"a kubeconfig that is not": {args: []string{"--kubeconfig", "datasets.go"}, wantErr: []string{"reading the kubeconfig", "datasets.go"}},
		"every flag is checked": {
			args:    []string{"--sources=Alluxio", "--output=xml", "--stale-after=-1s", "-A", "-n", "x"},
			wantErr: []string{`"Alluxio"`, "NodeDatasetCache, Fluid, Datashim", `"xml"`, "wide, json, yaml", "--stale-after", "exclude each other"},
		},
		"a source twice": {args: []string{"--sources=Fluid,Fluid"}, wantErr: []string{"found Fluid twice"}},
		"no source":      {args: []string{"--sources="}, wantErr: []string{"want at least one of NodeDatasetCache"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := execute(t, "vicinity", append([]string{"datasets"}, tc.args...)...)
			if len(tc.wantErr) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.wantErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("want an error with %q, found %v", want, err)
				}
			}
			for _, want := range tc.out {
				if !strings.Contains(stdout, want) {
					t.Errorf("want %q on stdout, found:\n%s", want, stdout)
				}
			}
		})
	}
}
