package topology

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func options() *Options { return &Options{ServersPerRack: 2, RacksPerZone: 2} }

func TestLabel(t *testing.T) {
	tests := map[string]struct {
		options Options
		in      string
		first   int
		want    string
		nodes   int
	}{
		// Position 5 with 2 servers a rack: rack 5/2 = 2, server 5%2 = 1, zone 2/2 = 1.
		"a node gets its place, and keeps order and comments": {
			options: *options(), first: 5, nodes: 1,
			in: "# the sixth\nkind: Node\nmetadata:\n  name: n5 # a name\n  labels:\n    disk: ssd\n",
			want: "# the sixth\nkind: Node\nmetadata:\n  name: n5 # a name\n  labels:\n    disk: ssd\n    rack: rack-2\n    server: srv-1\n" +
				"    topology.vicinity.dev/rack: rack-2\n    topology.kubernetes.io/zone: zone-1\n    topology.kubernetes.io/region: region-0\n",
		},
		"labels in braces stay in braces, anchors stay": {
			options: *options(), nodes: 1,
			in: "kind: Node\nmetadata: {name: a, labels: {x: y}}\nstatus: {capacity: &r {cpu: 1}, allocatable: *r}\n",
			want: "kind: Node\nmetadata: {name: a, labels: {x: y, rack: rack-0, server: srv-0, topology.vicinity.dev/rack: rack-0, " +
				"topology.kubernetes.io/zone: zone-0, topology.kubernetes.io/region: region-0}}\nstatus: {capacity: &r {cpu: 1}, allocatable: *r}\n",
		},
		"labels that are there stay, and with all of them the file is the same": {
			options: *options(), nodes: 1, first: 9,
			in: "kind: Node\nmetadata: {name: a, labels: {rack: r, server: s, topology.vicinity.dev/rack: r, " +
				"topology.kubernetes.io/zone: z,   topology.kubernetes.io/region: e}}\n",
			want: "kind: Node\nmetadata: {name: a, labels: {rack: r, server: s, topology.vicinity.dev/rack: r, " +
				"topology.kubernetes.io/zone: z,   topology.kubernetes.io/region: e}}\n",
		},
		"pods are left alone":                        {options: *options(), in: "kind:   Pod\nspec:   {}\n", want: "kind:   Pod\nspec:   {}\n"},
		"pods get the scheduler that was asked for":  {options: Options{ServersPerRack: 1, RacksPerZone: 1, SchedulerName: "mine"}, in: "kind: Pod\nspec:\n  schedulerName: old\n", want: "kind: Pod\nspec:\n  schedulerName: mine\n"},
		"a file without objects is left as it is":    {options: *options(), in: "# nothing\n", want: "# nothing\n"},
		"a list is not an object and is left alone":  {options: *options(), in: "- kind: Node\n", want: "- kind: Node\n"},
		"a node without labels gets a block of them": {options: Options{ServersPerRack: 1, RacksPerZone: 1}, first: 3, nodes: 1, in: "kind: Node\nmetadata:\n  name: n\n", want: "kind: Node\nmetadata:\n  name: n\n  labels:\n    rack: rack-3\n    server: srv-0\n    topology.vicinity.dev/rack: rack-3\n    topology.kubernetes.io/zone: zone-3\n    topology.kubernetes.io/region: region-0\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, nodes, err := tc.options.Label([]byte(tc.in), tc.first)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || nodes != tc.nodes {
				t.Errorf("want %d nodes, found %d; content (-want +got):\n%s", tc.nodes, nodes, diff)
			}
		})
	}
}

func TestWriteTwiceChangesNothingAndCopiesNoCopies(t *testing.T) {
	folder := t.TempDir()
	workload := filepath.Join(folder, "openb_pod_list_tiny")
	if err := os.Mkdir(workload, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"nodes-a.yaml": "kind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: b}\n",
		"nodes-b.yml":  "kind: Node\nmetadata: {name: c}\n",
		"pods.yaml":    "kind: Pod\nmetadata: {name: p}\n",
		"notes.txt":    "kind: Node",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(workload, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var first, second []Written
	if err := options().Write(t.Context(), folder, func(w Written) { first = append(first, w) }); err != nil {
		t.Fatal(err)
	}
	if err := options().Write(t.Context(), folder, func(w Written) { second = append(second, w) }); err != nil {
		t.Fatal(err)
	}
	want := []Written{
		{Path: filepath.Join(workload, "nodes-a-hier.yaml"), Nodes: 2},
		{Path: filepath.Join(workload, "nodes-b-hier.yml"), Nodes: 1},
		{Path: filepath.Join(workload, "pods-hier.yaml")},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].Unchanged = true
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("second run (-want +got):\n%s", diff)
	}
	// The third node, of the second file, is the first one of the second rack.
	got, err := os.ReadFile(filepath.Join(workload, "nodes-b-hier.yml"))
	if err != nil || !strings.Contains(string(got), "rack: rack-1") || !strings.Contains(string(got), "server: srv-0") {
		t.Errorf("want node c at the start of rack-1, found %s and error %v", got, err)
	}
	if original, err := os.ReadFile(filepath.Join(workload, "nodes-b.yml")); err != nil || string(original) != files["nodes-b.yml"] {
		t.Errorf("want the original untouched, found %s and error %v", original, err)
	}
}

func TestWriteSaysWhatIsMissing(t *testing.T) {
	folder := t.TempDir()
	err := options().Write(t.Context(), folder, func(Written) {})
	if err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("want an error that names the flag, found %v", err)
	}
	if err := (&Options{RacksPerZone: 1}).Validate(); err == nil || !strings.Contains(err.Error(), "--servers-per-rack") {
		t.Errorf("want an error that names the flag, found %v", err)
	}
}

// FuzzLabel: whatever a file holds, labelling does not panic, and labelling what it wrote changes nothing.
func FuzzLabel(f *testing.F) {
	f.Add([]byte("kind: Node\nmetadata: {name: a}\n---\nkind: Pod\n"))
	f.Add([]byte("kind: Node\nmetadata: null\n"))
	f.Add([]byte("kind: Node\nmetadata: &m {labels: {a: b}}\nother: *m\n"))
	f.Add([]byte("---\n- 1\n---\n\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, nodes, err := options().Label(data, 0)
		if err != nil {
			return
		}
		twice, again, err := options().Label(once, 0)
		if err != nil || again != nodes || !bytes.Equal(once, twice) {
			t.Errorf("%q: labelling twice: %d nodes and %q, then %d nodes and %q, error %v", data, nodes, once, again, twice, err)
		}
	})
}
