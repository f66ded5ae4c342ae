package blockio

// Reasons for which a node is rejected. They contain the predecessor's texts, which name the node in front; see
// [Shortage.NodeReason]. Without it they are equal on all nodes, and the scheduler counts the nodes in its message.
const (
	ReasonRead      = "disk IO read bandwidth is not enough"
	ReasonWrite     = "disk IO write bandwidth is not enough"
	ReasonTotal     = "disk IO total bandwidth is not enough"
	ReasonReadIOPS  = "disk IO read IOPS are not enough"
	ReasonWriteIOPS = "disk IO write IOPS are not enough"
	// ReasonUnsupported rejects a node without known disks for a pod that requires them.
	ReasonUnsupported = "node " + unsupported

	unsupported = "without disk io aware support cannot schedule disk io aware workload"
)

// Shortage names the first thing that a disk has too little of.
type Shortage uint8

// Shortages, in the order in which they are looked for.
const (
	Enough Shortage = iota
	ShortOfRead
	ShortOfWrite
	ShortOfTotal
	ShortOfReadIOPS
	ShortOfWriteIOPS
)

// Reason returns the text of a shortage, "" for Enough.
func (s Shortage) Reason() string {
	switch s {
	case ShortOfRead:
		return ReasonRead
	case ShortOfWrite:
		return ReasonWrite
	case ShortOfTotal:
		return ReasonTotal
	case ShortOfReadIOPS:
		return ReasonReadIOPS
	case ShortOfWriteIOPS:
		return ReasonWriteIOPS
	default:
		return ""
	}
}

// NodeReason returns the predecessor's text for a shortage, which names the node. It allocates.
func (s Shortage) NodeReason(node string) string {
	if s == Enough {
		return ""
	}
	return "node " + node + " " + s.Reason()
}

// UnsupportedReason returns the predecessor's text for a node without known disks. It allocates.
func UnsupportedReason(node string) string {
	return "node " + node + " " + unsupported
}

// Fit compares a demand with what is free. Asking for all that is left fits. Operations per second fit where the
// disk's are unknown: a capacity that nobody has stated is no capacity of zero.
func Fit(d Demand, free Supply) Shortage {
	switch {
	case d.Bandwidth.Read > free.Bandwidth.Read:
		return ShortOfRead
	case d.Bandwidth.Write > free.Bandwidth.Write:
		return ShortOfWrite
	case d.Bandwidth.Total > free.Bandwidth.Total:
		return ShortOfTotal
	case !free.HasIOPS:
		return Enough
	case d.IOPS.Read > free.IOPS.Read:
		return ShortOfReadIOPS
	case d.IOPS.Write > free.IOPS.Write:
		return ShortOfWriteIOPS
	default:
		return Enough
	}
}
