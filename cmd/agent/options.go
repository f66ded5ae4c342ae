package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vicinity-scheduler/vicinity/pkg/agent/disksim"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

type options struct {
	config, nodeName, namespace, kubeconfig, simulateDevices, healthAddress, metricsAddress string
}

func (o *options) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.config, "config", o.config, "`FILE` with an AgentConfiguration (config.vicinity.dev/v1); without it the defaults apply")
	fs.StringVar(&o.nodeName, "node-name", o.nodeName, "`NAME` of this machine's Node object; by default the value of $NODE_NAME")
	fs.StringVar(&o.namespace, "namespace", o.namespace,
		"`NAMESPACE` of the objects that describe the node's disks; by default the value of $POD_NAMESPACE")
	fs.StringVar(&o.simulateDevices, "simulate-devices", o.simulateDevices,
		"`FILE` with disks that are reported instead of the machine's, for tests and demonstrations")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"`FILE` that tells how to reach the API server, for collectors that report to it; by default as the pod's ServiceAccount")
	fs.StringVar(&o.healthAddress, "health-address", o.healthAddress, "`ADDRESS` that serves /healthz and /readyz, as host:port or :port")
	fs.StringVar(&o.metricsAddress, "metrics-address", o.metricsAddress, "`ADDRESS` that serves /metrics, as host:port or :port")
}

func (o *options) validate() error {
	if o.nodeName == "" {
		return errors.New("--node-name: expected the name of this machine's Node object, found nothing; set the flag or $NODE_NAME")
	}
	if faults := validation.IsDNS1123Subdomain(o.nodeName); len(faults) > 0 {
		return fmt.Errorf("--node-name: %q cannot be the name of a Node: %s", o.nodeName, strings.Join(faults, "; "))
	}
	if faults := validation.IsDNS1123Label(o.namespace); len(faults) > 0 {
		return fmt.Errorf("--namespace: %q cannot be the name of a namespace: %s", o.namespace, strings.Join(faults, "; "))
	}
	if o.simulateDevices != "" {
		if _, err := disksim.Load(o.simulateDevices); err != nil {
			return fmt.Errorf("--simulate-devices: %w", err)
		}
	}
	return errors.Join(
		health.ValidateAddress("health-address", o.healthAddress),
		health.ValidateAddress("metrics-address", o.metricsAddress),
	)
}
