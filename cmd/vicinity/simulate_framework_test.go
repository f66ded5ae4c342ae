package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
)

func TestMain(m *testing.M) {
	scheme.Install()
	os.Exit(m.Run())
}

// TestSimulateTheSameOnBothEngines: the predecessor's configuration decides alike natively and in the framework.
func TestSimulateTheSameOnBothEngines(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	files := []string{"-f", "manifests/examples/simulate/test-cluster-config.yaml", "-s", "manifests/examples/simulate/test-scheduler-config.yaml"}
	native, _ := placements(t, append(files, "--engine", "native")...)
	framework, _ := placements(t, append(files, "--engine", "framework")...)
	if diff := cmp.Diff(native.Placements, framework.Placements); diff != "" || framework.Engine != "framework" || native.Engine != "native" {
		t.Errorf("engines %s and %s, placements (-native +framework):\n%s", native.Engine, framework.Engine, diff)
	}
}

// What native policies do not know makes the framework decide, and keeps a pod off a tainted node.
func TestSimulateTakesTheFrameworkWhereItMust(t *testing.T) {
	t.Chdir(t.TempDir())
	const objects = `apiVersion: v1
kind: Node
metadata: {name: best, labels: {kubernetes.io/hostname: best}}
spec: {taints: [{key: broken, effect: NoSchedule}]}
status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}
---
apiVersion: v1
kind: Node
metadata: {name: other, labels: {kubernetes.io/hostname: other}}
status: {allocatable: {cpu: 8, memory: 16Gi, pods: 10}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
`
	if err := os.WriteFile("all.yaml", []byte(objects), 0o600); err != nil {
		t.Fatal(err)
	}
	document, stderr := placements(t, "--nodes", "all.yaml", "-p", "BestFit")
	if document.Engine != "framework" || *document.Placements[0].Node != "other" || !strings.Contains(stderr, "taints (node best)") {
		t.Errorf("want the framework to keep the taint, found %+v and %q", document, stderr)
	}
	document, stderr = placements(t, "--nodes", "all.yaml", "-p", "BestFit", "--engine", "native")
	if document.Engine != "native" || *document.Placements[0].Node != "best" || !strings.Contains(stderr, "warning: native policies do not know taints") {
		t.Errorf("want the native policy and a warning, found %+v and %q", document, stderr)
	}
	// Of kube-scheduler's own scores the emptier node has the better one.
	const stock = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: default-scheduler}]\n"
	if err := os.WriteFile("stock.yaml", []byte(stock), 0o600); err != nil {
		t.Fatal(err)
	}
	if document, _ = placements(t, "--nodes", "all.yaml", "-s", "stock.yaml"); *document.Placements[0].Node != "other" || document.Policy != "stock" {
		t.Errorf("want kube-scheduler's choice, found %+v", document)
	}
	unknown := strings.Replace(stock, "default-scheduler", "s, plugins: {multiPoint: {enabled: [{name: Nobody}]}}", 1)
	if err := os.WriteFile("unknown.yaml", []byte(unknown), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := execute(t, "vicinity", "simulate", "--nodes", "all.yaml", "-s", "unknown.yaml")
	if err == nil || exitStatus(err) != badInputStatus || !strings.Contains(err.Error(), "unknown.yaml") || !strings.Contains(err.Error(), "Nobody") {
		t.Errorf("want a bad configuration that names file and plugin, found %v", err)
	}
}
