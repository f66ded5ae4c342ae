package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// A time in the future is a clock that differs: its news is 0s old, whenever this runs.
const datasetObjects = `
apiVersion: vicinity.dev/v1alpha1
kind: NodeDatasetCache
metadata: {name: n1}
status:
  observedAt: "2099-01-01T00:00:00Z"
  datasets:
    - {namespace: default, name: imagenet, medium: SSD, cachedBytes: 75000000000, totalBytes: 100000000000, observedAt: "2099-01-01T00:00:00Z"}
    - {namespace: default, name: imagenet, medium: Memory, cachedBytes: 5000000000, totalBytes: 100000000000, observedAt: "2099-01-01T00:00:00Z"}
---
apiVersion: vicinity.dev/v1alpha1
kind: NodeDatasetCache
metadata: {name: n2}
status:
  observedAt: "2020-01-01T00:00:00Z"
  datasets:
    - {namespace: default, name: imagenet, medium: HDD, cachedBytes: 100000000000, totalBytes: 100000000000, observedAt: "2020-01-01T00:00:00Z"}
---
apiVersion: datashim.io/v1alpha1
kind: Dataset
metadata: {name: images, namespace: default}
spec: {local: {type: COS}}
status: {caching: {status: Pending}, provision: {status: OK}}
---
apiVersion: datashim.io/v1alpha1
kind: DatasetInternal
metadata: {name: images, namespace: default}
spec: {local: {type: COS}}
status:
  caching:
    placements:
      gateways: [{key: kubernetes.io/hostname, value: n2}, {key: kubernetes.io/hostname, value: shut}, {key: "", value: n1}]
---
apiVersion: com.ie.ibm.hpsys/v1alpha1
kind: Dataset
metadata: {name: broken, namespace: default}
spec: {local: {type: COS}}
status: {caching: {status: OK}, provision: {status: Failed}}
---
apiVersion: data.fluid.io/v1alpha1
kind: Dataset
metadata: {name: hbase, namespace: kube-public}
spec: {mounts: [{mountPoint: "https://mirror.example/hbase", name: hbase}]}
status: {phase: Bound, ufsTotal: 4.00GiB, cacheStates: {cached: 2.00GiB}}
`

func TestIntegrationDatasets(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	stack := startStack(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, stack.Cluster.AdminKubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	datasets := func(args ...string) (stdout, stderr string, err error) {
		return execute(t, "vicinity", append([]string{"datasets", "--kubeconfig", kubeconfig}, args...)...)
	}

	t.Run("an empty cluster says what it lacks", func(t *testing.T) {
		stdout, stderr, err := datasets()
		const want = "No datasets found in namespace default. Not installed in this cluster: " +
			"Fluid (data.fluid.io), Datashim (datashim.io, com.ie.ibm.hpsys).\n"
		if stdout != "" || stderr != want || err != nil {
			t.Errorf("want no table and %q, found %q, %q, %v", want, stdout, stderr, err)
		}
	})

	populate(t, stack)
	t.Run("a row for each dataset", func(t *testing.T) {
		stdout, stderr, err := datasets("-A")
		if err != nil {
			t.Fatal(err)
		}
		const want = `
NAMESPACE     NAME       SIZE        WHERE              MEDIUM       CACHED        SOURCE             AGE
default       broken     <unknown>   <none>             <none>       <none>        Datashim           <none>
default       imagenet   93Gi        n1 (1 unusable)    SSD,Memory   75Gi (80%)    NodeDatasetCache   0s
default       images     <unknown>   n2 (1 unusable)    gateway      -             Datashim           <unknown>
kube-public   hbase      4.0Gi       n1 (1 unusable)    Memory       1.5Gi (37%)   Fluid              <unknown>
`
		if diff := gocmp.Diff(strings.Fields(want), strings.Fields(stdout)); diff != "" {
			t.Errorf("table (-want +got):\n%s\n%s", diff, stdout)
		}
		if want := "warning: datasetsinternal: 1 faulty object or entry was ignored\n"; stderr != want {
			t.Errorf("stderr: want %q, found %q", want, stderr)
		}
	})

	t.Run("wide says why a place does not count", func(t *testing.T) {
		stdout, _, err := datasets("images", "imagenet", "-o", "wide")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"no: the news is stale", "no: the node is cordoned"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("want %q, found:\n%s", want, stdout)
			}
		}
	})

	t.Run("json is for programs", func(t *testing.T) {
		stdout, _, err := datasets("imagenet", "-o", "json", "--stale-after", "999999h")
		var list datasetList
		if err = errors.Join(err, json.Unmarshal([]byte(stdout), &list)); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 || len(list.Items[0].Replicas) != 3 || !list.Items[0].Replicas[2].Usable {
			t.Errorf("want one dataset with three usable replicas, found:\n%s", stdout)
		}
	})

	t.Run("the shell gets names", func(t *testing.T) {
		stdout, _, err := execute(t, "vicinity", "__complete", "datasets", "--kubeconfig", kubeconfig, "images", "")
		if want := "broken\nimagenet\n:4\n"; stdout != want || err != nil {
			t.Errorf("want %q, found %q, %v", want, stdout, err)
		}
	})

	t.Run("what is not there is an error, after what is", func(t *testing.T) {
		stdout, _, err := datasets("imagenet", "imagenot")
		if !strings.Contains(stdout, "imagenet") || err == nil || !strings.Contains(err.Error(), `"imagenot" in namespace default`) {
			t.Errorf("want a row and an error that names imagenot, found %q, %v", stdout, err)
		}
	})

	t.Run("who may not read is told which right is wanted", func(t *testing.T) {
		content, err := stack.Cluster.ServiceAccountKubeconfig(t.Context(), "default", "default")
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(other, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err = datasets("--kubeconfig", other); err == nil || !strings.Contains(err.Error(), "get, list and watch nodes") {
			t.Errorf("want an error that names the right, found %v", err)
		}
	})
}

// startStack has no foreign CRDs and no nodes.
func startStack(t *testing.T) *localstack.Stack {
	t.Helper()
	binaries, err := localcluster.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	stack, err := localstack.Start(t.Context(), localstack.Options{Name: "datasets", Binaries: binaries, Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return stack
}

func populate(t *testing.T, stack *localstack.Stack) {
	t.Helper()
	if err := stack.InstallCRDs(t.Context(), "datashim", "fluid"); err != nil {
		t.Fatal(err)
	}
	const worker, capacity = "fluid.io/s-kube-public-hbase", "fluid.io/s-h-alluxio-m-kube-public-hbase"
	err := stack.ApplyNodes(t.Context(), []localstack.Node{
		{Name: "n1", Labels: map[string]string{worker: "true", capacity: "6GiB"}},
		{Name: "n2"},
		{Name: "shut", Unschedulable: true, Labels: map[string]string{worker: "true", capacity: "2GiB"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	applyAll(t, stack, datasetObjects)
}

// applyAll applies YAML documents in their order.
func applyAll(t *testing.T, stack *localstack.Stack, documents string) {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := yaml.YAMLToJSON(bytes.TrimSpace(document))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			t.Fatal(err)
		}
		if err := stack.Apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}
