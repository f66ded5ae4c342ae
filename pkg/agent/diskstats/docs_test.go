package diskstats

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/disksim"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDocumentedMetricsAreThoseThatAreServed(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	devices := map[string]diskiov1alpha1.DiskDevice{"d1": disk("vda", "1", "1", "1")}
	m.observe(devices, map[string]usage{"vda": {}}, hostdisk.Pressure{})
	m.observePods(devices, map[string]usage{"vda": {}}, 0)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, family := range families {
		served = append(served, family.GetName())
	}
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`vicinity_agent_diskstats_[a-z_]+`).FindAllString(readDocs(t), -1) {
		documented[name] = true
	}
	if diff := cmp.Diff(served, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("metrics (-served +documented):\n%s", diff)
	}
}

func TestDocumentedSimulatedDisksAreLegal(t *testing.T) {
	_, rest, _ := strings.Cut(readDocs(t), "### Simulated disks")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	disks, err := disksim.Parse([]byte(example))
	if err != nil || len(disks.Devices) != 1 || len(disks.Used) != 1 {
		t.Errorf("disks %+v, %v, want one that is used", disks, err)
	}
}
