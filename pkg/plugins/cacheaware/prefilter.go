package cacheaware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// stateKey is where PreFilter leaves its findings for the later extension points.
const stateKey = fwk.StateKey("PreFilter" + Name)

// podState is written once, by PreFilter, and read only from then on.
type podState struct {
	datasets []locality.DatasetKey // all, placed or not
	reaches  []*locality.Reach     // of those that some usable node serves
	warming  []locality.DatasetKey // that will be kept on the node to which the pod goes
	cold     []locality.DatasetKey // of warming: no node holds them or is becoming warm
	unknown  int                   // how many datasets are neither placed nor cold
	limits   []limit               // what Filter checks, scarcest first
}

// limit is how far from one dataset the pod may run.
type limit struct {
	reach    *locality.Reach
	farthest locality.Distance
}

// Clone returns the receiver: nothing changes it after PreFilter.
func (s *podState) Clone() fwk.StateData { return s }

func stateOf(state fwk.CycleState) (*podState, error) { return read[*podState](state, stateKey) }

// read returns what an earlier extension point left in the cycle state.
func read[T any](state fwk.CycleState, key fwk.StateKey) (T, error) {
	var none T
	data, err := state.Read(key)
	if err != nil {
		return none, fmt.Errorf("reading %q from the cycle state: %w", key, err)
	}
	typed, ok := data.(T)
	if !ok {
		return none, fmt.Errorf("reading %q from the cycle state: want %T, found %T", key, none, data)
	}
	return typed, nil
}

// notFound reports that no earlier extension point left anything: the pod has no dataset.
func notFound(err error) bool { return errors.Is(err, fwk.ErrNotFound) }

// PreFilter finds the pod's datasets and where they are. It returns Skip, so that Filter is not run, for pods
// that only prefer nearness.
func (pl *CacheAware) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	w, err := pl.wish(pod)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if len(w.datasets) == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	now := pl.clock.Now()
	patience := pl.patience(w.wait)
	farthest, next := patience.Admits(waited(pod, now))
	s := &podState{datasets: w.keys()}
	if next > 0 || slices.ContainsFunc(w.datasets, func(d wantedDataset) bool { return d.required }) {
		// Before looking, so that no change is missed in between.
		pl.waiting.Add(pod, s.datasets, next-waited(pod, now))
	}
	for _, wanted := range w.datasets {
		farthest := farthest
		if wanted.required && w.wait == 0 {
			farthest = 0
		}
		if status := pl.look(ctx, s, pod, wanted.key, farthest, now); !status.IsSuccess() {
			return nil, status
		}
	}
	state.Write(stateKey, s)
	return s.candidates()
}

// waited is how long the pod has been waiting for a place. It has not begun to before it was first rejected.
func waited(pod *corev1.Pod, now time.Time) time.Duration {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return max(0, now.Sub(c.LastTransitionTime.Time))
		}
	}
	return 0
}

// look adds one dataset to the state, or returns why the pod cannot be placed at all.
func (pl *CacheAware) look(ctx context.Context, s *podState, pod *corev1.Pod, key locality.DatasetKey,
	farthest locality.Distance, now time.Time,
) *fwk.Status {
	reach, warms := pl.reachOf(ctx, pod, key, now)
	pl.metrics.lookedUp(!reach.Empty())
	if warms {
		s.warming = append(s.warming, key)
	}
	switch {
	case !reach.Empty():
		s.reaches = append(s.reaches, reach)
		if farthest < locality.Nowhere {
			s.limits = append(s.limits, limit{reach: reach, farthest: farthest})
		}
	case farthest == 0:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("required dataset %q is nowhere: no usable node is known to serve or hold it", key))
	// In the last two cases also while patience lasts: where there is nothing to be near to, admitting tiers one by
	// one is idle.
	case warms:
		s.cold = append(s.cold, key)
	default:
		s.unknown++
	}
	return nil
}

