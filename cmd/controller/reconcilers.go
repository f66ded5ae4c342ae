package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/controller"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/diskiostats"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/goldpinger"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/rtttargets"
)

// reconcilers lists what the controller runs, one line each. The options are read when the controller starts.
func reconcilers(o *options) []controller.Setup {
	return []controller.Setup{
		diskiostats.Setup,
		rtttargets.Setup(&o.targets),
		goldpinger.Setup(&o.goldpinger),
	}
}
