package manifests

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/test/crds"
)

func readExample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS("examples"), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func exampleNodes(t *testing.T) map[string]*corev1.Node {
	t.Helper()
	nodes := map[string]*corev1.Node{}
	for document := range bytes.SplitSeq(readExample(t, "datashim-seed/nodes.yaml"), []byte("---\n")) {
		node := &corev1.Node{}
		if err := yaml.UnmarshalStrict(document, node); err != nil {
			t.Fatal(err)
		}
		nodes[node.Name] = node
	}
	return nodes
}

// The pod is the user's own: it must work as it was written for the predecessor.
func TestSeedPodIsUnchanged(t *testing.T) {
	const want = `
apiVersion: v1
kind: Pod
metadata:
  name: testpod
  labels:
    dataset.0.id: "example-dataset"
    dataset.0.useas: "mount"
spec:
  schedulerName: scheduler-plugins-scheduler
  containers:
    - name: nginx
      image: nginx
`
	got := mustObject(t, string(readExample(t, "datashim-seed-pod.yaml")))
	if diff := cmp.Diff(mustObject(t, want), got); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

func TestSeedObjectsBelongTogether(t *testing.T) {
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(readExample(t, "datashim-seed-pod.yaml"), pod); err != nil {
		t.Fatal(err)
	}
	datasets, err := vicinityv1alpha1.ParseDatasetLabels(pod.Labels)
	if err != nil || len(datasets) != 1 {
		t.Fatalf("the pod names datasets %v (%v), want one", datasets, err)
	}
	for file, crd := range map[string]string{
		"datashim-seed/dataset.yaml":         "datashim/datasets.com.ie.ibm.hpsys.yaml",
		"datashim-seed/datasetinternal.yaml": "datashim/datasetsinternal.com.ie.ibm.hpsys.yaml",
	} {
		schema, object := mustLoadSchema(t, crds.FS(), crd), mustObject(t, string(readExample(t, file)))
		if object["kind"] != schema.crd.Spec.Names.Kind || object["apiVersion"] != schema.crd.Spec.Group+"/"+version {
			t.Errorf("%s is a %s of %s", file, object["kind"], object["apiVersion"])
		}
		if faults := schema.faults(t.Context(), object); len(faults) > 0 {
			t.Errorf("%s would be refused: %q", file, faults)
		}
		metadata, _ := object["metadata"].(map[string]any)
		if metadata["name"] != datasets[0].Name || metadata["namespace"] != corev1.NamespaceDefault {
			t.Errorf("%s is named %v in namespace %v, the pod means %s in the default namespace",
				file, metadata["name"], metadata["namespace"], datasets[0].Name)
		}
	}
}

func TestSeedGatewayIsOneOfTheSeedNodes(t *testing.T) {
	nodes := exampleNodes(t)
	const gateway = "scheduler-test-m02"
	if nodes["scheduler-test"] == nil || nodes[gateway] == nil || len(nodes) != 2 {
		t.Fatalf("nodes %v, want scheduler-test and %s", nodes, gateway)
	}
	for name, node := range nodes {
		if node.Labels[corev1.LabelHostname] != name {
			t.Errorf("node %s has hostname label %q", name, node.Labels[corev1.LabelHostname])
		}
		if node.Status.Allocatable.Pods().IsZero() {
			t.Errorf("node %s has no room for pods", name)
		}
	}
	internal := string(readExample(t, "datashim-seed/datasetinternal.yaml"))
	if got := strings.Count(internal, "value: "+gateway+"\n"); got != 2 {
		t.Errorf("the placements name %s %d times, want once as gateway and once as data location", gateway, got)
	}
}