// reachOf returns how near nodes are to the dataset, as the sources and this scheduler's own memory have it now, and
// whether the pod's node will become warm.
func (pl *CacheAware) reachOf(ctx context.Context, pod *corev1.Pod, key locality.DatasetKey, now time.Time,
) (reach *locality.Reach, warms bool) {
	dataset, stale := pl.known(key, now)
	pl.metrics.aged(now, dataset, stale)
	gateway := dataset.HasGateway()
	// Data behind a gateway is read over the network and does not come to the node.
	warms = pl.converges() && dataset.NodeCached && !gateway
	if warms {
		dataset.Replicas = slices.Concat(dataset.Replicas, pl.becomingWarm(key, dataset.Replicas, now))
	}
	if logger := klog.FromContext(ctx).V(2); logger.Enabled() {
		logger.Info("Dataset of pod", "pod", klog.KObj(pod), "dataset", key,
			"gateways", places(dataset, true), "dataLocations", places(dataset, false), "stale", stale)
	}
	reach = locality.NewReach(key, dataset, pl.rules, pl.nodes)
	if threshold := float64(pl.args.GatewayLoad.Threshold); threshold > 0 && gateway && !reach.Empty() {
		load := float64(pl.load.of(key)) / float64(reach.Places())
		pl.metrics.gatewayLoad(load)
		if load > threshold {
			reach.LimitTo(threshold / load)
		}
	}
	return reach, warms
}

// known returns what the sources say of the dataset without what is stale, and how many replicas that were.
func (pl *CacheAware) known(key locality.DatasetKey, now time.Time) (dataset locality.Dataset, stale int) {
	dataset, old := locality.MergeFresh(now, pl.args.StaleAfter.Duration, pl.datasets.Datasets(key, pl.args.Sources)...)
	return dataset, len(old)
}

// sourceWarming is the source of replicas that this scheduler expects.
const sourceWarming = "expected"

// becomingWarm returns a replica for each node that is expected to hold the dataset and is not reported to.
func (pl *CacheAware) becomingWarm(key locality.DatasetKey, reported []locality.Replica, now time.Time) []locality.Replica {
	var out []locality.Replica
	for _, node := range pl.warming.nodes(key, now) {
		at := locality.OnNode(node)
		if !slices.ContainsFunc(reported, func(r locality.Replica) bool { return r.At == at }) {
			out = append(out, locality.Replica{At: at, Source: sourceWarming})
		}
	}
	return out
}

// places turns replicas into what a log line shows of them.
func places(d locality.Dataset, gateways bool) []string {
	var out []string
	for _, r := range d.Replicas {
		if r.Gateway == gateways {
			out = append(out, r.At.String())
		}
	}
	return out
}

// candidates ends PreFilter: Skip when Filter has nothing to check; the nodes that hold every dataset which must
// be held, where those can be listed; a reason when there are none.
func (s *podState) candidates() (*fwk.PreFilterResult, *fwk.Status) {
	if len(s.limits) == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	// Filter reports the first dataset that is missing. Scarcest first makes that the one missing on most nodes.
	slices.SortStableFunc(s.limits, func(a, b limit) int { return cmp.Compare(a.reach.Places(), b.reach.Places()) })
	var names sets.Set[string]
	for _, l := range s.limits {
		nodes, listed := l.reach.Nodes()
		if l.farthest > 0 || !listed {
			continue
		}
		if names == nil {
			names = sets.KeySet(nodes)
		} else {
			names = names.Intersection(sets.KeySet(nodes))
		}
	}
	if names == nil {
		return nil, nil
	}
	if len(names) == 0 {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(
			"no node holds all required datasets; %q is missing on most nodes", s.limits[0].reach.Key))
	}
	return &fwk.PreFilterResult{NodeNames: names}, nil
}

// PreFilterExtensions returns nil: other pods do not change where datasets are.
func (pl *CacheAware) PreFilterExtensions() fwk.PreFilterExtensions { return nil }
