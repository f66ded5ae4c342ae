package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	agentreport "github.com/vicinity-scheduler/vicinity/pkg/agent/report"
	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

const diskAgentConfig = `
apiVersion: config.vicinity.dev/v1
kind: AgentConfiguration
collectors: [{name: diskprofile, interval: 1s}, {name: diskstats}]
diskStats: {window: 4}
diskProfile: {capacities: [{read: 1000Mi, write: 1000Mi}]}
`

const simulatedDisks = `
devices:
  fakeDevice: {name: fakeDevice, vendor: Intel, model: P4510, type: emptyDir, capacity: {read: 1000Mi, write: 1000Mi, total: 2000Mi}}
used:
  fakeDevice: {read: 300Mi}
`

const diskReader = `
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, annotations: {blockio.kubernetes.io/resources: '{"rbps":"%s","wbps":"1Mi"}'}}
spec:
  schedulerName: vicinity-scheduler
  nodeSelector: {kubernetes.io/hostname: %s}
  containers: [{name: main, image: busybox}]
`

// diskStack is a stack whose client knows the objects of disks.
type diskStack struct {
	*localstack.Stack

	admin client.Client
}

func newDiskStack(t *testing.T) *diskStack {
	t.Helper()
	stack := startStack(t, "agentdisks")
	return &diskStack{stack, diskClient(t, stack.Cluster.AdminConfig())}
}

func diskClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), diskiov1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	made, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestIntegrationAgentDisks: what agents report of disks, with the rights of the manifests, is what the scheduler goes by.
func TestIntegrationAgentDisks(t *testing.T) {
	stack := newDiskStack(t)
	if err := stack.ApplyNodes(t.Context(), []localstack.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}); err != nil {
		t.Fatal(err)
	}
	if err := stack.StartComponent(t.Context(), localstack.Controller, ""); err != nil {
		t.Fatal(err)
	}
	config, err := stack.SchedulerConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.StartScheduler(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Run("this machine's disks are reported", func(t *testing.T) { testDisksOfThisMachine(t, stack) })
	t.Run("simulated disks are reported, and the scheduler goes by what is left", func(t *testing.T) { testSimulatedDisks(t, stack) })
	t.Run("an agent may write the objects of its own node only", func(t *testing.T) { testForeignDisks(t, stack) })
	t.Run("an agent may do nothing else", func(t *testing.T) { testDiskPrivileges(t, stack) })
	t.Run("the objects vanish with the node", func(t *testing.T) {
		if err := stack.StopComponent(t.Context(), localstack.Agent); err != nil {
			t.Fatal(err)
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		if err := stack.admin.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		eventually(t, "want the objects of n1 gone", func() (string, bool) {
			_, _, errs := diskObjects(t, stack, "n1")
			return fmt.Sprint(errs), apierrors.IsNotFound(errs[0]) && apierrors.IsNotFound(errs[1])
		})
	})
}

// diskObjects reads the two objects of a node. The errors, nil or not, are one for each.
func diskObjects(t *testing.T, stack *diskStack, node string) (
	devices *diskiov1alpha1.NodeDiskDevice, stats *diskiov1alpha1.NodeDiskIOStats, errs [2]error,
) {
	t.Helper()
	devices, stats = &diskiov1alpha1.NodeDiskDevice{}, &diskiov1alpha1.NodeDiskIOStats{}
	errs[0] = stack.admin.Get(t.Context(), client.ObjectKey{Namespace: localstack.Namespace, Name: node + "-nodediskdevice"}, devices)
	errs[1] = stack.admin.Get(t.Context(), client.ObjectKey{Namespace: localstack.Namespace, Name: node + "-nodediskiostats"}, stats)
	return devices, stats, errs
}

// simulatedDiskObjects returns those of n2.
func simulatedDiskObjects(t *testing.T, stack *diskStack) (*diskiov1alpha1.NodeDiskDevice, *diskiov1alpha1.NodeDiskIOStats) {
	t.Helper()
	devices, stats, errs := diskObjects(t, stack, "n2")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return devices, stats
}

// awaitReport waits until the report of a node's agent is one that the scheduler goes by.
func awaitReport(t *testing.T, stack *diskStack, node string) (*diskiov1alpha1.NodeDiskDevice, *diskiov1alpha1.NodeDiskIOStats) {
	t.Helper()
	var devices *diskiov1alpha1.NodeDiskDevice
	var stats *diskiov1alpha1.NodeDiskIOStats
	eventually(t, "want a report of the present generation", func() (string, bool) {
		var errs [2]error
		if devices, stats, errs = diskObjects(t, stack, node); errs != [2]error{} {
			return fmt.Sprint(errs), false
		}
		generation := stats.Status.ObservedGeneration
		return fmt.Sprintf("%+v", stats.Status), generation != nil && *generation == stats.Generation
	})
	return devices, stats
}

func testDisksOfThisMachine(t *testing.T, stack *diskStack) {
	inventory, err := hostdisk.Discover(hostdisk.Root(""), hostdisk.Self)
	if err != nil || len(inventory.Disks) == 0 {
		t.Skipf("this machine tells no disks (%v)", err)
	}
	if err := stack.StartAgent(t.Context(), "n1", diskAgentConfig); err != nil {
		t.Fatal(err)
	}
	devices, stats := awaitReport(t, stack, "n1")
	for _, disk := range inventory.Disks {
		device, ok := devices.Spec.Devices[disk.ID]
		if !ok || device.Name != disk.Name || device.Vendor != disk.Vendor || device.Capacity.Total.String() != "2000Mi" {
			t.Errorf("disk %s is described as %+v", disk.Name, device)
		}
		free, ok := stats.Status.AllocableBandwidth[disk.ID]
		use := stats.Status.Measured[disk.ID]
		if want := max(0, 1000<<20-use.WriteBytesPerSecond); !ok || free.Write.Value() != want {
			t.Errorf("disk %s has %s left for writing, want %d less %d", disk.Name, free.Write.String(), 1000<<20, use.WriteBytesPerSecond)
		}
	}
	if age := time.Since(stats.Status.ObservedAt.Time); age < 0 || age > time.Minute {
		t.Errorf("the report is %s old", age)
	}
	for _, owners := range [][]metav1.OwnerReference{devices.OwnerReferences, stats.OwnerReferences} {
		if len(owners) != 1 || owners[0].Kind != "Node" || owners[0].Name != "n1" {
			t.Errorf("owners %v, want the Node", owners)
		}
	}
	for _, entry := range stats.ManagedFields {
		if entry.Subresource == "status" && (entry.Manager != agentreport.FieldManager || entry.Operation != metav1.ManagedFieldsOperationApply) {
			t.Errorf("the status is managed by %s through %s, want the agent's by apply only", entry.Manager, entry.Operation)
		}
	}
	eventually(t, "want the agent's metrics", func() (string, bool) {
		families, err := stack.Metrics(t.Context(), localstack.Agent)
		return fmt.Sprint(err), err == nil && families["vicinity_agent_diskstats_busy_ratio"] != nil &&
			families["vicinity_agent_diskprofile_disks"] != nil
	})
}

// The disk does 1000Mi; 300Mi are in use. So 650Mi fit, and then as much again does not, nor would 701Mi have.
func testSimulatedDisks(t *testing.T, stack *diskStack) {
	startSimulatingAgent(t, stack, "n2")
	_, stats := awaitReport(t, stack, "n2")
	if free := stats.Status.AllocableBandwidth["fakeDevice"]; free.Read.String() != "700Mi" || free.Write.String() != "1000Mi" {
		t.Errorf("left: %+v, want 700Mi to read and 1000Mi to write", free)
	}
	placeOf := func(pod string) (node, conditions string) {
		found := &corev1.Pod{}
		if err := stack.admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: pod}, found); err != nil {
			t.Fatal(err)
		}
		return found.Spec.NodeName, fmt.Sprint(found.Status.Conditions)
	}
	apply(t, stack.Stack, fmt.Sprintf(diskReader, "too-much", "701Mi", "n2"))
	eventually(t, "want a pod refused that asks for more than is left", func() (string, bool) {
		node, message := placeOf("too-much")
		return message, node == "" && strings.Contains(message, "disk IO read bandwidth is not enough")
	})
	apply(t, stack.Stack, fmt.Sprintf(diskReader, "fits", "650Mi", "n2"))
	eventually(t, "want a pod placed that asks for what is left", func() (string, bool) {
		node, message := placeOf("fits")
		return message, node == "n2"
	})
	// The controller lists the pod in the spec, and the agent answers.
	eventually(t, "want the agent to report on the pod's generation", func() (string, bool) {
		_, stats := simulatedDiskObjects(t, stack)
		generation := stats.Status.ObservedGeneration
		return fmt.Sprint(stats.Spec.ReservedPods), len(stats.Spec.ReservedPods) == 1 && generation != nil && *generation == stats.Generation
	})
}

