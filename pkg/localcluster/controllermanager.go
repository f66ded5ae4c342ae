package localcluster

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// NodeGracePeriod is how long a node may be silent before it is NotReady.
const NodeGracePeriod = 15 * time.Second

// nodeMonitorPeriod is how often that is checked.
const nodeMonitorPeriod = time.Second

// startControllerManager starts kube-controller-manager with its default controllers and waits until they work.
func (c *Cluster) startControllerManager(ctx context.Context, files pkiFiles) error {
	port, err := FreePort()
	if err != nil {
		return err
	}
	kubeconfig, err := c.writeKubeconfig("kube-controller-manager", c.pki.controllerManager)
	if err != nil {
		return err
	}
	process, err := c.launch(phaseControllers, "kube-controller-manager", c.binaries.ControllerManager, []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + files.servingCert,
		"--tls-private-key-file=" + files.servingKey,
		"--root-ca-file=" + files.caCert,
		"--service-account-private-key-file=" + files.tokenKey,
		"--node-monitor-period=" + nodeMonitorPeriod.String(),
		"--node-monitor-grace-period=" + NodeGracePeriod.String(),
		"--kube-api-qps=500", // the default of 20 would be the slowest part of a start
		"--kube-api-burst=1000",
		"--profiling=false",
	}, c.childEnv())
	if err != nil {
		return err
	}
	if err := c.awaitURL(ctx, "kube-controller-manager", "https://"+hostPort(port)+"/healthz", process); err != nil {
		return err
	}
	return c.awaitDefaultServiceAccount(ctx, process)
}

// awaitDefaultServiceAccount waits until pods can be created in namespace default: admission refuses them before the
// controllers have made the ServiceAccount they run under.
func (c *Cluster) awaitDefaultServiceAccount(ctx context.Context, maker *Process) error {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	return await(ctx, "ServiceAccount default in namespace default", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	}, maker)
}
