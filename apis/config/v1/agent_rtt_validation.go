package v1

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxRTTPeers           = 256
	maxProbesPerRound     = 100
	maxMaxProbesPerSecond = 10000
	minPacketBytes        = 128
	maxPacketBytes        = 8192
	maxMaxEchoesPerSecond = 100000
	minRTTRotation        = time.Minute
	maxRTTRotation        = 24 * time.Hour
	minProbeTimeout       = 10 * time.Millisecond
	maxProbeTimeout       = 10 * time.Second
	minRTTWindow          = 15 * time.Second
	maxRTTWindow          = time.Hour
	maxTargetsFilePath    = 1024
	maxPort               = 65535
)

// validateRTT judges the defaulted section. It may be absent.
func validateRTT(at *field.Path, c *RTTConfiguration) field.ErrorList {
	if *c == (RTTConfiguration{}) {
		return nil
	}
	var faults field.ErrorList
	switch c.Method {
	case ProbeAuto, ProbeICMP, ProbeUDP:
	default:
		faults = append(faults, field.NotSupported(at.Child("method"), c.Method, []ProbeMethod{ProbeAuto, ProbeICMP, ProbeUDP}))
	}
	for _, n := range []struct {
		name            string
		value, low, top int32
	}{
		{"peers", c.Peers, 1, maxRTTPeers},
		{"zonePeers", c.ZonePeers, 1, max(1, c.Peers)},
		{"probesPerRound", c.ProbesPerRound, 1, maxProbesPerRound},
		{"maxProbesPerSecond", c.MaxProbesPerSecond, 1, maxMaxProbesPerSecond},
		{"packetBytes", c.PacketBytes, minPacketBytes, maxPacketBytes},
		{"reportThresholdPercent", c.ReportThresholdPercent, 1, maxReportThreshold},
		{"maxEchoesPerSecond", c.MaxEchoesPerSecond, 1, maxMaxEchoesPerSecond},
	} {
		if n.value < n.low || n.value > n.top {
			faults = append(faults, field.Invalid(at.Child(n.name), n.value, fmt.Sprintf("must be between %d and %d", n.low, n.top)))
		}
	}
	for _, d := range []struct {
		name            string
		value, low, top time.Duration
	}{
		{"rotationPeriod", c.RotationPeriod.Duration, minRTTRotation, maxRTTRotation},
		{"probeTimeout", c.ProbeTimeout.Duration, minProbeTimeout, maxProbeTimeout},
		{"window", c.Window.Duration, minRTTWindow, maxRTTWindow},
		{"heartbeat", c.Heartbeat.Duration, minHeartbeat, maxHeartbeat},
	} {
		if d.value < d.low || d.value > d.top {
			faults = append(faults, field.Invalid(at.Child(d.name), d.value.String(), fmt.Sprintf("must be between %s and %s", d.low, d.top)))
		}
	}
	return append(faults, validateRTTPlaces(at, c)...)
}

func validateRTTPlaces(at *field.Path, c *RTTConfiguration) field.ErrorList {
	var faults field.ErrorList
	if file := c.TargetsFile; !path.IsAbs(file) || path.Clean(file) != file || len(file) > maxTargetsFilePath {
		faults = append(faults, field.Invalid(at.Child("targetsFile"), file,
			fmt.Sprintf(`must be an absolute path of at most %d bytes, without "." or ".." segments`, maxTargetsFilePath)))
	}
	if _, err := c.EchoPort(); err != nil {
		faults = append(faults, field.Invalid(at.Child("echoAddress"), c.EchoAddress, err.Error()))
	}
	return faults
}

// EchoPort is the port of EchoAddress, 1 to 65535: where other agents are probed too.
func (c *RTTConfiguration) EchoPort() (uint16, error) {
	host, port, err := net.SplitHostPort(c.EchoAddress)
	if err != nil {
		return 0, fmt.Errorf("expected host:port or :port: %w", err)
	}
	if host != "" && net.ParseIP(host) == nil {
		return 0, fmt.Errorf("expected an IP address or nothing before the port, found %q", host)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return 0, fmt.Errorf("expected a port number from 1 to %d, found %q", maxPort, port)
	}
	return uint16(number), nil
}
