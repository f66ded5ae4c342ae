package diskprofile

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
)

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The values are those of the chart, which puts agent.config below apiVersion and kind.
func TestDocumentedConfigurationIsLegal(t *testing.T) {
	_, rest, _ := strings.Cut(readDocs(t), "## Disks\n")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	var values struct {
		Agent struct {
			Config map[string]any `json:"config"`
		} `json:"agent"`
	}
	if err := yaml.UnmarshalStrict([]byte(example), &values); err != nil {
		t.Fatal(err)
	}
	config := values.Agent.Config
	config["apiVersion"], config["kind"] = configv1.AgentAPIVersion, configv1.AgentConfigurationKind
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := agent.DecodeConfiguration(text, []string{Name, configv1.DiskStatsCollector})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.DiskProfile.Capacities) != 2 || len(got.DiskProfile.Fio.Folders) != 1 || got.HostRoot != "/host" {
		t.Errorf("configuration %+v, want what the example says", got)
	}
}

func TestDocumentedMetricsAreThoseThatAreServed(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, family := range families {
		served = append(served, family.GetName())
	}
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`vicinity_agent_diskprofile_[a-z_]+`).FindAllString(readDocs(t), -1) {
		documented[name] = true
	}
	if diff := cmp.Diff(served, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("metrics (-served +documented):\n%s", diff)
	}
}
