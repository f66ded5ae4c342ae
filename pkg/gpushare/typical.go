package gpushare

import (
	"cmp"
	"slices"
)

// Popularity chooses the typical pods of a workload.
type Popularity struct {
	// Threshold is the percentage of all pods that typical ones make up at least, 1..100.
	Threshold int
	// Step is the number of classes that are taken at a time, at least 1.
	Step int
	// GPUWeight lets a pod with whole GPUs count 1 + GPUs x GPUWeight times; 0 counts all alike.
	GPUWeight float64
	// IncludeCPUPods counts pods without GPUs, too.
	IncludeCPUPods bool
}

// Typical are the most frequent classes of the pods that together reach the threshold, with frequencies among
// themselves. The order, by falling count and then by falling CPU, share, devices and models, is the predecessor's: it
// decides which of equally frequent classes are taken, and the order of floating point sums.
func Typical(pods []Class, p Popularity) []TypicalPod {
	counts := map[Class]float64{}
	total := 0.0
	for i := range pods {
		if pods[i].GPUs == 0 && !p.IncludeCPUPods {
			continue
		}
		count := 1.0
		if p.GPUWeight > 0 && pods[i].GPUMilli == wholeGPU {
			count += float64(pods[i].GPUs) * p.GPUWeight
		}
		counts[pods[i]] += count
		total += count
	}
	all := make([]TypicalPod, 0, len(counts))
	for class, count := range counts {
		all = append(all, TypicalPod{Class: class, Frequency: count})
	}
	slices.SortFunc(all, func(a, b TypicalPod) int {
		return cmp.Or(cmp.Compare(b.Frequency, a.Frequency), cmp.Compare(b.CPUMilli, a.CPUMilli),
			cmp.Compare(b.GPUMilli, a.GPUMilli), cmp.Compare(b.GPUs, a.GPUs), cmp.Compare(b.Models, a.Models))
	})
	return normalise(popular(all, p, total), total)
}

// popular cuts the list where the threshold is reached.
func popular(all []TypicalPod, p Popularity, total float64) []TypicalPod {
	step := max(p.Step, 1)
	taken, sum := 0, 0.0
	for taken < len(all) && sum < float64(p.Threshold)/100*total {
		end := min(taken+step, len(all))
		for ; taken < end; taken++ {
			sum += all[taken].Frequency
		}
	}
	return all[:taken]
}

// normalise turns counts into frequencies that sum up to 1: the share of all pods, over what the typical ones cover.
// Dividing by their sum at once would be the same but for the last bit, and that bit decides ties in the predecessor's
// results: a placement that changes no fragment scores 50, or 49 after rounding.
func normalise(typical []TypicalPod, total float64) []TypicalPod {
	sum := 0.0
	for i := range typical {
		sum += typical[i].Frequency
	}
	for i := range typical {
		typical[i].Frequency = typical[i].Frequency / total / (sum / total)
	}
	return slices.Clip(typical)
}
