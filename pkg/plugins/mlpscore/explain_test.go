package mlpscore

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// noNodes is a snapshot without nodes.
func noNodes(string) (fwk.NodeInfo, error) { return nil, errors.New("no such node") }

// The network's output is the free share of CPU after the placement, 14 of 16 cores: 87.5 hundredths, all of them from
// one feature. Without it the output would be 0.
func TestExplainNamesTheFeaturesThatCount(t *testing.T) {
	f := newFixture(t, active(), clock.RealClock{})
	info := node("large", "16", 0)
	f.nodes = func(name string) (fwk.NodeInfo, error) {
		if name != "large" {
			return noNodes(name)
		}
		return info, nil
	}
	state := framework.NewCycleState()
	if status := f.PreScore(t.Context(), state, pod("2"), []fwk.NodeInfo{info, node("small", "4", 0)}); !status.IsSuccess() {
		t.Fatal(status)
	}
	data, err := state.Read(explainKey)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := data.(trace.Explainer)
	if !ok {
		t.Fatalf("%T explains nothing", data)
	}
	terms := e.Explain("large")
	want := []trace.Term{{Name: "output", Value: 87.5, Unit: "points"}, {Name: "after.cpuFree", Value: 87.5, Unit: "points"}}
	if len(terms) != 1+topFeatures {
		t.Fatalf("want the output and %d features, got %+v", topFeatures, terms)
	}
	if diff := cmp.Diff(want, terms[:2]); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	if terms := e.Explain("gone"); terms != nil {
		t.Errorf("a node that is not in the snapshot: want nothing, got %+v", terms)
	}
}
