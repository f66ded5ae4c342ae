package model

import "time"

// World is what pods meet beside CPU, memory and GPUs: data, disks, distances and failures. The zero value has nothing
// of it.
type World struct {
	// Datasets are what pods read. Names are unique.
	Datasets []Dataset
	// Links say how far apart two places are, by Distance. A link without bandwidth takes no time.
	Links [Distances]Link
	// Failures are nodes that are down for a time.
	Failures []Failure
}

// Dataset is data that a pod needs on its node before it starts.
type Dataset struct {
	Name  string
	Bytes int64
	// Nodes hold a copy from the start. Whatever node a pod reads it on holds one from then on.
	Nodes []string
}

// Distance is how far one place is from another.
type Distance int

const (
	// SameNode is no distance.
	SameNode Distance = iota
	// SameRack is another node with the same rack label.
	SameRack
	// SameZone is a node in another rack with the same zone label.
	SameZone
	// OtherZone is a node with another zone label, or none.
	OtherZone
	// Store is where data comes from that no node has.
	Store
	// Distances is their number.
	Distances
)

// String is the distance's name in reports.
func (d Distance) String() string {
	names := [...]string{"same node", "same rack", "same zone", "other zone", "store"}
	if d < 0 || int(d) >= len(names) {
		return "unknown"
	}
	return names[d]
}

// Link is what lies between two places.
type Link struct {
	// RTT is the round trip.
	RTT time.Duration
	// BytesPerSecond is what one transfer gets; 0 means that it takes no time.
	BytesPerSecond int64
}

// Failure is a node that is down: its pods are gone and start anew elsewhere, and it takes none until it is back.
type Failure struct {
	Node string
	At   time.Duration
	// Until is when it is back; 0 means never.
	Until time.Duration
}

// Labels that say where a node is. The first one that a node has counts.
const (
	rackLabel     = "topology.vicinity.dev/rack"
	simonRack     = "rack"
	zoneLabel     = "topology.kubernetes.io/zone"
	betaZoneLabel = "failure-domain.beta.kubernetes.io/zone"
)

// Rack and Zone are where the node is; empty when its labels do not say.
func (n *Node) Rack() string { return firstLabel(n.Labels, rackLabel, simonRack) }

// Zone is the node's zone; empty when its labels do not say.
func (n *Node) Zone() string { return firstLabel(n.Labels, zoneLabel, betaZoneLabel) }

func firstLabel(labels map[string]string, keys ...string) string {
	for _, key := range keys {
		if value := labels[key]; value != "" {
			return value
		}
	}
	return ""
}

// DistanceTo is how far the other node is. Racks count within a zone: rack-0 of another zone is another rack.
func (n *Node) DistanceTo(other *Node) Distance {
	switch {
	case n.Name == other.Name:
		return SameNode
	case n.Zone() != other.Zone():
		return OtherZone
	case n.Rack() != "" && n.Rack() == other.Rack():
		return SameRack
	case n.Zone() != "" || n.Rack() != "":
		return SameZone
	default:
		return OtherZone
	}
}
