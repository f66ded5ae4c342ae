package localcluster

import (
	"context"
	"strconv"
)

// serviceRange is where the API server takes ClusterIPs from. Nothing listens on them: there is no kube-proxy.
const serviceRange = "10.96.0.0/16"

// startAPIServer starts kube-apiserver on the store and waits until it is ready. It is a stock one with RBAC; what is
// switched off or named here is what cannot work, or cannot be found out, on loopback.
func (c *Cluster) startAPIServer(ctx context.Context, store string, files pkiFiles) error {
	port, err := FreePort()
	if err != nil {
		return err
	}
	c.server = "https://" + hostPort(port)
	process, err := c.launch(phaseAPIServer, "kube-apiserver", c.binaries.APIServer, []string{
		"--etcd-servers=" + store,
		"--bind-address=" + loopback,
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--endpoint-reconciler-type=none", // a loopback address is no valid endpoint of Service kubernetes
		"--service-cluster-ip-range=" + serviceRange,
		"--cert-dir=" + c.dir,
		"--tls-cert-file=" + files.servingCert,
		"--tls-private-key-file=" + files.servingKey,
		"--client-ca-file=" + files.caCert,
		"--requestheader-client-ca-file=" + files.frontProxyCert,
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + files.tokenPublic,
		"--service-account-signing-key-file=" + files.tokenKey,
		"--allow-privileged=true", // as every distribution sets it
		"--enable-aggregator-routing=false",
		"--profiling=false",
	}, c.childEnv())
	if err != nil {
		return err
	}
	return c.awaitURL(ctx, "kube-apiserver", c.server+"/readyz?verbose", process)
}
