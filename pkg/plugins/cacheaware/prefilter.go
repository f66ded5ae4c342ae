package cacheaware

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// stateKey is where PreFilter leaves its findings for the later extension points.
const stateKey = fwk.StateKey("PreFilter" + Name)

// podState is written once, by PreFilter, and read only from then on.
type podState struct {
	request locality.Request      // the datasets whose place is known
	names   []locality.DatasetKey // of request, index by index
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

// PreFilter finds the pod's datasets and where they are. It returns Skip, so that Filter is not run, for pods
// that only prefer nearness.
func (pl *CacheAware) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	w, err := pl.wishOf(pod)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if len(w.datasets) == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	required := w.policy == vicinityv1alpha1.DatasetPolicyRequired
	if required {
		pl.waiting.add(pod, w.datasets) // before looking, so that no change is missed in between
	}
	s := &podState{}
	var unplaced []locality.DatasetKey
	for _, dataset := range w.datasets {
		reach := pl.reachOf(ctx, pod, dataset)
		if reach.Empty() {
			unplaced = append(unplaced, dataset)
			continue
		}
		s.request = append(s.request, reach)
		s.names = append(s.names, dataset)
	}
	pl.metrics.count(len(s.request), len(unplaced))
	if required && len(unplaced) > 0 {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("required dataset %q is nowhere: no node is known to serve or hold it", unplaced[0]))
	}
	state.Write(stateKey, s)
	if !required {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

// PreFilterExtensions returns nil: other pods do not change where datasets are.
func (pl *CacheAware) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (pl *CacheAware) reachOf(ctx context.Context, pod *corev1.Pod, dataset locality.DatasetKey) *locality.Reach {
	placement := pl.datasets.Placement(dataset)
	if logger := klog.FromContext(ctx).V(2); logger.Enabled() {
		logger.Info("Dataset of pod", "pod", klog.KObj(pod), "dataset", dataset,
			"gateways", names(placement.Gateways), "dataLocations", names(placement.DataLocations))
	}
	return locality.NewReach(placement, pl.tiers, pl.nodes)
}

// names turns locations into what a log line shows of them.
func names(locations []locality.Location) []string {
	out := make([]string, len(locations))
	for i, at := range locations {
		out[i] = at.String()
	}
	return out
}

// notFound reports that PreFilter left nothing behind: the pod has no dataset.
func notFound(err error) bool { return errors.Is(err, fwk.ErrNotFound) }
