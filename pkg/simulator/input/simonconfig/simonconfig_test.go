package simonconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

const whole = `apiVersion: simon/v1alpha1
kind: Config
metadata: {name: demo}
spec:
  cluster:
    customConfig: ./clusters/demo
  appList:
  - {name: web, path: ./apps/web}
  customConfig:
    shufflePod: true
    workloadTuningConfig: {ratio: 1.3, seed: 42}
    workloadInflationConfig: {ratio: 1.0, seed: 233}
    descheduleConfig: {ratio: 0.1, policy: fragOnePod}
    newWorkloadConfig: ./clusters/next
    typicalPodsConfig: {isInvolvedCpuPods: true, podPopularityThreshold: 95, podIncreaseStep: 1, gpuResWeight: 0}
    exportConfig: {podSnapshotYamlFilePrefix: out, nodeSnapshotCSVFilePrefix: out}
`

func TestParse(t *testing.T) {
	list := &faults.List{}
	got := Parse("c.yaml", []byte(whole), list)
	if err := list.Err(); err != nil || len(list.Warnings()) > 0 {
		t.Fatal(err, list.Warnings())
	}
	want := &Config{
		APIVersion: "simon/v1alpha1", Kind: "Config", Metadata: Metadata{Name: "demo"},
		Spec: Spec{
			Cluster: Cluster{CustomConfig: "./clusters/demo"}, AppList: []App{{Name: "web", Path: "./apps/web"}},
			CustomConfig: Custom{
				ShufflePod: true, WorkloadTuningConfig: Tuning{Ratio: 1.3, Seed: 42}, WorkloadInflationConfig: Tuning{Ratio: 1, Seed: 233},
				DescheduleConfig: Deschedule{Ratio: 0.1, Policy: "fragOnePod"}, NewWorkloadConfig: "./clusters/next",
				TypicalPodsConfig: Typical{IsInvolvedCPUPods: true, PodPopularityThreshold: 95, PodIncreaseStep: 1},
				ExportConfig:      Export{PodSnapshotYAMLFilePrefix: "out", NodeSnapshotCSVFilePrefix: "out"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestFaultsAndWarnings(t *testing.T) {
	tests := map[string]struct {
		from, to, fault, warning string
	}{
		"both clusters":          {from: "customConfig: ./clusters/demo", to: "{customConfig: a, kubeConfig: b}", fault: "c.yaml:5: spec.cluster: want one of customConfig and kubeConfig, found both"},
		"no cluster":             {from: "customConfig: ./clusters/demo", to: "{}", fault: "c.yaml:5: spec.cluster: want one of customConfig, a folder"},
		"an unknown policy":      {from: "fragOnePod", to: "fragOne", fault: "c.yaml:13: spec.customConfig.descheduleConfig.policy: want one of cosSim, fragOnePod, fragMultiPod, found \"fragOne\""},
		"more than all pods":     {from: "ratio: 0.1", to: "ratio: 10", fault: "c.yaml:13: spec.customConfig.descheduleConfig.ratio: want a part from 0 to 1"},
		"more than all shapes":   {from: "Threshold: 95", to: "Threshold: 950", fault: "c.yaml:15: spec.customConfig.typicalPodsConfig.podPopularityThreshold: want a percentage"},
		"an endless workload":    {from: "ratio: 1.3", to: "ratio: 1e9", fault: "c.yaml:11: spec.customConfig.workloadTuningConfig.ratio: want a ratio up to 1000"},
		"a text for a number":    {from: "ratio: 1.3", to: "ratio: much", fault: "c.yaml:11: spec.customConfig.workloadTuningConfig.ratio: "},
		"an application twice":   {from: "{name: web, path: ./apps/web}", to: "{name: web, path: a}\n  - {name: web, path: b}", fault: "c.yaml:9: spec.appList[1].name: \"web\" is there twice"},
		"an application nowhere": {from: ", path: ./apps/web", to: "", fault: "c.yaml:8: spec.appList[0].path: want a folder"},
		"a chart":                {from: "path: ./apps/web", to: "path: ./apps/web, chart: true", fault: "helm template web ./apps/web"},
		"another kind":           {from: "kind: Config", to: "kind: Configuration", fault: "c.yaml:1: apiVersion: want apiVersion simon/v1alpha1 and kind Config"},
		"a key that never was":   {from: "gpuResWeight", to: "isConsideredGpuResWeight", warning: "c.yaml:15: spec.customConfig.typicalPodsConfig.isConsideredGpuResWeight: unknown key, ignored"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(whole, tc.from, tc.to, 1)
			if text == whole {
				t.Fatalf("the configuration does not have %q", tc.from)
			}
			list := &faults.List{}
			Parse("c.yaml", []byte(text), list)
			err := list.Err()
			if (tc.fault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("want the fault %q, found %v", tc.fault, err)
			}
			if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, tc.warning) {
				t.Errorf("want the warning %q, found %q", tc.warning, all)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "beside"), 0o755); err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(folder, "here")
	if err := os.MkdirAll(filepath.Join(here, "both"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "both"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	config := filepath.Join(folder, "c.yaml")
	for path, want := range map[string]string{
		"beside": filepath.Join(folder, "beside"), "both": "both", "absent": "absent", "/absolute": "/absolute",
	} {
		if got := Resolve(config, path); got != want {
			t.Errorf("%s: want %s, found %s", path, want, got)
		}
	}
}

// FuzzParse: no configuration panics, and one without a result has a fault.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("spec: {appList: [{chart: true}]}")
	f.Add("- 1\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := &faults.List{}
		if config := Parse("c.yaml", []byte(text), list); config == nil && list.Err() == nil {
			t.Error("no configuration, and no fault")
		}
	})
}
