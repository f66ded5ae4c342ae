package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/datasets"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/diskprofile"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/diskstats"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/rtt"
	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

// collectors lists the collectors that this build has, one line each.
func collectors(o *options) []agent.Builder {
	connect := func() (*rest.Config, error) { return restConfig(o.kubeconfig) }
	return []agent.Builder{
		datasets.NewBuilder(connect),
		diskprofile.NewBuilder(diskprofile.Options{Connect: connect, Namespace: o.namespace, Simulate: o.simulateDevices}),
		diskstats.NewBuilder(diskstats.Options{Connect: connect, Namespace: o.namespace, Simulate: o.simulateDevices}),
		rtt.NewBuilder(connect),
	}
}

// restConfig tells how to reach the API server: as the kubeconfig file says, else as the pod's ServiceAccount does.
func restConfig(kubeconfig string) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if kubeconfig == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("no --kubeconfig, and not in a pod with a ServiceAccount token: %w", err)
		}
	} else if config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = "vicinity-agent/" + version.String()
	return config, nil
}
