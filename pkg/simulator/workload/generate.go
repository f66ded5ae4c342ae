package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Shape describes clusters and workloads that can be generated.
type Shape struct {
	Nodes []NodeGroup
	Pods  []PodGroup
	// Durations are points of the distribution of how long pods run, by rising share.
	Durations []Quantile
	// Horizon is the time over which pods arrive, evenly.
	Horizon time.Duration
}

// NodeGroup is a number of equal nodes.
type NodeGroup struct {
	Count int
	Model string
	GPUs  int
	Cores int64
	GiB   int64
}

// PodGroup is a number of pods that ask for as many GPUs.
type PodGroup struct {
	Count int
	// Kind names the pods: "<kind>-<number>".
	Kind string
	GPUs int
	// CPUMilli, MiBPerCore and GPUMilli are drawn independently. GPUMilli is for shares only; pods with whole GPUs
	// leave it empty.
	CPUMilli, MiBPerCore, GPUMilli []Weighted
}

// Weighted is a value and how often it occurs, relative to the others.
type Weighted struct {
	Value  int64
	Weight int
}

// Quantile says that the given share of all pods runs at most this long.
type Quantile struct {
	Share  float64
	Length time.Duration
}

// Published has the shape of the trace in Weng et al. (ATC 2023): the same nodes, the same number of pods of each kind,
// and requests and run times distributed alike, with rounded values. Together its pods ask for about 98 % of its GPUs.
// No line of the trace is in it.
func Published() *Shape {
	return &Shape{
		Nodes: []NodeGroup{
			{549, "G2", 8, 96, 384},
			{387, "T4", 2, 104, 512},
			{17, "T4", 4, 96, 384},
			{39, "G3", 8, 128, 768},
			{109, "P100", 2, 16, 120},
			{22, "P100", 2, 64, 256},
			{3, "P100", 1, 8, 60},
			{21, "V100M32", 8, 96, 768},
			{9, "V100M32", 4, 48, 368},
			{8, "V100M16", 8, 64, 256},
			{28, "V100M16", 4, 32, 128},
			{19, "V100M16", 1, 8, 32},
			{2, "A10", 1, 128, 1024},
		},
		Pods:      publishedPods(),
		Durations: publishedDurations(),
		Horizon:   30 * 24 * time.Hour,
	}
}

func publishedPods() []PodGroup {
	const core = 1000
	memory := []Weighted{{1536, 10}, {1792, 25}, {2048, 15}, {4096, 35}, {4352, 10}, {6144, 5}}
	return []PodGroup{
		{
			Count: 1088, Kind: "cpu", MiBPerCore: memory,
			CPUMilli: []Weighted{{8 * core, 18}, {12.5 * core, 36}, {15.5 * core, 11}, {16.5 * core, 9}, {32 * core, 26}},
		},
		{
			Count: 3078, Kind: "share", GPUs: 1, MiBPerCore: memory,
			CPUMilli: []Weighted{{3 * core, 37}, {4 * core, 21}, {6 * core, 5}, {8 * core, 16}, {12 * core, 21}},
			GPUMilli: []Weighted{
				{50, 1}, {160, 3}, {230, 7}, {320, 11}, {370, 2}, {470, 28}, {570, 5}, {650, 8}, {810, 35},
			},
		},
		{
			Count: 3911, Kind: "one", GPUs: 1, MiBPerCore: memory,
			CPUMilli: []Weighted{
				{3 * core, 12},
				{4 * core, 4},
				{8 * core, 6},
				{10 * core, 6},
				{11.5 * core, 44},
				{12 * core, 9},
				{16 * core, 11},
				{19 * core, 8},
			},
		},
		{Count: 16, Kind: "two", GPUs: 2, MiBPerCore: memory, CPUMilli: []Weighted{{6 * core, 2}, {16 * core, 4}, {30 * core, 2}}},
		{Count: 15, Kind: "four", GPUs: 4, MiBPerCore: memory, CPUMilli: []Weighted{{32 * core, 4}, {60 * core, 1}}},
		{Count: 44, Kind: "eight", GPUs: 8, MiBPerCore: []Weighted{{4096, 1}}, CPUMilli: []Weighted{{64 * core, 1}, {88 * core, 1}}},
	}
}

// publishedDurations are those of the trace: half of all pods run for nine minutes, one in a hundred for a day.
func publishedDurations() []Quantile {
	return []Quantile{
		{0, 10 * time.Second},
		{0.10, 80 * time.Second},
		{0.50, 540 * time.Second},
		{0.90, 6574 * time.Second},
		{0.99, 99719 * time.Second},
		{1, 14 * 24 * time.Hour},
	}
}

