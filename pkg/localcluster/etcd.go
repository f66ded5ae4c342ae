package localcluster

import (
	"context"
	"path/filepath"
)

// startEtcd starts a store of one member and returns its address.
func (c *Cluster) startEtcd(ctx context.Context) (string, error) {
	clientPort, err := FreePort()
	if err != nil {
		return "", err
	}
	peerPort, err := FreePort()
	if err != nil {
		return "", err
	}
	client, peer := "http://"+hostPort(clientPort), "http://"+hostPort(peerPort)
	process, err := c.launch(phaseStore, "etcd", c.binaries.Etcd, []string{
		"--name=local",
		"--data-dir=" + filepath.Join(c.dir, "etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--unsafe-no-fsync", // the data need not survive the machine
		"--log-level=warn",
	}, c.childEnv())
	if err != nil {
		return "", err
	}
	return client, c.awaitURL(ctx, "etcd", client+"/readyz", process)
}
