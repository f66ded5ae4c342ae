package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

func TestIntegrationRTT(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	stack := startStack(t)
	folder := t.TempDir()
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(kubeconfig, stack.Cluster.AdminKubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	rtt := func(args ...string) (stdout, stderr string, err error) {
		return execute(t, "vicinity", append([]string{"rtt", "--kubeconfig", kubeconfig}, args...)...)
	}
	at := func(sub string, args ...string) (stdout, stderr string, err error) {
		return execute(t, "vicinity", append([]string{"rtt", sub, "--kubeconfig", kubeconfig}, args...)...)
	}
	if err := stack.ApplyNodes(t.Context(), []localstack.Node{{Name: "edge-1"}, {Name: "edge-2"}, {Name: "cloud"}}); err != nil {
		t.Fatal(err)
	}
	matrix, metadata := filepath.Join(folder, "m.txt"), filepath.Join(folder, "n.json")
	const numbers = "0 0.25 60 7\n0.25 0 61.5 7\n60 61.5 0 7\n7 7 7 0\n"
	names := `{"edge-1": 0, "edge-2": 1, "cloud": 2, "gone": 3}`
	err := errors.Join(os.WriteFile(matrix, []byte(numbers), 0o600), os.WriteFile(metadata, []byte(names), 0o600))
	if err != nil {
		t.Fatal(err)
	}

	t.Run("nothing is known at first", func(t *testing.T) {
		stdout, _, err := rtt("edge-1")
		if err != nil || !strings.Contains(stdout, "edge-1") || !strings.Contains(stdout, none) {
			t.Errorf("%v:\n%s", err, stdout)
		}
		if _, _, err := at("export", "--matrix", matrix+".new", "--metadata", metadata+".new"); err == nil ||
			!strings.Contains(err.Error(), `is not known, and a matrix must be whole`) {
			t.Errorf("an export of nothing: %v", err)
		}
	})
	t.Run("an import is shown", func(t *testing.T) {
		for range 2 { // the second replaces the first
			stdout, stderr, err := at("import", "--matrix", matrix, "--metadata", metadata)
			if err != nil || stdout != "wrote the paths of 3 nodes\n" || !strings.Contains(stderr, "not nodes of this cluster, left out: gone") {
				t.Fatalf("%q, %q, %v", stdout, stderr, err)
			}
		}
		stdout, _, err := rtt("-o", "wide")
		if err != nil {
			t.Fatal(err)
		}
		const want = `
FROM TO P50 P99 LOSS SAMPLES SOURCE AGE
cloud edge-1 60.0ms <none> 0.0% 1 Static
cloud edge-2 61.5ms <none> 0.0% 1 Static
edge-1 edge-2 0.25ms <none> 0.0% 1 Static
edge-1 cloud 60.0ms <none> 0.0% 1 Static
edge-2 edge-1 0.25ms <none> 0.0% 1 Static
edge-2 cloud 61.5ms <none> 0.0% 1 Static
`
		if diff := gocmp.Diff(strings.Fields(want), fieldsWithoutAge(stdout)); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, stdout)
		}
		stdout, _, err = at("path", "edge-1", "edge-2")
		if err != nil || !strings.HasPrefix(stdout, "From edge-1 to edge-2 counts: 0.25ms, measured\n") {
			t.Errorf("%v:\n%s", err, stdout)
		}
	})
	t.Run("an export is what was imported", func(t *testing.T) {
		stdout, _, err := at("export", "--matrix", matrix+".new", "--metadata", metadata+".new", "edge-1", "edge-2", "cloud")
		if err != nil || !strings.Contains(stdout, "0 of 6 pairs estimated") {
			t.Fatalf("%q, %v", stdout, err)
		}
		written, err := os.ReadFile(matrix + ".new")
		if diff := gocmp.Diff("0 0.25 60\n0.25 0 61.5\n60 61.5 0\n", string(written)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("a name that is no node's", func(t *testing.T) {
		if _, _, err := at("path", "edge-1", "edge-9"); err == nil ||
			!strings.Contains(err.Error(), `there is no node "edge-9", nor has any agent measured to an endpoint of that name`) {
			t.Errorf("%v", err)
		}
	})
}

// fieldsWithoutAge leaves out the last column of each row but the header.
func fieldsWithoutAge(table string) []string {
	var all []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if fields[0] != "FROM" {
			fields = fields[:len(fields)-1]
		}
		all = append(all, fields...)
	}
	return all
}
