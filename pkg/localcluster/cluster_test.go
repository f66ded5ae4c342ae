package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// soon bounds what should take a second or two, on a machine that is busy with something else.
const soon = 45 * time.Second

func TestIntegrationControlPlane(t *testing.T) {
	c := startForTest(t, "one")
	client := adminClient(t, c)

	t.Run("it is a stock control plane of the pinned version", func(t *testing.T) {
		want, err := moduleVersion(programs()[1].pins.Mod, kubernetesModule)
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		if got.GitVersion != want && os.Getenv(assetsVariable) == "" {
			t.Errorf("version %s, want %s", got.GitVersion, want)
		}
	})

	t.Run("a fake node gets ready and runs the pod bound to it", func(t *testing.T) {
		testFakeNode(t, client)
	})

	t.Run("a silent node is not ready, until it is heard again", func(t *testing.T) {
		testSilentNode(t, client)
	})

	t.Run("a ServiceAccount's kubeconfig has its rights and no others", func(t *testing.T) {
		testServiceAccountKubeconfig(t, c, client)
	})

	t.Run("a killed child is reported with its name and log", func(t *testing.T) {
		kwok := c.started()[slices.IndexFunc(c.started(), func(p *Process) bool { return p.Name() == "kwok" })]
		if err := kwok.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		assertSays(t, <-c.Failed(), "kwok", "signal: killed")
	})

	t.Run("a stop leaves no process and no directory", func(t *testing.T) {
		testStop(t, c)
	})
}

func testStop(t *testing.T, c *Cluster) {
	t.Helper()
	processes := c.started()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if isAlive(p.PID()) {
			t.Errorf("%s (pid %d) is alive", p.Name(), p.PID())
		}
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", c.Dir(), err)
	}
}

func testFakeNode(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	createNode(t, client, "ready")
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), podOn("ready"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "node and pod are up", func(ctx context.Context) error {
		if err := expectReady(ctx, client, "ready", corev1.ConditionTrue); err != nil {
			return err
		}
		pod, err := client.CoreV1().Pods("default").Get(ctx, "on-ready", metav1.GetOptions{})
		if err == nil && (pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "") {
			err = fmt.Errorf("phase %s, address %q", pod.Status.Phase, pod.Status.PodIP)
		}
		return err
	})
	node, err := client.CoreV1().Nodes().Get(t.Context(), "ready", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The creator named memory; kwok fills in the rest.
	if got := node.Status.Allocatable; got.Memory().String() != "1Gi" || got.Cpu().IsZero() || got.Pods().IsZero() {
		t.Errorf("allocatable %v, want memory 1Gi and some cpu and pods", got)
	}
	if err := client.CoreV1().Pods("default").Delete(t.Context(), "on-ready", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deleted pod is gone", func(ctx context.Context) error {
		_, err := client.CoreV1().Pods("default").Get(ctx, "on-ready", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
}

func testSilentNode(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	createNode(t, client, "silent")
	eventually(t, "the node is ready", func(ctx context.Context) error {
		return expectReady(ctx, client, "silent", corev1.ConditionTrue)
	})
	setKwokLabel(t, client, "silent", "released")
	eventually(t, "the node is lost", func(ctx context.Context) error {
		return expectReady(ctx, client, "silent", corev1.ConditionUnknown)
	})
	setKwokLabel(t, client, "silent", KwokManaged)
	eventually(t, "the node is back", func(ctx context.Context) error {
		return expectReady(ctx, client, "silent", corev1.ConditionTrue)
	})
}

func testServiceAccountKubeconfig(t *testing.T, c *Cluster, admin kubernetes.Interface) {
	t.Helper()
	if _, err := c.ServiceAccountKubeconfig(t.Context(), "default", "nobody"); !apierrors.IsNotFound(err) {
		t.Errorf("kubeconfig of a ServiceAccount that does not exist: %v, want not found", err)
	}
	content, err := c.ServiceAccountKubeconfig(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:default:default") {
		t.Errorf("listing nodes: %v, want it forbidden to the ServiceAccount", err)
	}
	if _, err := client.Discovery().ServerVersion(); err != nil {
		t.Errorf("what everyone may do: %v", err)
	}
	if _, err := admin.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("listing nodes as the administrator: %v", err)
	}
}

func TestIntegrationClustersRunSideBySide(t *testing.T) {
	type result struct {
		cluster *Cluster
		err     error
	}
	skipIfShort(t)
	binaries := buildForTest(t)
	results := make(chan result)
	for range 2 {
		go func() {
			c, err := Start(t.Context(), Options{Name: "side-by-side", Binaries: binaries})
			results <- result{c, err}
		}()
	}
	var clients []kubernetes.Interface
	for range 2 {
		r := <-results
		if r.err != nil {
			t.Error(r.err)
			continue
		}
		stopAtEnd(t, r.cluster)
		clients = append(clients, adminClient(t, r.cluster))
	}
	if len(clients) != 2 {
		return
	}
	createNode(t, clients[0], "of-the-first")
	nodes, err := clients[1].CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("the second cluster has %d nodes, %v, want none", len(nodes.Items), err)
	}
}

func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
}

func buildForTest(t *testing.T) Binaries {
	t.Helper()
	binaries, err := Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return binaries
}

func startForTest(t *testing.T, name string) *Cluster {
	t.Helper()
	skipIfShort(t)
	c, err := Start(t.Context(), Options{Name: name, Binaries: buildForTest(t), Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, c)
	return c
}

func stopAtEnd(t *testing.T, c *Cluster) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func adminClient(t *testing.T, c *Cluster) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(c.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually polls until check returns nil.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), readyInterval, soon, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: not within %s: %v", what, soon, last)
	}
}
