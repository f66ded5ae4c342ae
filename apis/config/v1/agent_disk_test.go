package v1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDiskDefaults(t *testing.T) {
	c := &AgentConfiguration{
		Collectors: []CollectorSchedule{{Name: DiskStatsCollector}, {Name: DiskProfileCollector}},
		DiskProfile: DiskProfileConfiguration{Capacities: []DiskCapacity{
			{Read: resource.MustParse("100Mi"), Write: resource.MustParse("50Mi")},
			{Read: resource.MustParse("100Mi"), Write: resource.MustParse("50Mi"), Total: resource.MustParse("120Mi")},
		}},
	}
	SetDefaults_AgentConfiguration(c)
	if got := c.Collectors[0].Interval.Duration; got != time.Second {
		t.Errorf("interval of diskstats %s, want 1s", got)
	}
	want := DiskStatsConfiguration{Window: 30, ReportThresholdPercent: 5, Heartbeat: metav1.Duration{Duration: time.Minute}}
	if diff := cmp.Diff(want, c.DiskStats); diff != "" {
		t.Errorf("diskStats (-want +got):\n%s", diff)
	}
	if got := c.DiskProfile; got.DefaultDiskPath != "/var/lib/kubelet" || got.Heartbeat.Duration != 10*time.Minute {
		t.Errorf("diskProfile %+v", got)
	}
	for i, want := range []string{"150Mi", "120Mi"} {
		if got := c.DiskProfile.Capacities[i].Total; got.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("total of entry %d is %s, want %s", i, got.String(), want)
		}
	}
	if err := ValidateAgentConfiguration(nil, c, []string{DiskStatsCollector, DiskProfileCollector}); err != nil {
		t.Error(err)
	}
}

func TestFioDefaults(t *testing.T) {
	c := &AgentConfiguration{
		Collectors:  []CollectorSchedule{{Name: DiskProfileCollector}},
		DiskProfile: DiskProfileConfiguration{Fio: FioConfiguration{Folders: []string{"/srv/a", "/srv/b"}}},
	}
	SetDefaults_AgentConfiguration(c)
	want := FioConfiguration{
		Folders: []string{"/srv/a", "/srv/b"}, Program: "fio", CacheFile: "/srv/a/vicinity-disks.json", FileSize: resource.MustParse("1Gi"),
		StepTime: metav1.Duration{Duration: 10 * time.Second}, TimeLimit: metav1.Duration{Duration: 5 * time.Minute}, MaxBusyPercent: 10,
	}
	if diff := cmp.Diff(want, c.DiskProfile.Fio); diff != "" {
		t.Errorf("fio (-want +got):\n%s", diff)
	}
	if err := ValidateAgentConfiguration(nil, c, []string{DiskProfileCollector}); err != nil {
		t.Error(err)
	}
}

func TestValidateDisks(t *testing.T) {
	tests := []struct {
		name   string
		change func(*AgentConfiguration)
		want   string
	}{
		{"a window of one round", func(c *AgentConfiguration) { c.DiskStats.Window = 1 }, "diskStats.window: Invalid value: 1: must be between 2 and 600"},
		{
			"a threshold above all", func(c *AgentConfiguration) { c.DiskStats.ReportThresholdPercent = 101 },
			"diskStats.reportThresholdPercent: Invalid value: 101: must be between 1 and 100",
		},
		{
			"a heartbeat that is too fast", func(c *AgentConfiguration) { c.DiskStats.Heartbeat.Duration = time.Second },
			`diskStats.heartbeat: Invalid value: "1s": must be between 15s and 1h0m0s`,
		},
		{
			"a path that is relative", func(c *AgentConfiguration) { c.DiskProfile.DefaultDiskPath = "var" },
			`diskProfile.defaultDiskPath: Invalid value: "var": must be absolute, without "." or ".." segments, and at most 1024 bytes`,
		},
		{
			"a root of the host that is relative", func(c *AgentConfiguration) { c.HostRoot = "host" },
			`hostRoot: Invalid value: "host": must be absolute, without "." or ".." segments, and at most 1024 bytes`,
		},
		{
			"fio on no disk", func(c *AgentConfiguration) { c.DiskProfile.Fio.MaxBusyPercent = 5 },
			"diskProfile.fio.folders: Required value: say on which disks, by a folder on each",
		},
		{
			"fio in a folder that is relative", func(c *AgentConfiguration) {
				c.DiskProfile.Fio = FioConfiguration{Folders: []string{"/a", "b"}, CacheFile: "/c"}
			},
			`diskProfile.fio.folders[1]: Invalid value: "b": must be absolute, without "." or ".." segments, and at most 1024 bytes`,
		},
		{
			"fio without bounds", func(c *AgentConfiguration) {
				c.DiskProfile.Fio = FioConfiguration{
					Folders: []string{"/a"}, FileSize: resource.MustParse("1Ti"), StepTime: metav1.Duration{Duration: time.Hour},
					TimeLimit: metav1.Duration{Duration: time.Second}, MaxBusyPercent: 101,
				}
			},
			`[diskProfile.fio.fileSize: Invalid value: "1Ti": must be between 16Mi and 64Gi, ` +
				`diskProfile.fio.stepTime: Invalid value: "1h0m0s": must be between 1s and 1m0s, ` +
				`diskProfile.fio.timeLimit: Invalid value: "1s": must be between 10s and 1h0m0s, ` +
				"diskProfile.fio.maxBusyPercent: Invalid value: 101: must be between 1 and 100]",
		},
		{
			"a capacity without writing", func(c *AgentConfiguration) {
				c.DiskProfile.Capacities = []DiskCapacity{{Read: resource.MustParse("1Gi")}}
			},
			`diskProfile.capacities[0].write: Required value: say how many bytes per second, such as "500Mi"`,
		},
		{
			"a negative capacity", func(c *AgentConfiguration) {
				c.DiskProfile.Capacities = []DiskCapacity{{Read: resource.MustParse("-1"), Write: resource.MustParse("2"), Total: resource.MustParse("1")}}
			},
			`diskProfile.capacities[0].read: Invalid value: "-1": must be above 0 and fit into 63 bits`,
		},
		{
			"negative operations", func(c *AgentConfiguration) {
				c.DiskProfile.Capacities = []DiskCapacity{{Read: resource.MustParse("1"), Write: resource.MustParse("1"), ReadIOPS: -1}}
			},
			"diskProfile.capacities[0].readIOPS: Invalid value: -1: must not be negative",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &AgentConfiguration{}
			tt.change(c)
			SetDefaults_AgentConfiguration(c)
			err := ValidateAgentConfiguration(nil, c, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
