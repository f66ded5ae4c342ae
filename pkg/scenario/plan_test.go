package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func TestPlan(t *testing.T) {
	parse := func(name, more string) *format.Scenario {
		t.Helper()
		s, err := format.Parse("p/"+name+".yaml", []byte("name: "+name+"\n"+more+"\nsteps:\n- expect: {pod: a, node: n1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	withStep := func(name, step string) *format.Scenario {
		t.Helper()
		s, err := format.Parse("p/"+name+".yaml", []byte("name: "+name+"\nsteps:\n- expect: {pod: a, node: n1}\n- "+step+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	light := "profile: {plugins: {A: {weight: 1}, B: {disabled: true}}}"
	sameLight := "profile: {plugins: {B: {disabled: true}, A: {weight: 1}}}"
	tests := map[string]struct {
		scenarios []*format.Scenario
		want      map[string][]string // scenarios by cluster
		first     string
	}{
		"one cluster for those that leave it as it is": {
			scenarios: []*format.Scenario{parse("b", ""), parse("a", "crds: [fluid, datashim]"), withStep("c", "pauseNode: {node: n1}")},
			want:      map[string][]string{"shared": {"p/b", "p/a", "p/c"}},
			first:     "shared",
		},
		"profiles stand together, the default one first": {
			scenarios: []*format.Scenario{parse("a", light), parse("b", ""), parse("c", "profile: {plugins: {A: {weight: 2}}}"), parse("d", sameLight), parse("e", "")},
			want:      map[string][]string{"shared": {"p/b", "p/e", "p/a", "p/d", "p/c"}},
			first:     "shared",
		},
		"other CRDs need an own cluster": {
			scenarios: []*format.Scenario{parse("a", "crds: []"), parse("b", "crds: [fluid]"), parse("c", "")},
			want:      map[string][]string{"p/a": {"p/a"}, "p/b": {"p/b"}, "shared": {"p/c"}},
			first:     "shared",
		},
		"changes of CRDs and of processes need an own cluster": {
			scenarios: []*format.Scenario{
				withStep("a", "apply: {crds: [fluid]}"), withStep("b", "delete: {crds: [fluid]}"),
				withStep("c", "kill: {process: scheduler}"), withStep("d", "restart: {process: scheduler}"),
			},
			want:  map[string][]string{"p/a": {"p/a"}, "p/b": {"p/b"}, "p/c": {"p/c"}, "p/d": {"p/d"}},
			first: "p/a",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			jobs := plan(tc.scenarios)
			got := map[string][]string{}
			for _, j := range jobs {
				got[j.name] = ids(j.scenarios)
				for _, s := range j.scenarios {
					if diff := cmp.Diff(s.CRDs, j.crds); diff != "" {
						t.Errorf("%s runs with other CRDs than it names (-want +got):\n%s", s.ID(), diff)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
			if jobs[0].name != tc.first {
				t.Errorf("want %s to be first, found %s", tc.first, jobs[0].name)
			}
		})
	}
}

func ids(scenarios []*format.Scenario) []string {
	var ids []string
	for _, s := range scenarios {
		ids = append(ids, s.ID())
	}
	return ids
}
