package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Keys of the predecessor's plugin arguments.
const (
	dimExtKey = "dimExtMethod"
	normKey   = "normMethod"
	deviceKey = "gpuSelMethod"
)

// methods are the arguments of the predecessor's plugins.
type methods struct {
	DimExt string `json:"dimExtMethod"`
	Norm   string `json:"normMethod"`
	Device string `json:"gpuSelMethod"`
}

// methodsOf reads arguments that kube-scheduler's scheme does not know. Those of unknown names were warned about where
// the configuration was read.
func methodsOf(args runtime.Object) (methods, error) {
	var m methods
	unknown, ok := args.(*runtime.Unknown)
	if !ok || unknown == nil || len(unknown.Raw) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(unknown.Raw, &m); err != nil {
		return m, fmt.Errorf("expected %s, %s and %s: %w", dimExtKey, normKey, deviceKey, err)
	}
	return m, nil
}

// gpuShare is Open-Gpu-Share: the filter by GPUs, and the choice of devices once a node is chosen.
type gpuShare struct{ s *Scheduler }

var (
	_ fwk.FilterPlugin      = gpuShare{}
	_ fwk.EnqueueExtensions = gpuShare{}
)

// Name returns the plugin's name.
func (gpuShare) Name() string { return GPUShare }

// EventsToRegister is empty: the engine knows itself when to try a pod again.
func (gpuShare) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}

// Filter refuses nodes whose devices have no room, and all else that the engine's books would refuse.
func (g gpuShare) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	at, err := g.s.nodeOf(node)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if g.s.now.pod == nil || g.s.now.object.UID != pod.UID {
		return nil // a pod that is not being decided on has its devices already
	}
	if lack := g.s.setup.State.Lack(at, &g.s.now.wish); lack != "" {
		return fwk.NewStatus(fwk.Unschedulable, lack)
	}
	return nil
}

// scorer is one of the predecessor's score plugins.
type scorer struct {
	s      *Scheduler
	name   string
	native *policy.Native
}

var (
	_ fwk.PreScorePlugin = (*scorer)(nil)
	_ fwk.ScorePlugin    = (*scorer)(nil)
)

// ratings are a plugin's scores of the feasible nodes, by node.
type ratings []int64

// Clone shares them: nobody changes them.
func (r ratings) Clone() fwk.StateData { return r }

// newScorer makes the plugin's native form with the profile's arguments.
func newScorer(s *Scheduler, name string, args runtime.Object) (*scorer, error) {
	m, err := methodsOf(args)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", name, err)
	}
	native, err := policy.New(&policy.Config{
		Scorers: []policy.Scorer{{Name: name, Weight: 1, DimExt: m.DimExt, Norm: m.Norm}},
	}, s.setup)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", name, err)
	}
	return &scorer{s: s, name: name, native: native}, nil
}

// Name returns the plugin's name.
func (p *scorer) Name() string { return p.name }

func (p *scorer) key() fwk.StateKey { return fwk.StateKey("Simulated/" + p.name) }

// PreScore rates all feasible nodes at once, in the experiment's order: a policy that draws must see them so, and their
// scores are kept from one pod to the next where nothing has changed.
func (p *scorer) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	feasible := make([]int, 0, len(nodes))
	for _, node := range nodes {
		at, err := p.s.nodeOf(node)
		if err != nil {
			return fwk.AsStatus(err)
		}
		feasible = append(feasible, at)
	}
	slices.Sort(feasible)
	rated := make(ratings, len(p.s.setup.Cluster.Nodes))
	for i, score := range p.native.Rate(p.s.now.pod, feasible) {
		rated[feasible[i]] = score
	}
	state.Write(p.key(), rated)
	return nil
}

// Score is what PreScore has found. The plugin rates nothing where it prepares nothing, rather than fail every pod.
func (p *scorer) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(p.key())
	if errors.Is(err, fwk.ErrNotFound) {
		return 0, fwk.AsStatus(fmt.Errorf("plugin %s scores but is not enabled at preScore: enable it there, too, or at multiPoint", p.name))
	}
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	rated, ok := data.(ratings)
	if !ok {
		return 0, fwk.AsStatus(fmt.Errorf("expected ratings of plugin %s, found %T", p.name, data))
	}
	at, err := p.s.nodeOf(node)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	return rated[at], nil
}

// ScoreExtensions is nil: ratings are in kube-scheduler's range already.
func (*scorer) ScoreExtensions() fwk.ScoreExtensions { return nil }

// newDevices makes the choice of devices from the arguments of Open-Gpu-Share. A dot product's own arguments come first,
// as on the native engine.
func newDevices(setup *engine.Setup, m methods, dot *methods) (*policy.Native, error) {
	c := policy.Config{
		Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1}}, Device: policy.DeviceMethod(m.Device),
		DeviceDimExt: m.DimExt, DeviceNorm: m.Norm,
	}
	if dot != nil {
		c.DeviceDimExt, c.DeviceNorm = dot.DimExt, dot.Norm
	}
	native, err := policy.New(&c, setup)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", GPUShare, err)
	}
	return native, nil
}
