package datasets

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
	must(t, err)
	return string(text)
}

// The values are those of the chart, which puts agent.config below apiVersion and kind.
func TestDocumentedConfigurationIsLegal(t *testing.T) {
	_, rest, _ := strings.Cut(readDocs(t), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	var values struct {
		Agent struct {
			Config map[string]any `json:"config"`
		} `json:"agent"`
	}
	must(t, yaml.UnmarshalStrict([]byte(example), &values))
	config := values.Agent.Config
	config["apiVersion"], config["kind"] = configv1.AgentAPIVersion, configv1.AgentConfigurationKind
	text, err := yaml.Marshal(config)
	must(t, err)
	got, err := agent.DecodeConfiguration(text, []string{Name})
	must(t, err)
	if len(got.Datasets.Roots) != 2 {
		t.Errorf("configuration %+v, want the two roots of the example", got)
	}
}

func TestDocumentedMetricsAreThoseThatAreServed(t *testing.T) {
	registry := prometheus.NewRegistry()
	_, err := newMetrics(registry, []string{"/cache"})
	must(t, err)
	families, err := registry.Gather()
	must(t, err)
	var served []string
	for _, family := range families {
		served = append(served, family.GetName())
	}
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`vicinity_agent_datasets_[a-z_]+`).FindAllString(readDocs(t), -1) {
		documented[name] = true
	}
	if diff := cmp.Diff(served, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("metrics (-served +documented):\n%s", diff)
	}
}
