package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RTTCollector is the name of the collector that measures round-trip times to other nodes.
const RTTCollector = "rtt"

// ProbeMethod says how round-trip times between nodes are measured.
type ProbeMethod string

const (
	// ProbeAuto is ICMP where the agent may send it, and UDP to nodes that answer that only.
	ProbeAuto ProbeMethod = "Auto"
	// ProbeICMP is ICMP echo, which the kernels of the nodes answer.
	ProbeICMP ProbeMethod = "ICMP"
	// ProbeUDP is the echo that agents serve each other.
	ProbeUDP ProbeMethod = "UDP"
)

// RTTConfiguration tells the rtt collector what to measure, how often, and when to report. It may be left out: every
// field has a default.
type RTTConfiguration struct {
	// method is how nodes are probed: Auto, ICMP or UDP. Whatever it is, agents tell each other their network
	// coordinates by one UDP packet a round. Default: Auto.
	Method ProbeMethod `json:"method,omitempty"`

	// peers is how many nodes are probed beside those that bounds refer to, which all are, 1 to 256. Default: 16.
	Peers int32 `json:"peers,omitempty"`

	// zonePeers is how many of peers are of the node's own zone, if it has as many, 1 to peers. If it has fewer, others
	// take their places. Default: half of peers.
	ZonePeers int32 `json:"zonePeers,omitempty"`

	// rotationPeriod is how long the same peers are probed, before others are taken of those that are chosen at random,
	// "1m" to "24h". Default: "10m".
	RotationPeriod metav1.Duration `json:"rotationPeriod,omitzero"`

	// probesPerRound is how many probes a node gets in each round, 1 to 100. Default: 5.
	ProbesPerRound int32 `json:"probesPerRound,omitempty"`

	// maxProbesPerSecond bounds what the agent sends, 1 to 10000. If that is less than all targets need, they take turns.
	// Default: 200.
	MaxProbesPerSecond int32 `json:"maxProbesPerSecond,omitempty"`

	// probeTimeout is the time after which a probe counts as lost, "10ms" to "10s". Default: "1s".
	ProbeTimeout metav1.Duration `json:"probeTimeout,omitzero"`

	// packetBytes is how long a probe is, without the headers of IP, ICMP and UDP, 128 to 8192. Default: 128.
	PacketBytes int32 `json:"packetBytes,omitempty"`

	// window is how far back the probes lie that percentiles and losses are taken from, "15s" to "1h". Default: "3m".
	Window metav1.Duration `json:"window,omitzero"`

	// reportThresholdPercent is by how much a median must differ from the reported one, in percent of that and by 0.1 ms
	// at least, to be reported before the next heartbeat, 1 to 100. A path that is cut, or works again, is always
	// reported. No two reports are less than 15 s apart. Default: 10.
	ReportThresholdPercent int32 `json:"reportThresholdPercent,omitempty"`

	// heartbeat is the time after which everything is reported even if little or nothing has changed, "15s" to "1h".
	// Default: "1m".
	Heartbeat metav1.Duration `json:"heartbeat,omitzero"`

	// targetsFile is the file with the list of what to measure, which vicinity-controller keeps in the ConfigMap
	// vicinity-rtt-targets. An absolute path. It may be missing: nothing is measured then.
	// Default: "/etc/vicinity/rtt/targets.json".
	TargetsFile string `json:"targetsFile,omitempty"`

	// echoAddress is where other agents' probes are answered, as host:port or :port. All agents use the same port.
	// Default: ":9809".
	EchoAddress string `json:"echoAddress,omitempty"`

	// maxEchoesPerSecond bounds how many probes of other agents are answered, 1 to 100000. Default: 5000.
	MaxEchoesPerSecond int32 `json:"maxEchoesPerSecond,omitempty"`
}
