package main

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corelisters "k8s.io/client-go/listers/core/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/diskmodel"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
)

// described is the disks of nodes. It stands for the state.
type described map[string]*blockio.Node

func (d described) Disks(node string) *blockio.Node { return d[node] }
func (d described) DiskNodes() []string             { return slices.Sorted(maps.Keys(d)) }

// mebi is a bandwidth in MiB/s.
func mebi(read, write, total int64) blockio.Supply {
	const mi = 1 << 20
	return blockio.Supply{Bandwidth: blockio.Bandwidth{
		Read: blockio.BytesPerSecond(read * mi), Write: blockio.BytesPerSecond(write * mi), Total: blockio.BytesPerSecond(total * mi),
	}}
}

// podOn is a running pod with the annotation; "-" is none.
func podOn(node, name, annotation string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-of-" + name)},
		Spec:       corev1.PodSpec{NodeName: node},
	}
	if annotation != "-" {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, vicinityv1alpha1.BlockIOAnnotation, annotation)
	}
	return pod
}

// doubling is a model on which reading blocks of 4k costs twice.
const doubling = `[{"vendor":"Intel","model":"P4510","inline":{"kind":"Table","readRatios":{"4k":2}}}]`

// testDiskCluster has a node for each state of a report.
func testDiskCluster(t *testing.T, args *configv1.DiskIOArgs) *diskCluster {
	t.Helper()
	loader, err := diskmodel.NewLoader(diskmodel.Options{Backoff: wait.Backoff{Steps: 1}}, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if err := loader.SetVendors(doubling); err != nil {
		t.Fatal(err)
	}
	if err := loader.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	operations := mebi(1000, 1000, 2000)
	operations.IOPS, operations.HasIOPS = blockio.IOPS{Read: 100_000, Write: 50_000}, true
	report := func(observedAt time.Time) *blockio.Node {
		return &blockio.Node{
			Disks: []blockio.Disk{{
				ID: "vda", Capacity: mebi(500, 400, 600), Measured: mebi(300, 200, 400), HasMeasured: true,
				Pressure: 0.25, HasPressure: true,
			}},
			ObservedAt: observedAt, Seen: map[string]struct{}{"uid-of-old": {}},
		}
	}
	models := diskModels{loader.Snapshot()}
	volumes := newVolumes()
	return &diskCluster{
		models: models,
		disks: described{
			// A system disk, and a data disk with a model and operations.
			"two-disks": {Disks: []blockio.Disk{
				{ID: "data", Kind: blockio.Kind{Vendor: "Intel", Model: "P4510"}, Mounts: []string{"/mnt/data"}, Capacity: operations},
				{ID: "system", Kind: blockio.Kind{Vendor: "QEMU"}, Capacity: mebi(100, 100, 200)},
			}, Default: 1},
			"measured":    report(readAt().Add(-30 * time.Second)),
			"stale":       report(readAt().Add(-time.Hour)),
			"no-time":     report(time.Time{}),
			"clock-ahead": report(readAt().Add(time.Minute)),
			"no-default":  {Disks: []blockio.Disk{{ID: "vda", Capacity: mebi(1, 1, 2)}}, Default: -1},
		},
		pods: map[string][]*corev1.Pod{
			"two-disks": {
				podOn("two-disks", "plain", "-"),
				podOn("two-disks", "asks", `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`),
				podOn("two-disks", "broken", `{"rbps":`),
			},
			"measured":   {podOn("measured", "old", `{"rbps":"100Mi","wbps":"50Mi"}`), podOn("measured", "new", `{"rbps":"10Mi","wbps":"10Mi","riops":"1k"}`)},
			"stale":      {podOn("stale", "old", "-")},
			"no-default": {podOn("no-default", "plain", "-")},
		},
		accounts: diskio.NewAccounts(args, models, corelisters.NewPersistentVolumeClaimLister(volumes.claims),
			corelisters.NewPersistentVolumeLister(volumes.volumes)),
	}
}

func defaultDiskArgs() *configv1.DiskIOArgs {
	args := &configv1.DiskIOArgs{}
	configv1.SetDefaults_DiskIOArgs(args)
	return args
}

func TestDiskOutput(t *testing.T) {
	args := defaultDiskArgs()
	cluster := testDiskCluster(t, args)
	for _, format := range []string{"", "wide", "json", "yaml"} {
		t.Run("format "+format, func(t *testing.T) {
			var out bytes.Buffer
			if err := writeDisks(&out, format, describeDisks(cluster, cluster.disks.DiskNodes(), readAt(), args)); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "disk."+cmp.Or(format, "text"))
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

// TestWhatIsShownOfADisk works the figures of the golden files out.
func TestWhatIsShownOfADisk(t *testing.T) {
	cases := map[string]struct {
		node            string
		disk            int
		args            configv1.DiskIOArgs
		requested, free blockio.Supply
		state           string
		pods            []string
	}{
		// plain 5/5, asks 30/20; broken cannot be read, and is charged the minimum like plain. The disk has no model.
		"a system disk that nobody measures": {
			node: "two-disks", disk: 1, requested: mebi(40, 30, 70), free: mebi(60, 70, 130), state: "None",
			pods: []string{"asks", "broken", "plain"},
		},
		"another minimum": { // 2 x 1 + 30/20
			node: "two-disks", disk: 1, args: configv1.DiskIOArgs{BestEffortMinimum: 1 << 20},
			requested: mebi(32, 22, 54), free: mebi(68, 78, 146), state: "None", pods: []string{"asks", "broken", "plain"},
		},
		"a namespace that is charged nothing": {
			node: "two-disks", disk: 1, args: configv1.DiskIOArgs{NSWhiteList: []string{"team"}},
			free: mebi(100, 100, 200), state: "None",
		},
		// Capacity less both pods: 390/340/430. Measured less the pod that the report has not seen: 290/190/380.
		"a fresh report": {
			node: "measured", requested: mebi(110, 60, 170), free: mebi(290, 190, 380), state: "Fresh", pods: []string{"new", "old"},
		},
		"a stale report":                    {node: "stale", requested: mebi(5, 5, 10), free: mebi(495, 395, 590), state: "Stale", pods: []string{"old"}},
		"a report without a time":           {node: "no-time", free: mebi(300, 200, 400), state: "Fresh"},
		"a report by a clock that is ahead": {node: "clock-ahead", free: mebi(300, 200, 400), state: "Fresh"},
		"a disk that no pod is on":          {node: "no-default", free: mebi(1, 1, 2), state: "None"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			configv1.SetDefaults_DiskIOArgs(&tc.args)
			list := describeDisks(testDiskCluster(t, &tc.args), []string{tc.node}, readAt(), &tc.args)
			got := list.Items[0].Disks[tc.disk]
			if got.Free.TotalBytesPerSecond != int64(tc.free.Bandwidth.Total) || got.Report.State != tc.state {
				t.Errorf("free %+v, report %s; want %+v, %s", got.Free, got.Report.State, tc.free.Bandwidth, tc.state)
			}
			if want := bandwidth(tc.requested.Bandwidth); got.Requested.cell() != want.cell() {
				t.Errorf("requested %s, want %s", got.Requested.cell(), want.cell())
			}
			if want := bandwidth(tc.free.Bandwidth); got.Free.cell() != want.cell() {
				t.Errorf("free %s, want %s", got.Free.cell(), want.cell())
			}
			var pods []string
			for i := range got.Pods {
				pods = append(pods, got.Pods[i].Name)
			}
			if diff := gocmp.Diff(tc.pods, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

// TestModelOfTheScheduler: on a disk whose model doubles what reading costs, 30 of reading in blocks of 4k are 60.
func TestModelOfTheScheduler(t *testing.T) {
	args := defaultDiskArgs()
	cluster := testDiskCluster(t, args)
	disks := cluster.disks.Disks("two-disks")
	onData := &blockio.Node{Disks: disks.Disks[:1]}
	cluster.disks = described{"n": onData}
	cluster.pods = map[string][]*corev1.Pod{"n": {podOn("n", "asks", `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`)}}
	view := describeDisks(cluster, []string{"n"}, readAt(), args).Items[0].Disks[0]
	if want := "60Mi/20Mi/80Mi"; view.RequestModel != "Loaded" || view.Requested.cell() != want {
		t.Errorf("model %s, requested %s; want Loaded, %s", view.RequestModel, view.Requested.cell(), want)
	}
}

func TestNoDisksPrintNoTableButAnEmptyList(t *testing.T) {
	args := defaultDiskArgs()
	for format, want := range map[string]string{"": "", "wide": "", "json": `"items": []`, "yaml": "items: []"} {
		var out bytes.Buffer
		if err := writeDisks(&out, format, describeDisks(testDiskCluster(t, args), nil, readAt(), args)); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("format %q: want %q, found %q", format, want, got)
		}
	}
}

func TestSelectNodes(t *testing.T) {
	described := []string{"a", "b", "c"}
	cases := map[string]struct{ names, want, missing []string }{
		"all":                        {want: described},
		"by name, in order, once":    {names: []string{"c", "a", "c"}, want: []string{"a", "c"}},
		"one is not described":       {names: []string{"b", "x"}, want: []string{"b"}, missing: []string{`"x"`}},
		"two are not, one asked for": {names: []string{"y", "x", "y"}, missing: []string{`"y"`, `"x"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			nodes, missing := selectNodes(described, tc.names)
			if diff := gocmp.Diff(tc.want, nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tc.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVolumesAreReadOnlyForPodsThatNameOne(t *testing.T) {
	for annotation, want := range map[string]bool{
		"-": false, "": false, `{"rbps":"1Mi"}`: false, `{"rbps":`: false, `{"work":{"requests":{"rbps":"50Mi/4k"}}}`: true,
	} {
		if got := usesVolumes(map[string][]*corev1.Pod{"n": {podOn("n", "p", annotation)}}); got != want {
			t.Errorf("annotation %s: %v, want %v", annotation, got, want)
		}
	}
}

func TestDiskCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "absent"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	cases := map[string]struct{ args, out, wantErr []string }{
		"help has examples":        {args: []string{"--help"}, out: []string{"vicinity disk node-01 node-02 -o wide", "default 2m0s", "default 5242880"}},
		"no kubeconfig":            {wantErr: []string{"--kubeconfig, $KUBECONFIG or ~/.kube/config", "vicinity up"}},
		"a kubeconfig that is not": {args: []string{"--kubeconfig", "disk.go"}, wantErr: []string{"reading the kubeconfig", "disk.go"}},
		"every flag is checked": {
			args: []string{"--output=xml", "--stale-after=-1s", "--best-effort-minimum=-1", "--ns-white-list=A_B", "--scheduler-namespace="},
			wantErr: []string{
				`"xml"`, "wide, json, yaml", "staleAfter", "bestEffortMinimum", "A_B", "--scheduler-namespace",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := execute(t, "vicinity", append([]string{"disk"}, tc.args...)...)
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