func startSimulatingAgent(t *testing.T, stack *diskStack, node string) {
	t.Helper()
	folder := t.TempDir()
	kubeconfig, err := stack.Cluster.NodeBoundKubeconfig(t.Context(), localstack.Namespace, "vicinity-agent", node)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"config.yaml": diskAgentConfig, "disks.yaml": simulatedDisks, "kubeconfig": string(kubeconfig),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := locate(t)("vicinity-agent")
	if err != nil {
		t.Fatal(err)
	}
	process, err := stack.Cluster.StartProcess(t.Context(), localcluster.ProcessSpec{
		Name: "simulating-agent", Path: path, Args: []string{
			"--node-name=" + node, "--config=" + filepath.Join(folder, "config.yaml"), "--kubeconfig=" + filepath.Join(folder, "kubeconfig"),
			"--simulate-devices=" + filepath.Join(folder, "disks.yaml"), "--health-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// storeAs is what an agent writes through, with a token bound to a node, or to none.
func storeAs(t *testing.T, config *rest.Config, kind, name, node string) *agentreport.Store {
	t.Helper()
	store, err := agentreport.NewStore(config, agentreport.Object{
		Kind: diskiov1alpha1.GroupVersion().WithKind(kind), Resource: map[string]string{
			"NodeDiskDevice": "nodediskdevices", "NodeDiskIOStats": "nodediskiostats",
		}[kind],
		Namespace: localstack.Namespace, Name: name, Node: node,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func agentOf(t *testing.T, stack *diskStack, node string) *rest.Config {
	t.Helper()
	kubeconfig, err := stack.Cluster.NodeBoundKubeconfig(t.Context(), localstack.Namespace, "vicinity-agent", node)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func testForeignDisks(t *testing.T, stack *diskStack) {
	_, before := simulatedDiskObjects(t, stack)
	agent := agentOf(t, stack, "n1")
	devicesOf := func(node string) *diskiov1alpha1.NodeDiskDevice {
		return &diskiov1alpha1.NodeDiskDevice{Spec: diskiov1alpha1.NodeDiskDeviceSpec{NodeName: node}}
	}
	statsOf := func(node string) *diskiov1alpha1.NodeDiskIOStats {
		return &diskiov1alpha1.NodeDiskIOStats{Spec: diskiov1alpha1.NodeDiskIOStatsSpec{NodeName: node}}
	}
	const foreignName = `an agent may write only the objects of its own node: this one runs on "n1", and the object is `
	for _, tt := range []struct {
		name  string
		write func(context.Context) error
		want  string
	}{
		{"the disks of another node", func(ctx context.Context) error {
			return storeAs(t, agent, "NodeDiskDevice", "n2-nodediskdevice", "n2").WriteSpec(ctx, devicesOf("n2"))
		}, foreignName + `"n2-nodediskdevice"`},
		{"the first disks of another node", func(ctx context.Context) error {
			return storeAs(t, agent, "NodeDiskDevice", "n3-nodediskdevice", "n3").WriteSpec(ctx, devicesOf("n3"))
		}, foreignName + `"n3-nodediskdevice"`},
		{"what another node's disks have left", func(ctx context.Context) error {
			return storeAs(t, agent, "NodeDiskIOStats", "n2-nodediskiostats", "n2").ApplyStatus(ctx, statsOf("n2"))
		}, foreignName + `"n2-nodediskiostats"`},
		{"its own object about another node", func(ctx context.Context) error {
			return storeAs(t, agent, "NodeDiskDevice", "n1-nodediskdevice", "n1").WriteSpec(ctx, devicesOf("n2"))
		}, `an agent may write only about its own node: this one runs on "n1", and spec.nodeName is "n2"`},
		{"an object of another name about its own node", func(ctx context.Context) error {
			return storeAs(t, agent, "NodeDiskDevice", "more-nodediskdevice", "n1").WriteSpec(ctx, devicesOf("n1"))
		}, foreignName + `"more-nodediskdevice"`},
		{"anything with a token without a node", func(ctx context.Context) error {
			kubeconfig, err := stack.Cluster.ServiceAccountKubeconfig(ctx, localstack.Namespace, "vicinity-agent")
			if err != nil {
				return err
			}
			config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
			if err != nil {
				return err
			}
			return storeAs(t, config, "NodeDiskDevice", "n1-nodediskdevice", "n1").WriteSpec(ctx, devicesOf("n1"))
		}, "expected the token of an agent's pod, which tells its node, and found one that is bound to no node"},
	} {
		if err := tt.write(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it forbidden because %q", tt.name, err, tt.want)
		}
	}
	_, after := simulatedDiskObjects(t, stack)
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" || after.Status.AllocableBandwidth == nil {
		t.Errorf("the other node's object was changed (-before +after):\n%s", diff)
	}
}

func testDiskPrivileges(t *testing.T, stack *diskStack) {
	agent := diskClient(t, agentOf(t, stack, "n2"))
	devices, stats := simulatedDiskObjects(t, stack)
	elsewhere := devices.DeepCopy()
	elsewhere.ObjectMeta = metav1.ObjectMeta{Namespace: "default", Name: devices.Name}
	for what, err := range map[string]error{
		"delete its disks":                 agent.Delete(t.Context(), devices),
		"delete what they have left":       agent.Delete(t.Context(), stats),
		"list disks":                       agent.List(t.Context(), &diskiov1alpha1.NodeDiskDeviceList{}, client.InNamespace(localstack.Namespace)),
		"list what disks have left":        agent.List(t.Context(), &diskiov1alpha1.NodeDiskIOStatsList{}, client.InNamespace(localstack.Namespace)),
		"describe disks in a namespace":    agent.Create(t.Context(), elsewhere),
		"replace what its disks have left": agent.Status().Update(t.Context(), stats),
		"list pods":                        agent.List(t.Context(), &corev1.PodList{}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want it forbidden", what, err)
		}
	}
}