// Generate makes a cluster and pods of the shape. scale multiplies the number of nodes and pods of each group, 1 being
// as many as the shape says; a group that is not empty keeps at least one. The same seed gives the same.
func (s *Shape) Generate(scale float64, seed uint64) (*model.Cluster, []model.Pod, error) {
	if err := s.validate(scale); err != nil {
		return nil, nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0x6f70656e62))
	cluster := &model.Cluster{}
	for _, g := range s.Nodes {
		for range scaled(g.Count, scale) {
			cluster.Nodes = append(cluster.Nodes, model.Node{
				Name: fmt.Sprintf("node-%05d", len(cluster.Nodes)), CPUMilli: 1000 * g.Cores, MemoryBytes: g.GiB << 30,
				GPUs: g.GPUs, GPUModel: g.Model,
			})
		}
	}
	var pods []model.Pod
	for i := range s.Pods {
		for number := range scaled(s.Pods[i].Count, scale) {
			pods = append(pods, s.pod(&s.Pods[i], number, random))
		}
	}
	slices.SortStableFunc(pods, func(a, b model.Pod) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return cluster, pods, nil
}

func scaled(count int, scale float64) int {
	if count == 0 {
		return 0
	}
	return max(int(math.Round(float64(count)*scale)), 1)
}

func (s *Shape) pod(g *PodGroup, number int, random *rand.Rand) model.Pod {
	pod := model.Pod{
		Namespace: "generated", Name: fmt.Sprintf("%s-%05d", g.Kind, number), GPUs: g.GPUs, CPUMilli: draw(g.CPUMilli, random),
	}
	pod.MemoryBytes = pod.CPUMilli * draw(g.MiBPerCore, random) / 1000 << 20
	if g.GPUs > 0 {
		pod.GPUMilli = model.GPUMilli
	}
	if len(g.GPUMilli) > 0 {
		pod.GPUMilli = int(draw(g.GPUMilli, random))
	}
	// A pod at 0 with no end would count as one without times.
	pod.Arrival = max(time.Duration(random.Float64()*float64(s.Horizon)).Round(time.Second), time.Second)
	pod.Departure = pod.Arrival + s.length(random.Float64())
	return pod
}

// draw chooses a value by weight.
func draw(values []Weighted, random *rand.Rand) int64 {
	total := 0
	for _, v := range values {
		total += v.Weight
	}
	at := random.IntN(total)
	for _, v := range values {
		if at < v.Weight {
			return v.Value
		}
		at -= v.Weight
	}
	return values[0].Value
}

// length is the run time of the pod at a share of all pods: between two points its logarithm rises evenly.
func (s *Shape) length(share float64) time.Duration {
	for i := 1; i < len(s.Durations); i++ {
		from, to := s.Durations[i-1], s.Durations[i]
		if share <= to.Share {
			part := (share - from.Share) / (to.Share - from.Share)
			low, high := math.Log(from.Length.Seconds()), math.Log(to.Length.Seconds())
			return time.Duration(math.Exp(low+part*(high-low)) * float64(time.Second)).Round(time.Second)
		}
	}
	return s.Durations[len(s.Durations)-1].Length
}

// maxScale bounds what is generated.
const maxScale = 1000

func (s *Shape) validate(scale float64) error {
	if !(scale > 0 && scale <= maxScale) {
		return fmt.Errorf("scale %v: expected more than 0 and at most %d", scale, maxScale)
	}
	if len(s.Durations) < 2 || s.Durations[0].Share != 0 || s.Durations[len(s.Durations)-1].Share != 1 {
		return errors.New("durations: expected points from share 0 to share 1")
	}
	for i, d := range s.Durations {
		if d.Length <= 0 || (i > 0 && d.Share <= s.Durations[i-1].Share) {
			return fmt.Errorf("durations: point %d: expected a length above 0 and a larger share than before", i)
		}
	}
	return s.validatePods()
}

func (s *Shape) validatePods() error {
	for i := range s.Pods {
		g := &s.Pods[i]
		for _, values := range [][]Weighted{g.CPUMilli, g.MiBPerCore} {
			if err := validWeights(values); err != nil {
				return fmt.Errorf("pods %s: %w", g.Kind, err)
			}
		}
		if len(g.GPUMilli) > 0 {
			if err := validWeights(g.GPUMilli); err != nil {
				return fmt.Errorf("pods %s: %w", g.Kind, err)
			}
		}
	}
	return nil
}

func validWeights(values []Weighted) error {
	total := 0
	for _, v := range values {
		if v.Weight < 0 || v.Value < 0 {
			return fmt.Errorf("value %d with weight %d: expected neither below 0", v.Value, v.Weight)
		}
		total += v.Weight
	}
	if total == 0 {
		return errors.New("values without weight: expected CPU and memory to draw from")
	}
	return nil
}
