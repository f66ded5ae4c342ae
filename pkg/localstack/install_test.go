package localstack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The rest of this package relies on these objects of the manifests.
func TestInstallObjects(t *testing.T) {
	objects, err := installObjects()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, obj := range objects {
		if isWorkload(obj) {
			t.Errorf("want no workloads, found %s", describe(obj))
		}
		found[describe(obj)] = true
	}
	for _, want := range []string{
		"Namespace vicinity-system",
		"ServiceAccount vicinity-system/vicinity-scheduler",
		"ServiceAccount vicinity-system/vicinity-controller",
	} {
		if !found[want] {
			t.Errorf("want %s among the manifests", want)
		}
	}
	s := &Stack{manifests: objects}
	config, err := s.SchedulerConfig()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{DefaultSchedulerName}, config.ProfileNames()); diff != "" {
		t.Errorf("profiles of the manifests (-want +got):\n%s", diff)
	}
	if _, err := s.configMapValue(agentConfigMap, agentConfigKey); err != nil {
		t.Error(err)
	}
}

func TestConfigMapValueFaults(t *testing.T) {
	config := &unstructured.Unstructured{Object: map[string]any{
		"kind": "ConfigMap", "metadata": map[string]any{"namespace": Namespace, "name": "a"}, "data": map[string]any{"k": "v"},
	}}
	s := &Stack{manifests: []*unstructured.Unstructured{config}}
	if got, err := s.configMapValue("a", "k"); err != nil || got != "v" {
		t.Errorf(`want "v", found %q and error %v`, got, err)
	}
	if _, err := s.configMapValue("a", "other"); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("want an error that names the key, found %v", err)
	}
	if _, err := s.configMapValue("b", "k"); err == nil || !strings.Contains(err.Error(), "vicinity-system/b") {
		t.Errorf("want an error that names the ConfigMap, found %v", err)
	}
}

func TestForeignCRDs(t *testing.T) {
	objects, err := foreignCRDs([]string{"datashim", "fluid"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, obj := range objects {
		found[obj.GetName()] = true
	}
	for _, want := range []string{
		"datasets.com.ie.ibm.hpsys", "datasetsinternal.com.ie.ibm.hpsys",
		"datasets.datashim.io", "datasetsinternal.datashim.io", "datasets.data.fluid.io",
	} {
		if !found[want] {
			t.Errorf("want CRD %s", want)
		}
	}
	if _, err := foreignCRDs([]string{"rook"}); err == nil || !strings.Contains(err.Error(), "datashim") {
		t.Errorf("want an error that lists the sets, found %v", err)
	}
}

func TestDecodeObjects(t *testing.T) {
	got, err := decodeObjects([]byte("# comment\n---\nkind: A\nmetadata: {name: a}\n---\n\n---\nkind: B\nmetadata: {name: b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, obj := range got {
		names = append(names, describe(obj))
	}
	if diff := cmp.Diff([]string{"A a", "B b"}, names); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{"kind: A\n---\na: [": "document 1", "metadata: {name: a}": "document 0"} {
		if _, err := decodeObjects([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %s of %q, found %v", want, text, err)
		}
	}
}

func TestNodeLeavesToKwokWhatIsKwoks(t *testing.T) {
	node := Node{Name: "n1", Zone: "z", Rack: "r"}
	got, err := node.Unstructured()
	if err != nil {
		t.Fatal(err)
	}
	resources := map[string]any{"cpu": "8", "memory": "32Gi", "pods": "110"}
	want := map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{"name": "n1", "labels": map[string]any{
			"vicinity.dev/kwok":           "managed",
			"kubernetes.io/hostname":      "n1",
			"kubernetes.io/os":            "linux",
			"kubernetes.io/arch":          "amd64",
			"topology.kubernetes.io/zone": "z",
			"topology.vicinity.dev/rack":  "r",
		}},
		"spec":   map[string]any{},
		"status": map[string]any{"capacity": resources, "allocatable": resources},
	}
	if diff := cmp.Diff(want, got.Object); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

func TestUsable(t *testing.T) {
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
	silent := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}
	pressure := corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse}
	tests := map[string]struct {
		conditions []corev1.NodeCondition
		taints     []corev1.Taint
		want       bool
	}{
		"new":                           {},
		"ready":                         {conditions: []corev1.NodeCondition{pressure, ready}, want: true},
		"ready, which nobody has seen":  {conditions: []corev1.NodeCondition{ready}, taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady}}},
		"silent":                        {conditions: []corev1.NodeCondition{silent}},
		"back, which nobody has seen":   {conditions: []corev1.NodeCondition{ready}, taints: []corev1.Taint{{Key: corev1.TaintNodeUnreachable}}},
		"ready with a taint of its own": {conditions: []corev1.NodeCondition{ready}, taints: []corev1.Taint{{Key: "mine"}}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{Spec: corev1.NodeSpec{Taints: tc.taints}, Status: corev1.NodeStatus{Conditions: tc.conditions}}
			if got := usable(node); got != tc.want {
				t.Errorf("want %t, found %t", tc.want, got)
			}
		})
	}
}

func TestLocateExecutable(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	if _, err := LocateExecutable("vicinity-nonsense"); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("want an error that says how to build it, found %v", err)
	}
	program := filepath.Join(folder, "vicinity-nonsense")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := LocateExecutable("vicinity-nonsense"); err != nil || got != program {
		t.Errorf("want the one on the PATH, %s, found %q and error %v", program, got, err)
	}
	if got := KubectlBeside("another"); got != "another" {
		t.Errorf("want no kubectl beside a test, found %s", got)
	}
}
