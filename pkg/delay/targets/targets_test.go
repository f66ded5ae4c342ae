package targets_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

const token = "000102030405060708090a0b0c0d0e0f"

func nodes(zone string, from, to int) []targets.Node {
	var list []targets.Node
	for i := from; i <= to; i++ {
		list = append(list, targets.Node{
			Name: fmt.Sprintf("n%d", i), Zone: zone, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, 0, byte(i / 256), byte(i % 256)})},
		})
	}
	return list
}

func names(list []targets.Node) []string {
	var all []string
	for i := range list {
		all = append(all, list[i].Name)
	}
	slices.Sort(all)
	return all
}

func TestAListIsReadAsItWasWritten(t *testing.T) {
	want := &targets.List{
		Version: targets.Version, Token: token, Endpoints: []string{"db.example.com:5432"},
		Nodes: []targets.Node{
			{Name: "n1", Zone: "z1", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}},
			{Name: "n2", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.2")}, Reference: true},
		},
	}
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := targets.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if lines := strings.Count(string(data), "\n"); lines != 3 {
		t.Errorf("the document has %d lines, want one for the head and one a node:\n%s", lines, data)
	}
}

func TestWhatAListMustNotBe(t *testing.T) {
	tests := map[string]struct{ document, want string }{
		"nothing":               {"", "not the expected JSON"},
		"of another version":    {`{"version":2}`, "expected version 1, found 2"},
		"with half a token":     {`{"version":1,"token":"0001"}`, "expected 16 bytes in hexadecimal"},
		"a node without a name": {`{"version":1,"nodes":[{"addresses":["10.0.0.1"]}]}`, "nodes[0].name: expected a name"},
		"a node twice": {
			`{"version":1,"nodes":[{"name":"a","addresses":["10.0.0.1"]},{"name":"a","addresses":["10.0.0.2"]}]}`,
			`nodes[1].name: "a" occurs twice`,
		},
		"a node without addresses": {`{"version":1,"nodes":[{"name":"a"}]}`, "nodes[0].addresses: expected 1 to 4, found 0"},
		"an address for many hosts": {
			`{"version":1,"nodes":[{"name":"a","addresses":["224.0.0.1"]}]}`, "expected the unicast address of one host",
		},
		"an address that is none":  {`{"version":1,"nodes":[{"name":"a","addresses":["10.0.0.300"]}]}`, "not the expected JSON"},
		"an endpoint without name": {`{"version":1,"endpoints":[""]}`, "endpoints[0]: expected a name"},
		"too large":                {strings.Repeat(" ", targets.MaxBytes+1), "expected at most 1000000 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := targets.Decode(strings.NewReader(tt.document))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Decode() = %v, %v; want an error with %q", list, err, tt.want)
			}
		})
	}
}

func TestTheLargestListFitsAConfigMap(t *testing.T) {
	list := &targets.List{Version: targets.Version, Token: token}
	for i := range targets.MaxNodes + targets.MaxReferences {
		list.Nodes = append(list.Nodes, targets.Node{
			// As long as the names of cloud providers' nodes.
			Name: fmt.Sprintf("ip-10-255-255-%04d.eu-central-1.compute.internal-pool-a", i), Zone: "eu-central-1a",
			Addresses: []netip.Addr{netip.MustParseAddr("10.255.255.255"), netip.MustParseAddr("fd00:1234:5678:9abc::ffff")},
			Reference: i >= targets.MaxNodes,
		})
	}
	data, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > targets.MaxBytes {
		t.Errorf("%d bytes, want at most %d", len(data), targets.MaxBytes)
	}
}

