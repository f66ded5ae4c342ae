package imports

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestKubernetesIsNotPatched: what go.mod puts in the place of a Kubernetes module is the same module at a published
// version, never a folder or a fork. So all that Vicinity adds to the scheduler is in this repository.
func TestKubernetesIsNotPatched(t *testing.T) {
	content, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	replacement := regexp.MustCompile(`(?m)^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)(?:\s+(v\S+))?\s*$`)
	all := replacement.FindAllStringSubmatch(string(content), -1)
	if arrows := strings.Count(string(content), "=>"); len(all) != arrows {
		t.Errorf("understood %d of %d replacements", len(all), arrows)
	}
	for _, r := range all {
		if r[1] != r[2] || r[3] == "" {
			t.Errorf("%s is replaced by %s %s: want itself at a version", r[1], r[2], r[3])
		}
	}
}
