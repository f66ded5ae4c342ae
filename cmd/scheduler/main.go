// Command vicinity-scheduler is kube-scheduler with Vicinity's plugins registered.
//
// Flags, configuration file, endpoints and behaviour are those of kube-scheduler; see command.go for why the
// command is put together here. Plugins and what they share are wired in plugins.go.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // -logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build's version as a metric

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
)

func main() {
	scheme.Install()
	os.Exit(cli.Run(newCommand()))
}
