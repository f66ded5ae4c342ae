package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/vicinity-scheduler/vicinity/pkg/controller/goldpinger"
)

// addRTTFlags adds what the sources of round-trip times are told.
func (o *options) addRTTFlags(fs *pflag.FlagSet) {
	g := goldpinger.Defaults()
	fs.StringVar((*string)(&o.goldpinger.Mode), "goldpinger-mode", string(g.Mode),
		"how Goldpinger is asked for round-trip times, `MODE`: Off, CheckAll (one pod for all), Check (each pod), "+
			"or Metrics (each pod's histograms)")
	fs.StringVar(&o.goldpinger.URL, "goldpinger-url", g.URL,
		"`URL` of Goldpinger for mode CheckAll, such as http://goldpinger.monitoring:8081")
	fs.StringVar(&o.goldpinger.PodNamespace, "goldpinger-namespace", g.PodNamespace, "`NAMESPACE` of Goldpinger's pods; by default any")
	fs.StringVar(&o.goldpinger.PodSelector, "goldpinger-selector", g.PodSelector, "`LABELS` of Goldpinger's pods")
	fs.Int32Var(&o.goldpinger.Port, "goldpinger-port", g.Port, "`PORT` of Goldpinger's pods")
	fs.DurationVar(&o.goldpinger.Interval, "goldpinger-interval", g.Interval, "`TIME` from one question to the next")
	fs.StringSliceVar(&o.targets.Endpoints, "rtt-endpoints", []string{"*"},
		"`PATTERNS` of the endpoints outside the cluster that agents may probe because a pod's bound names them, "+
			"such as *.example.com:443; \"\" for none")
}

// validateRTT judges the flags. The list of targets is kept in the controller's own namespace.
func (o *options) validateRTT() error {
	o.targets.Namespace = o.Namespace
	return errors.Join(o.goldpinger.Validate(), o.targets.Validate())
}
