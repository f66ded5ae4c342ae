package v1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func defaultedRTT() RTTConfiguration {
	c := AgentConfiguration{Collectors: []CollectorSchedule{{Name: RTTCollector}}}
	SetDefaults_AgentConfiguration(&c)
	return c.RTT
}

func TestDefaultsOfTheRTTSection(t *testing.T) {
	want := RTTConfiguration{
		Method: ProbeAuto, Peers: 16, ZonePeers: 8, RotationPeriod: seconds(600), ProbesPerRound: 5, MaxProbesPerSecond: 200,
		ProbeTimeout: seconds(1), PacketBytes: 128, Window: seconds(180), ReportThresholdPercent: 10, Heartbeat: seconds(60),
		TargetsFile: "/etc/vicinity/rtt/targets.json", EchoAddress: ":9809", MaxEchoesPerSecond: 5000,
	}
	if diff := cmp.Diff(want, defaultedRTT()); diff != "" {
		t.Errorf("of an enabled collector (-want +got):\n%s", diff)
	}
	var absent AgentConfiguration
	SetDefaults_AgentConfiguration(&absent)
	if absent.RTT != (RTTConfiguration{}) {
		t.Errorf("a section that nobody asked for was filled in: %+v", absent.RTT)
	}
	few := AgentConfiguration{RTT: RTTConfiguration{Peers: 1}}
	SetDefaults_AgentConfiguration(&few)
	if few.RTT.ZonePeers != 1 || few.RTT.Method != ProbeAuto {
		t.Errorf("of one peer: %+v", few.RTT)
	}
}

func TestWhatTheRTTSectionMustNotSay(t *testing.T) {
	duration := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	tests := map[string]struct {
		change func(*RTTConfiguration)
		want   string
	}{
		"nothing wrong":            {change: func(*RTTConfiguration) {}},
		"another method":           {func(c *RTTConfiguration) { c.Method = "ARP" }, `rtt.method: Unsupported value: "ARP"`},
		"negative peers":           {func(c *RTTConfiguration) { c.Peers = -1 }, "rtt.peers: Invalid value: -1: must be between 1 and 256"},
		"more zone peers than all": {func(c *RTTConfiguration) { c.ZonePeers = 17 }, "rtt.zonePeers: Invalid value: 17: must be between 1 and 16"},
		"too many probes":          {func(c *RTTConfiguration) { c.ProbesPerRound = 101 }, "rtt.probesPerRound: Invalid value: 101: must be between 1 and 100"},
		"a flood":                  {func(c *RTTConfiguration) { c.MaxProbesPerSecond = 10001 }, "rtt.maxProbesPerSecond: Invalid value"},
		"a probe too small":        {func(c *RTTConfiguration) { c.PacketBytes = 64 }, "rtt.packetBytes: Invalid value: 64: must be between 128 and 8192"},
		"no patience":              {func(c *RTTConfiguration) { c.ProbeTimeout = duration(time.Millisecond) }, "must be between 10ms and 10s"},
		"a hasty rotation":         {func(c *RTTConfiguration) { c.RotationPeriod = duration(time.Second) }, "rtt.rotationPeriod: Invalid value"},
		"a short window":           {func(c *RTTConfiguration) { c.Window = duration(time.Second) }, "rtt.window: Invalid value"},
		"a rare heartbeat":         {func(c *RTTConfiguration) { c.Heartbeat = duration(2 * time.Hour) }, "rtt.heartbeat: Invalid value"},
		"a relative file":          {func(c *RTTConfiguration) { c.TargetsFile = "targets.json" }, "rtt.targetsFile: Invalid value"},
		"a file out of its folder": {func(c *RTTConfiguration) { c.TargetsFile = "/etc/../x" }, "rtt.targetsFile: Invalid value"},
		"an echo without a port":   {func(c *RTTConfiguration) { c.EchoAddress = "10.0.0.1" }, "rtt.echoAddress: Invalid value"},
		"an echo on any port":      {func(c *RTTConfiguration) { c.EchoAddress = ":0" }, "expected a port number from 1 to 65535"},
		"an echo at a name":        {func(c *RTTConfiguration) { c.EchoAddress = "node:9809" }, "expected an IP address or nothing before the port"},
		"too many echoes":          {func(c *RTTConfiguration) { c.MaxEchoesPerSecond = 1 << 30 }, "rtt.maxEchoesPerSecond: Invalid value"},
		"a threshold above all":    {func(c *RTTConfiguration) { c.ReportThresholdPercent = 101 }, "rtt.reportThresholdPercent: Invalid value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := AgentConfiguration{Collectors: []CollectorSchedule{{Name: RTTCollector}}, RTT: defaultedRTT()}
			SetDefaults_AgentConfiguration(&c)
			tt.change(&c.RTT)
			err := ValidateAgentConfiguration(nil, &c, []string{RTTCollector})
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\ndoes not contain\n%s", err, tt.want)
			}
		})
	}
}
