package v1

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	defaultRTTPeers                 = 16
	defaultRTTRotation              = 10 * time.Minute
	defaultProbesPerRound           = 5
	defaultMaxProbesPerSecond       = 200
	defaultProbeTimeout             = time.Second
	defaultProbePacketBytes         = 128
	defaultRTTWindow                = 3 * time.Minute
	defaultRTTReportThreshold       = 10
	defaultRTTTargetsFile           = "/etc/vicinity/rtt/targets.json"
	defaultEchoAddress              = ":9809"
	defaultMaxEchoesPerSecond       = 5000
	zonePeersPartOfPeers      int32 = 2
)

// setDefaultsRTT fills in the section, which may be left out, if its collector is enabled.
func setDefaultsRTT(c *RTTConfiguration, enabled bool) {
	if !enabled && *c == (RTTConfiguration{}) {
		return
	}
	c.Method = cmp.Or(c.Method, ProbeAuto)
	c.Peers = cmp.Or(c.Peers, defaultRTTPeers)
	c.ZonePeers = cmp.Or(c.ZonePeers, max(1, c.Peers/zonePeersPartOfPeers))
	c.ProbesPerRound = cmp.Or(c.ProbesPerRound, defaultProbesPerRound)
	c.MaxProbesPerSecond = cmp.Or(c.MaxProbesPerSecond, defaultMaxProbesPerSecond)
	c.PacketBytes = cmp.Or(c.PacketBytes, defaultProbePacketBytes)
	c.ReportThresholdPercent = cmp.Or(c.ReportThresholdPercent, defaultRTTReportThreshold)
	c.TargetsFile = cmp.Or(c.TargetsFile, defaultRTTTargetsFile)
	c.EchoAddress = cmp.Or(c.EchoAddress, defaultEchoAddress)
	c.MaxEchoesPerSecond = cmp.Or(c.MaxEchoesPerSecond, defaultMaxEchoesPerSecond)
	for _, d := range []struct {
		set   *metav1.Duration
		value time.Duration
	}{
		{&c.RotationPeriod, defaultRTTRotation},
		{&c.ProbeTimeout, defaultProbeTimeout},
		{&c.Window, defaultRTTWindow},
		{&c.Heartbeat, defaultHeartbeat},
	} {
		d.set.Duration = cmp.Or(d.set.Duration, d.value)
	}
}
