package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/controller"
	"github.com/vicinity-scheduler/vicinity/pkg/controller/diskiostats"
)

// reconcilers lists what the controller runs, one line each.
func reconcilers() []controller.Setup {
	return []controller.Setup{
		diskiostats.Setup,
	}
}
