package policy

import (
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// Names of the score policies, as in the predecessor's scheduler configurations.
const (
	Random        = "RandomScore"
	BestFit       = "BestFitScore"
	DotProduct    = "DotProductScore"
	GPUPacking    = "GpuPackingScore"
	GPUClustering = "GpuClusteringScore"
	FGD           = "FGDScore"
	Simon         = "Simon"
	MLP           = "MLPScore"
)

// DeviceMethod chooses the device of a pod that takes a share of one.
type DeviceMethod string

// The device methods. Besides, the name of a score policy that rates devices (FGD, DotProduct, MLP) is one.
const (
	DeviceBest   DeviceMethod = "best"
	DeviceWorst  DeviceMethod = "worst"
	DeviceRandom DeviceMethod = "random"
)

// TieBreak chooses among the nodes with the highest score.
type TieBreak string

const (
	// TieFirstByName takes the first node in the order of the experiment's permutation, as the predecessor's patched
	// kube-scheduler does: it compares names, and names begin with a random number.
	TieFirstByName TieBreak = "firstByName"
	// TieRandom takes any of them with equal probability, as kube-scheduler does.
	TieRandom TieBreak = "random"
)

// Scorer is one weighted term of the score.
type Scorer struct {
	// Name is one of the score policies.
	Name string
	// Weight multiplies the policy's 0..100.
	Weight int64
	// DimExt is how a node's GPUs become vectors (merge, share, divide, extend); DotProduct only. Default: share.
	DimExt string
	// Norm is what the vectors are divided by (node, pod, max); DotProduct only. Default: max.
	Norm string
}

// Config is a native policy.
type Config struct {
	// Name is shown in reports; default: the scorers' names joined by "+".
	Name string
	// Scorers are summed with their weights.
	Scorers []Scorer
	// Device is how a shared device is chosen. Default: best.
	Device DeviceMethod
	// DeviceDimExt and DeviceNorm are for Device = DotProduct without such a scorer.
	DeviceDimExt, DeviceNorm string
	// TieBreak is how equal scores are resolved. Default: firstByName.
	TieBreak TieBreak
	// Network scores nodes and devices where MLP is named. It is shared: networks are safe for concurrent use.
	Network *mlp.Network
	// Seen learns the range of all vectors that the network scores. It belongs to one run. May be nil.
	Seen *feature.Range
}

// Title is the policy's name in reports.
func (c *Config) Title() string {
	if c.Name != "" {
		return c.Name
	}
	names := make([]string, 0, len(c.Scorers))
	for i := range c.Scorers {
		names = append(names, c.Scorers[i].Name)
	}
	return strings.Join(names, "+")
}
