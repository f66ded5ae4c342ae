package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
)

// collectors lists the collectors that this build has, one line each. There are none yet.
func collectors() []agent.Builder {
	return []agent.Builder{}
}
