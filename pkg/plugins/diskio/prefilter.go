package diskio

import (
	"context"
	"fmt"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// stateKey is where PreFilter leaves its findings for the later extension points.
const stateKey = fwk.StateKey("PreFilter" + Name)

// podState is written once, by PreFilter, and read only from then on.
type podState struct {
	wish
	now time.Time
	// byKind holds what each target, by its index, takes from a disk of a kind.
	byKind map[unique.Handle[blockio.Kind]][]kindDemand
}

// kindDemand is what the pod takes from a disk of one kind, or why the kind's model cannot tell.
type kindDemand struct {
	demand blockio.Demand
	err    error
}

// Clone returns the receiver: nothing changes it after PreFilter.
func (s *podState) Clone() fwk.StateData { return s }

func stateOf(state fwk.CycleState) (*podState, error) {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil, fmt.Errorf("reading %q from the cycle state: %w", stateKey, err)
	}
	s, ok := data.(*podState)
	if !ok {
		return nil, fmt.Errorf("reading %q from the cycle state: want *podState, found %T", stateKey, data)
	}
	return s, nil
}

// PreFilter reads what the pod asks for. It returns Skip for pods of namespaces that are not looked at, and where no
// disk is known to anyone.
func (pl *DiskIO) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	if pl.listed(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	w, err := pl.wishOf(pod)
	if err != nil {
		pl.metrics.refused()
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	kinds := pl.disks.DiskKinds()
	if !w.required && len(kinds) == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	// Before looking at nodes, so that no change is missed in between.
	pl.waiting.Add(pod, []anyNode{{}}, 0)
	s := &podState{wish: w, now: pl.clock.Now(), byKind: make(map[unique.Handle[blockio.Kind]][]kindDemand, len(kinds))}
	for _, kind := range kinds {
		s.byKind[unique.Make(kind)] = pl.demandsOf(w.targets, kind)
	}
	state.Write(stateKey, s)
	return nil, nil
}

// PreFilterExtensions returns nil: Filter sums what it is given, in which the framework adds and removes pods itself.
func (pl *DiskIO) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// demandsOf returns what each target takes from a disk of the kind.
func (pl *DiskIO) demandsOf(targets []target, kind blockio.Kind) []kindDemand {
	demands := make([]kindDemand, len(targets))
	for i, t := range targets {
		demands[i].demand, demands[i].err = pl.normalized(t.requests, kind)
	}
	return demands
}

// demandsOn is demandsOf for the pod, from what PreFilter found; a kind that appeared since is worked out now.
func (pl *DiskIO) demandsOn(s *podState, kind unique.Handle[blockio.Kind]) []kindDemand {
	if known, ok := s.byKind[kind]; ok {
		return known
	}
	return pl.demandsOf(s.targets, kind.Value())
}
