package localstack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

// StartScheduler starts vicinity-scheduler with config, of which a copy is written to the cluster's folder.
func (s *Stack) StartScheduler(ctx context.Context, config SchedulerConfig) error {
	kubeconfig, err := s.writeKubeconfig(ctx, Scheduler)
	if err != nil {
		return err
	}
	config = config.Clone()
	if err := config.SetKubeconfig(kubeconfig); err != nil {
		return err
	}
	if err := config.SetSinks(s.sinks()); err != nil {
		return err
	}
	text, err := config.YAML()
	if err != nil {
		return fmt.Errorf("writing the scheduler configuration: %w", err)
	}
	legacy, err := s.SnifferLegacyAddress()
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(legacyAddressVariable), []byte(legacy))
	configFile := filepath.Join(s.dir, schedulerConfigKey)
	if err := os.WriteFile(configFile, text, 0o600); err != nil {
		return fmt.Errorf("writing the scheduler configuration: %w", err)
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return err
	}
	address := "https://127.0.0.1:" + strconv.Itoa(port)
	return s.start(ctx, &component{
		spec: localcluster.ProcessSpec{
			Name: Scheduler,
			Args: []string{
				"--config=" + configFile,
				"--authentication-kubeconfig=" + kubeconfig,
				"--authorization-kubeconfig=" + kubeconfig,
				"--bind-address=127.0.0.1",
				"--secure-port=" + strconv.Itoa(port),
				"--v=2",
			},
			ReadyURL: address + "/readyz",
		},
		metricsURL: address + "/metrics",
	})
}

// StartComponent starts the controller, the agent or the sniffer with the manifests' configuration. An agent measures
// this machine and takes it for the node.
func (s *Stack) StartComponent(ctx context.Context, name, node string) error {
	if name == Agent {
		config, err := s.configMapValue(agentConfigMap, agentConfigKey)
		if err != nil {
			return err
		}
		return s.StartAgent(ctx, node, config)
	}
	switch name {
	case Controller:
		return s.StartController(ctx)
	case Sniffer:
		return s.StartSniffer(ctx)
	}
	return fmt.Errorf("unknown component %q; want one of %q", name, Components()[1:])
}

// StartController starts the controller as the manifests' Deployment does, with further arguments.
func (s *Stack) StartController(ctx context.Context, args ...string) error {
	c, err := newComponent(Controller)
	if err != nil {
		return err
	}
	kubeconfig, err := s.writeKubeconfig(ctx, Controller)
	if err != nil {
		return err
	}
	c.spec.Args = append(c.spec.Args, "--kubeconfig="+kubeconfig, "--namespace="+Namespace)
	if err := addMetricsAddress(c); err != nil {
		return err
	}
	c.spec.Args = append(c.spec.Args, args...)
	return s.start(ctx, c)
}

// StartAgent starts an agent with the given AgentConfiguration. Its token is bound to the node, as that of an agent's
// pod is, so the node must exist.
func (s *Stack) StartAgent(ctx context.Context, node, config string) error {
	c, err := newComponent(Agent)
	if err != nil {
		return err
	}
	account := "vicinity-" + Agent
	kubeconfig, err := s.Cluster.NodeBoundKubeconfig(ctx, Namespace, account, node)
	if err != nil {
		return fmt.Errorf("getting a kubeconfig for ServiceAccount %s/%s on node %s: %w", Namespace, account, node, err)
	}
	configFile, kubeconfigFile := filepath.Join(s.dir, agentConfigKey), filepath.Join(s.dir, Agent+".kubeconfig")
	if err := os.WriteFile(configFile, []byte(config), 0o600); err != nil {
		return fmt.Errorf("writing the agent's configuration: %w", err)
	}
	if err := os.WriteFile(kubeconfigFile, kubeconfig, 0o600); err != nil {
		return fmt.Errorf("writing the agent's kubeconfig: %w", err)
	}
	c.spec.Args = append(c.spec.Args, "--config="+configFile, "--kubeconfig="+kubeconfigFile, "--node-name="+node)
	if err := addMetricsAddress(c); err != nil {
		return err
	}
	return s.start(ctx, c)
}

// newComponent is a component other than the scheduler, which has flags of its own.
func newComponent(name string) (*component, error) {
	health, err := loopbackAddress()
	if err != nil {
		return nil, err
	}
	return &component{
		spec: localcluster.ProcessSpec{
			Name:     name,
			Args:     []string{"--health-address=" + health, "--v=2"},
			ReadyURL: "http://" + health + "/readyz",
		},
		metricsURL: "http://" + health + "/metrics",
	}, nil
}

// addMetricsAddress is for components that serve metrics apart from health.
func addMetricsAddress(c *component) error {
	address, err := loopbackAddress()
	if err != nil {
		return err
	}
	c.spec.Args = append(c.spec.Args, "--metrics-address="+address)
	c.metricsURL = "http://" + address + "/metrics"
	return nil
}

func loopbackAddress() (string, error) {
	port, err := localcluster.FreePort()
	if err != nil {
		return "", err
	}
	return "127.0.0.1:" + strconv.Itoa(port), nil
}

// writeKubeconfig writes the kubeconfig of a component's ServiceAccount and returns the file's name.
func (s *Stack) writeKubeconfig(ctx context.Context, name string) (string, error) {
	content, err := s.Cluster.ServiceAccountKubeconfig(ctx, Namespace, "vicinity-"+name)
	if err != nil {
		return "", fmt.Errorf("getting a kubeconfig for ServiceAccount %s/vicinity-%s: %w", Namespace, name, err)
	}
	file := filepath.Join(s.dir, name+".kubeconfig")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of vicinity-%s: %w", name, err)
	}
	return file, nil
}
