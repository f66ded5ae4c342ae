package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vicinity-scheduler/vicinity/pkg/controller"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/goldpinger"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/rtttargets"
	"github.com/vicinity-scheduler/vicinity/pkg/daemon"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const description = `vicinity-controller runs the reconcilers of Vicinity. Of several replicas one leads; the others stand by.

It creates and removes the NodeDiskIOStats of nodes whose disks are described, and lists the pods on the node in them. It tells
the agents what round-trip times to measure, and takes over those that Goldpinger measures.`

func main() {
	o := &options{Options: controller.Options{
		Namespace: "vicinity-system", HealthAddress: ":8081", MetricsAddress: ":8080", LeaderElect: true,
	}}
	o.Setups = reconcilers(o)
	os.Exit(daemon.Program{
		Name: "vicinity-controller", Description: description, AddFlags: o.addFlags, Validate: o.validate, Run: o.run,
	}.Main())
}

type options struct {
	controller.Options
	kubeconfig string
	targets    rtttargets.Options
	goldpinger goldpinger.Options
}

func (o *options) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"kubeconfig `FILE` for the API server; without it the ServiceAccount of the pod is used")
	fs.StringVar(&o.Namespace, "namespace", o.Namespace,
		"`NAMESPACE` that the controller is installed in; it holds the Lease "+controller.LeaseName)
	fs.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "reconcile only while holding the Lease, so that several replicas may run")
	o.addRTTFlags(fs)
	fs.StringVar(&o.HealthAddress, "health-address", o.HealthAddress, "`ADDRESS` that serves /healthz and /readyz, as host:port or :port")
	fs.StringVar(&o.MetricsAddress, "metrics-address", o.MetricsAddress, "`ADDRESS` that serves /metrics, as host:port or :port")
}

func (o *options) validate() error {
	if faults := validation.IsDNS1123Label(o.Namespace); len(faults) > 0 {
		return fmt.Errorf("--namespace: %q cannot be the name of a namespace: %s", o.Namespace, strings.Join(faults, "; "))
	}
	return errors.Join(
		health.ValidateAddress("health-address", o.HealthAddress),
		health.ValidateAddress("metrics-address", o.MetricsAddress),
		o.validateRTT(),
	)
}

func (o *options) run(ctx context.Context) error {
	config, err := controller.LoadRESTConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	return controller.Run(ctx, config, o.Options)
}
