package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

const boundPod = `
apiVersion: v1
kind: Pod
metadata: {name: bound, namespace: default, labels: {delay_n2: "5"}, annotations: {vicinity.dev/delay: '[{"to":{"endpoint":"127.0.0.9:1"},"max":"1s"}]'}}
spec:
  schedulerName: nobody
  containers: [{name: main, image: busybox}]
`

// What Goldpinger's ingestion and an import would write, each with a field manager of its own.
const foreignEntries = `
apiVersion: vicinity.dev/v1alpha1
kind: NodeRTT
metadata: {name: n1}
status:
  peers:
    - {node: n2, source: Goldpinger, samples: 3, p50Microseconds: 7000, observedAt: "2026-01-01T00:00:00Z"}
    - {node: n2, source: Static, samples: 1, p50Microseconds: 9000, observedAt: "2026-01-01T00:00:00Z"}
`

// TestIntegrationMeasuring leads from a pod's bound over the controller's list to an agent's report, each process with the
// rights of its own ServiceAccount.
func TestIntegrationMeasuring(t *testing.T) {
	stack := startStack(t, "measuring")
	// Both nodes are this machine, at two addresses of its loopback network. kwok does not touch them.
	for i, name := range []string{"n1", "n2"} {
		apply(t, stack, fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {topology.kubernetes.io/zone: z1}}
status: {addresses: [{type: InternalIP, address: 127.0.0.%d}]}
`, name, i+1))
	}
	apply(t, stack, boundPod)
	if err := stack.StartComponent(t.Context(), localstack.Controller, ""); err != nil {
		t.Fatal(err)
	}
	document := publishedTargets(t, stack, func(list *targets.List) string {
		if len(list.Nodes) != 2 || !list.Nodes[1].Reference || list.Nodes[0].Reference || len(list.TokenKey()) == 0 {
			return "n1, n2 as a reference, and a token"
		}
		if len(list.Endpoints) != 1 || list.Endpoints[0] != "127.0.0.9:1" {
			return "the endpoint of the annotation"
		}
		return ""
	})

	// As the kubelet mounts it.
	file := filepath.Join(t.TempDir(), "targets.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
apiVersion: config.vicinity.dev/v1
kind: AgentConfiguration
collectors: [{name: rtt, interval: 1s}]
rtt: {method: UDP, heartbeat: 15s, targetsFile: %s, echoAddress: ":%d"}
`, file, freeUDPPort(t))
	if err := stack.StartAgent(t.Context(), "n1", config); err != nil {
		t.Fatal(err)
	}
	report := awaitRTTs(t, stack, func(r *vicinityv1alpha1.NodeRTT) bool {
		peer := entryOf(r, vicinityv1alpha1.RTTSourceAgent)
		return peer != nil && peer.P50Microseconds > 0 && len(r.Status.Coordinate.VectorMicroseconds) > 0
	})
	if len(report.OwnerReferences) != 1 || report.OwnerReferences[0].Kind != "Node" || report.OwnerReferences[0].Name != "n1" {
		t.Errorf("owned by %v, want Node n1", report.OwnerReferences)
	}
	if len(report.Status.Endpoints) != 0 {
		t.Errorf("an endpoint on loopback was probed: %v", report.Status.Endpoints)
	}

	t.Run("entries of other sources stay when the agent writes again", func(t *testing.T) {
		foreign := object(t, foreignEntries)
		err := stack.Kube.Status().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(foreign), client.FieldOwner("others"))
		if err != nil {
			t.Fatal(err)
		}
		before := report.Status.ObservedAt
		report := awaitRTTs(t, stack, func(r *vicinityv1alpha1.NodeRTT) bool { return r.Status.ObservedAt.After(before.Time) })
		for _, source := range []vicinityv1alpha1.RTTSource{
			vicinityv1alpha1.RTTSourceAgent, vicinityv1alpha1.RTTSourceGoldpinger, vicinityv1alpha1.RTTSourceStatic,
		} {
			if entryOf(report, source) == nil {
				t.Errorf("no entry of source %s: %+v", source, report.Status.Peers)
			}
		}
	})
	t.Run("an agent cannot write about another node", func(t *testing.T) {
		kubeconfig, err := stack.Cluster.NodeBoundKubeconfig(t.Context(), localstack.Namespace, "vicinity-agent", "n1")
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		agent, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		lie := object(t, "{apiVersion: vicinity.dev/v1alpha1, kind: NodeRTT, metadata: {name: n2}}")
		_, err = agent.Resource(vicinityv1alpha1.GroupVersion().WithResource("noderrts")).
			Apply(t.Context(), "n2", lie, metav1.ApplyOptions{FieldManager: "vicinity-agent"})
		if err == nil || !strings.Contains(err.Error(), "an agent may write only the objects of its own node") {
			t.Errorf("the agent of n1 wrote about n2: %v", err)
		}
	})
	t.Run("the list follows the pods", func(t *testing.T) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bound"}}
		if err := stack.Kube.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
		publishedTargets(t, stack, func(list *targets.List) string {
			if len(list.Endpoints) != 0 || list.Nodes[1].Reference {
				return "no endpoint and no reference"
			}
			return ""
		})
	})
}

// publishedTargets waits until the published list has what is wanted, and returns the document.
func publishedTargets(t *testing.T, stack *localstack.Stack, lacks func(*targets.List) string) string {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var published corev1.ConfigMap
		err := stack.Kube.Get(t.Context(), client.ObjectKey{Namespace: localstack.Namespace, Name: "vicinity-rtt-targets"}, &published)
		if err != nil {
			t.Fatal(err)
		}
		document, lack := published.Data["targets.json"], "a list"
		if list, err := targets.Decode(strings.NewReader(document)); err == nil {
			lack = lacks(list)
		}
		if lack == "" {
			return document
		}
		if time.Now().After(deadline) {
			t.Fatalf("want %s within %s, found:\n%s\n%s", lack, patience, document, stack.LogTail(localstack.Controller, 20))
		}
		time.Sleep(poll)
	}
}

// awaitRTTs waits until n1's object is as it should be.
func awaitRTTs(t *testing.T, stack *localstack.Stack, is func(*vicinityv1alpha1.NodeRTT) bool) *vicinityv1alpha1.NodeRTT {
	t.Helper()
	const longerThanAHeartbeat = 90 * time.Second
	deadline := time.Now().Add(longerThanAHeartbeat)
	for {
		found := &unstructured.Unstructured{}
		found.SetGroupVersionKind(vicinityv1alpha1.GroupVersion().WithKind("NodeRTT"))
		report := &vicinityv1alpha1.NodeRTT{}
		err := stack.Kube.Get(t.Context(), client.ObjectKey{Name: "n1"}, found)
		if err == nil {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, report)
		}
		if err == nil && is(report) {
			return report
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %v, %+v\n%s", longerThanAHeartbeat, err, report.Status, stack.LogTail(localstack.Agent, 20))
		}
		time.Sleep(poll)
	}
}

func entryOf(r *vicinityv1alpha1.NodeRTT, source vicinityv1alpha1.RTTSource) *vicinityv1alpha1.PeerRTT {
	for i := range r.Status.Peers {
		if r.Status.Peers[i].Source == source && r.Status.Peers[i].Node == "n2" {
			return &r.Status.Peers[i]
		}
	}
	return nil
}

func freeUDPPort(t *testing.T) int {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	port := conn.LocalAddr().(*net.UDPAddr).Port //nolint:forcetypeassert // of a UDP socket
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}
