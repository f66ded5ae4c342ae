package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// The pods are bound by hand: what counts is what is on a node, whoever placed it.
const diskObjects = `
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskDevice
metadata: {name: n1-nodediskdevice, namespace: default}
spec:
  nodeName: n1
  devices:
    system: {name: vda, vendor: Intel, model: P4510, type: emptyDir, capacity: {read: 1000Mi, write: 1000Mi, total: 2000Mi}}
    data: {name: vdb, type: others, mountPoints: [/mnt/data], capacity: {read: 100Mi, write: 100Mi, total: 200Mi}}
---
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskIOStats
metadata: {name: n1-nodediskiostats, namespace: default}
spec: {nodeName: n1, reservedPods: []}
status: {observedGeneration: 1, allocableBandwidth: {system: {read: 700Mi, write: 700Mi, total: 1400Mi}}}
---
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskDevice
metadata: {name: n9-nodediskdevice, namespace: kube-public}
spec: {nodeName: n9, devices: {}}
---
apiVersion: diskio.x-k8s.io/v1alpha1
kind: NodeDiskDevice
metadata: {name: n2-nodediskdevice, namespace: kube-public}
spec:
  nodeName: n2
  devices:
    vda: {name: vda, type: emptyDir, capacity: {read: "-1", write: 1Gi, total: 1Gi}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: data}
spec:
  storageClassName: ""
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  local: {path: /mnt/data/volume}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {storageClassName: "", volumeName: data, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: on-system
  namespace: default
  annotations: {blockio.kubernetes.io/resources: '{"rbps":"100Mi","wbps":"200Mi","blockSize":"4k"}'}
spec: {nodeName: n1, containers: [{name: main, image: busybox}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: on-data
  namespace: default
  annotations: {blockio.kubernetes.io/resources: '{"work":{"requests":{"rbps":"30Mi/4k","wbps":"20Mi/4k"}}}'}
spec:
  nodeName: n1
  containers: [{name: main, image: busybox}]
  volumes: [{name: work, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: normalization-func, namespace: vicinity-system}
data:
  diskVendors: |
    [{"vendor": "Intel", "model": "P4510", "inline": {"kind": "Table", "readRatios": {"4k": 2}}},
     {"vendor": "Other", "model": "Old", "url": "http://127.0.0.1:1/model.so"}]
`

func TestIntegrationDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	stack := startStack(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, stack.Cluster.AdminKubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := func(args ...string) (stdout, stderr string, err error) {
		return execute(t, "vicinity", append([]string{"disk", "--kubeconfig", kubeconfig}, args...)...)
	}

	t.Run("an empty cluster", func(t *testing.T) {
		stdout, stderr, err := disk()
		if want := "No disks found: no NodeDiskDevice describes those of a node.\n"; stdout != "" || stderr != want || err != nil {
			t.Errorf("want no table and %q, found %q, %q, %v", want, stdout, stderr, err)
		}
	})

	if err := stack.ApplyNodes(t.Context(), []localstack.Node{{Name: "n1"}, {Name: "n2"}}); err != nil {
		t.Fatal(err)
	}
	applyAll(t, stack, diskObjects)
	t.Run("a row for each disk", func(t *testing.T) { diskRows(t, disk) })

	t.Run("wide has a row for each pod", func(t *testing.T) {
		stdout, _, err := disk("n1", "-o", "wide")
		for _, want := range []string{"on-system   200Mi/200Mi/400Mi", "on-data     30Mi/20Mi/50Mi", "Loaded", "Identity", "IN-REPORT"} {
			if err != nil || !strings.Contains(stdout, want) {
				t.Errorf("want %q, found %v:\n%s", want, err, stdout)
			}
		}
	})

	t.Run("json is for programs", func(t *testing.T) {
		stdout, _, err := disk("n1", "-o", "json", "--ns-white-list", "default")
		var list diskList
		if err = errors.Join(err, json.Unmarshal([]byte(stdout), &list)); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 || len(list.Items[0].Disks) != 2 || len(list.Items[0].Disks[1].Pods) != 0 {
			t.Errorf("want one node with two disks that nobody is charged for, found:\n%s", stdout)
		}
	})

	t.Run("the shell gets names", func(t *testing.T) {
		stdout, _, err := execute(t, "vicinity", "__complete", "disk", "--kubeconfig", kubeconfig, "n1", "")
		if want := "n2\nn9\n:4\n"; stdout != want || err != nil {
			t.Errorf("want %q, found %q, %v", want, stdout, err)
		}
	})

	t.Run("what is not there is an error, after what is", func(t *testing.T) {
		stdout, _, err := disk("n1", "n3")
		if !strings.Contains(stdout, "system") || err == nil || !strings.Contains(err.Error(), `disks of node "n3"`) {
			t.Errorf("want rows and an error that names n3, found %q, %v", stdout, err)
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
		if _, _, err = disk("--kubeconfig", other); err == nil || !strings.Contains(err.Error(), "get, list and watch") {
			t.Errorf("want an error that names the right, found %v", err)
		}
	})

	t.Run("without the kinds it says so", func(t *testing.T) {
		for _, name := range []string{"nodediskdevices.diskio.x-k8s.io", "nodediskiostats.diskio.x-k8s.io"} {
			definition := &apiextensionsv1.CustomResourceDefinition{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
				ObjectMeta: metav1.ObjectMeta{Name: name},
			}
			if err := stack.Kube.Delete(t.Context(), definition); err != nil {
				t.Fatal(err)
			}
			if err := stack.WaitGone(t.Context(), definition, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, err := disk()
		const want = "No disks found: no NodeDiskDevice describes those of a node; not installed in this cluster: " +
			"nodediskdevices.diskio.x-k8s.io, nodediskiostats.diskio.x-k8s.io.\n"
		if stdout != "" || !strings.HasSuffix(stderr, want) || err != nil {
			t.Errorf("want no table and %q, found %q, %q, %v", want, stdout, stderr, err)
		}
	})
}

// diskRows works the figures out: reading 100 in blocks of 4k takes 200 by the model, and the report of the system disk,
// 700 in each direction, has not seen the pod.
func diskRows(t *testing.T, disk func(args ...string) (stdout, stderr string, err error)) {
	t.Helper()
	stdout, stderr, err := disk()
	if err != nil {
		t.Fatal(err)
	}
	const want = `
NODE  DISK    DEFAULT  CAPACITY(R/W/TOTAL)  REQUESTED          MEASURED           FREE               IOPS  AGE        PODS
n1    data    no       100Mi/100Mi/200Mi    30Mi/20Mi/50Mi     <none>             70Mi/80Mi/150Mi    -     <none>     1
n1    system  yes      1000Mi/1000Mi/2.0Gi  200Mi/200Mi/400Mi  700Mi/700Mi/1.4Gi  500Mi/500Mi/1000Mi -     <unknown>  1
n2    vda     yes      0/1.0Gi/1.0Gi        0/0/0              <none>             0/1.0Gi/1.0Gi      -     <none>     0
`
	if diff := gocmp.Diff(strings.Fields(want), strings.Fields(stdout)); diff != "" {
		t.Errorf("table (-want +got):\n%s\n%s", diff, stdout)
	}
	for _, want := range []string{
		"warning: nodediskdevices: 1 faulty object or entry was ignored\n",
		"warning: this cluster has no node \"n9\"; a NodeDiskDevice describes its disks all the same\n",
		`vendor "Other", model "Old"`, "native plug-ins are not loaded",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("want %q on stderr, found %q", want, stderr)
		}
	}
}
