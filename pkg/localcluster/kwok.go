package localcluster

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// KwokLabel is the label of nodes that kwok manages when its value is KwokManaged. A node from which it is taken
	// falls silent: its lease is renewed no more, and nothing happens to its pods.
	KwokLabel = "vicinity.dev/kwok"
	// KwokManaged is the value of KwokLabel on nodes that kwok manages.
	KwokManaged = "managed"

	// leaseDuration is the fake kubelets' lease; kwok renews it four times as often, so that NodeGracePeriod leaves
	// room for several late renewals on a busy machine.
	leaseDuration = 12 * time.Second
)

// kwokStages tells kwok what kubelets do: report nodes as ready, run bound pods, remove deleted ones. kwok has no
// built-in stages.
//
//go:embed kwok-stages.yaml
var kwokStages []byte

// startKwok starts kwok and waits until it is healthy.
func (c *Cluster) startKwok(ctx context.Context) error {
	port, err := FreePort()
	if err != nil {
		return err
	}
	kubeconfig, err := c.writeKubeconfig("kwok", c.pki.kwok)
	if err != nil {
		return err
	}
	stages := filepath.Join(c.dir, "kwok-stages.yaml")
	if err := os.WriteFile(stages, kwokStages, 0o600); err != nil {
		return fmt.Errorf("configuration of kwok: %w", err)
	}
	process, err := c.launch(phaseControllers, "kwok", c.binaries.Kwok, []string{
		"--kubeconfig=" + kubeconfig,
		"--config=" + stages,
		"--manage-nodes-with-label-selector=" + KwokLabel + "=" + KwokManaged,
		"--node-lease-duration-seconds=" + strconv.Itoa(int(leaseDuration/time.Second)),
		"--server-address=" + hostPort(port),
		"--v=WARN", // each renewal of a lease would be a line
	}, c.childEnv())
	if err != nil {
		return err
	}
	return c.awaitURL(ctx, "kwok", "http://"+hostPort(port)+"/healthz", process)
}
