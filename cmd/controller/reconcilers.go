package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/controller"
)

// reconcilers lists what the controller runs, one line each. There are none yet.
func reconcilers() []controller.Setup {
	return []controller.Setup{}
}