func TestANodeProbesItsZoneReferencesAndSomeOthers(t *testing.T) {
	zone1, zone2 := nodes("z1", 1, 5), nodes("z2", 101, 200)
	zone2[7].Reference = true // n108
	all := slices.Concat(zone1, zone2)

	t.Run("a small zone is probed whole, others fill up", func(t *testing.T) {
		got := targets.Choose("n1", "z1", all, targets.Choice{Peers: 16, ZonePeers: 8})
		// The reference, the 4 others of the zone, 16 - 4 of the rest.
		if len(got) != 17 {
			t.Errorf("%d nodes, want 17: %v", len(got), names(got))
		}
		for _, want := range []string{"n2", "n3", "n4", "n5", "n108"} {
			if !slices.Contains(names(got), want) {
				t.Errorf("%s is not among %v", want, names(got))
			}
		}
	})
	t.Run("of a large zone no more than the cap", func(t *testing.T) {
		got := targets.Choose("n101", "z2", all, targets.Choice{Peers: 7, ZonePeers: 4})
		near := slices.DeleteFunc(slices.Clone(got), func(n targets.Node) bool { return n.Zone != "z2" || n.Reference })
		if len(got) != 8 || len(near) != 4 {
			t.Errorf("%v, want 8 nodes of which 4 of the zone", names(got))
		}
	})
	t.Run("without enough others the zone fills up", func(t *testing.T) {
		got := targets.Choose("n101", "z2", all, targets.Choice{Peers: 20, ZonePeers: 4})
		if len(got) != 21 { // the reference, 5 others, 15 of the zone
			t.Errorf("%d nodes, want 21", len(got))
		}
	})
	t.Run("no node probes itself, though it is a reference", func(t *testing.T) {
		if got := names(targets.Choose("n108", "z2", all, targets.Choice{Peers: 1000})); slices.Contains(got, "n108") || len(got) != 104 {
			t.Errorf("%d nodes, want the 104 others: %v", len(got), got)
		}
	})
	t.Run("a node without a zone has no near ones", func(t *testing.T) {
		got := targets.Choose("x", "", nodes("", 1, 9), targets.Choice{Peers: 4, ZonePeers: 2})
		if len(got) != 4 {
			t.Errorf("%v, want 4", names(got))
		}
	})
}

func TestTheChoiceIsStable(t *testing.T) {
	all := slices.Concat(nodes("z1", 1, 50), nodes("z2", 51, 300))
	choice := targets.Choice{Peers: 16, ZonePeers: 8, Period: 3}
	first := names(targets.Choose("n1", "z1", all, choice))

	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	if diff := cmp.Diff(first, names(targets.Choose("n1", "z1", reversed, choice))); diff != "" {
		t.Errorf("another order of nodes changed the choice:\n%s", diff)
	}
	// One node more may take one place, of one other.
	more := names(targets.Choose("n1", "z1", append(all, nodes("z2", 301, 301)...), choice))
	changed := slices.DeleteFunc(slices.Clone(more), func(name string) bool { return slices.Contains(first, name) })
	if len(changed) > 1 {
		t.Errorf("one node more changed %v", changed)
	}
	choice.Period++
	if next := names(targets.Choose("n1", "z1", all, choice)); cmp.Equal(first, next) {
		t.Errorf("the next period has the same nodes: %v", next)
	}
}

// Over many periods each of 100 nodes must come up about equally often: 1,000 periods x 10 of 100 are 100 each, with a
// standard deviation of sqrt(1000 x 0.1 x 0.9) = 9.5. Six of these are room enough for the largest of 100 deviations.
func TestNoNodeIsForgotten(t *testing.T) {
	all, count := nodes("z2", 1, 100), map[string]int{}
	for period := range uint64(1000) {
		for _, node := range targets.Choose("self", "z1", all, targets.Choice{Peers: 10, ZonePeers: 5, Period: period}) {
			count[node.Name]++
		}
	}
	for _, node := range all {
		if n := count[node.Name]; n < 43 || n > 157 {
			t.Errorf("%s was chosen %d times of 1000, want 100 or so", node.Name, n)
		}
	}
}

func TestASampleRarelyChanges(t *testing.T) {
	all := nodes("z1", 1, 2000)
	before := names(targets.Sample(all, 500))
	if len(before) != 500 {
		t.Fatalf("%d nodes, want 500", len(before))
	}
	after := names(targets.Sample(all[:1999], 500))
	left := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return slices.Contains(after, name) })
	if len(left) > 1 {
		t.Errorf("one node less changed %v", left)
	}
	if got := targets.Sample(all[:3], 500); len(got) != 3 {
		t.Errorf("a sample of 3 nodes has %d", len(got))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"token":"` + token + `","nodes":[{"name":"a","zone":"z","addresses":["10.0.0.1","::1"],"reference":true}]}`))
	f.Add([]byte(`{"version":1,"endpoints":["a:1","[::1]:2"],"nodes":[]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := targets.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		encoded, err := list.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := targets.Decode(bytes.NewReader(encoded))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, encoded)
		}
		if len(again.Nodes) != len(list.Nodes) || again.Token != list.Token {
			t.Fatalf("read %v, then %v", list, again)
		}
		targets.Choose("a", "z", list.Nodes, targets.Choice{Peers: 4, ZonePeers: 2})
	})
}
