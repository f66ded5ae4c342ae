package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// learnedConfig is a configuration of the predecessor's version that lets MLPScore score nodes and choose GPUs.
const learnedConfig = `
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: simon-scheduler
  plugins:
    filter: {enabled: [{name: Open-Gpu-Share}]}
    score:
      disabled: [{name: "*"}]
      enabled: [{name: MLPScore, weight: 1000}]
    reserve: {enabled: [{name: Open-Gpu-Share}]}
  pluginConfig:
  - {name: Open-Gpu-Share, args: {dimExtMethod: share, normMethod: max, gpuSelMethod: MLPScore}}
`

// simulateSmall runs the command with JSON output on a small generated trace.
func simulateSmall(t *testing.T, args ...string) *report.Document {
	t.Helper()
	folder := t.TempDir()
	if _, _, err := execute(t, "vicinity", "simulate", "generate", "--out", folder, "--scale", "0.02", "--seed", "1"); err != nil {
		t.Fatal(err)
	}
	stdout, _, err := execute(t, "vicinity", append([]string{
		"simulate", "--nodes", filepath.Join(folder, "nodes.csv"), "--pods", filepath.Join(folder, "pods.csv"), "--tune", "1.3", "--seed", "48",
		"--shuffle", "-o", "json", "--placements",
	}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var document report.Document
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		t.Fatal(err)
	}
	return &document
}

// TestSimulateMLPScore: the learned policy runs by its name, by a configuration, and by a model file, and decides the
// same each time.
func TestSimulateMLPScore(t *testing.T) {
	folder := t.TempDir()
	config, model := filepath.Join(folder, "scheduler.yaml"), filepath.Join(folder, "model.safetensors")
	for file, data := range map[string][]byte{config: []byte(learnedConfig), model: manifests.Model()} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := simulateSmall(t, "--policy", "MLP")
	if want.Policy != "MLP" || want.Engine != engineNative || want.Scheduled == 0 || len(want.Placements) != want.Pods {
		t.Errorf("want all %d pods of a native run of MLP, found %d placements by %s, engine %s", want.Pods, len(want.Placements), want.Policy, want.Engine)
	}
	for name, args := range map[string][]string{
		"a configuration":                {"-s", config},
		"the built-in model as a file":   {"--policy", "MLP", "--model", model},
		"devices by the same name twice": {"--policy", "MLP", "--gpu-sel", "MLPScore"},
	} {
		if diff := cmp.Diff(want.Placements, simulateSmall(t, args...).Placements); diff != "" {
			t.Errorf("%s: placements (-by name +so):\n%s", name, diff)
		}
	}
}

// TestSimulateConfigurationWithMLPScore runs the configuration in the form of that with which the predecessor's fork
// placed no pod.
func TestSimulateConfigurationWithMLPScore(t *testing.T) {
	document := simulateSmall(t, "-s", filepath.Join(sharedData(t, "simon-golden"), "scheduler-config-mlp.yaml"))
	if document.Policy != "MLP" || document.Scheduled == 0 {
		t.Errorf("want pods placed by policy MLP, found %d placed by %s", document.Scheduled, document.Policy)
	}
}

func TestModelsThatCannotBeSimulated(t *testing.T) {
	folder := t.TempDir()
	nonsense := filepath.Join(folder, "model.safetensors")
	if err := os.WriteFile(nonsense, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a file that is not there":     {[]string{"--nodes", "n.csv", "--policy", "MLP", "--model", filepath.Join(folder, "absent")}, "no such file"},
		"a file that is no model":      {[]string{"--nodes", "n.csv", "--policy", "MLP", "--model", nonsense}, nonsense},
		"a model for another policy":   {[]string{"--nodes", "n.csv", "--policy", "FGD", "--model", nonsense}, "n.csv"}, // the model is not read
		"in a comparison, as the last": {[]string{"--nodes", "n.csv", "--compare", "FGD,MLP", "--model", nonsense}, nonsense},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := execute(t, "vicinity", append([]string{"simulate"}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || exitStatus(err) != badInputStatus {
				t.Errorf("want bad input with %q, found %v", tc.want, err)
			}
		})
	}
}
