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
