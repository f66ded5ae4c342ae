package main

import (
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// rackSize is how many nodes share a rack at most.
const rackSize = 20

// layOut spreads n nodes over three zones in two regions, and each zone's nodes over at least two racks, so that every
// topology tier is there from six nodes on.
func layOut(n int) []localstack.Node {
	zones := []struct{ region, zone string }{
		{"north", "north-1"}, {"north", "north-2"}, {"south", "south-1"},
	}
	perZone := (n + len(zones) - 1) / len(zones)
	racks := max(2, (perZone+rackSize-1)/rackSize)
	digits := max(2, len(fmt.Sprint(n)))
	nodes := make([]localstack.Node, n)
	for i := range nodes {
		place := zones[i%len(zones)]
		nodes[i] = localstack.Node{
			Name:   fmt.Sprintf("node-%0*d", digits, i+1),
			Region: place.region,
			Zone:   place.zone,
			Rack:   fmt.Sprintf("%s-rack-%d", place.zone, i/len(zones)%racks+1),
		}
	}
	return nodes
}
