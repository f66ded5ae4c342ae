package main

import (
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
)

// predecessorTime is how convert.py of scheduler-sniffer writes times.
const predecessorTime = "2006-01-02 15:04:05.000000"

// podTime is a pod in pod-times.json. What is not known is left out.
type podTime struct {
	Start        string `json:"start,omitempty"`
	End          string `json:"end,omitempty"`
	PostStart    string `json:"post_start,omitempty"`
	ScheduleTime string `json:"schedule_time,omitempty"`
}

// podTimes is pod-times.json. A name that several pods have had is followed by the UID, which the predecessor, having none,
// gives up at.
func podTimes(pods []api.Pod) map[string]podTime {
	named := map[string]int{}
	for i := range pods {
		named[pods[i].Name]++
	}
	out := make(map[string]podTime, len(pods))
	for i := range pods {
		pod := &pods[i]
		key := pod.Name
		if named[key] > 1 {
			key = pod.Namespace + "/" + pod.Name + "/" + pod.UID
		}
		out[key] = podTime{
			Start: predecessors(pod.Bound), End: predecessors(pod.Ended), PostStart: predecessors(pod.Started), ScheduleTime: predecessors(pod.Decided),
		}
	}
	return out
}

func predecessors(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(predecessorTime)
}

// nodePlot is an element of nodes.json.
type nodePlot struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Data  struct {
		ChartOptions struct{} `json:"chart_options"`
		Values       struct {
			// Data are [interval, node, pods].
			Data [][3]int `json:"data"`
		} `json:"values"`
	} `json:"data"`
}

// nodePlots is nodes.json, of one plot. Nodes are numbered in the order of their names. The intervals are of equal length,
// from the first pod's start to the last one's end; a pod is in those that it was on its node throughout: t(i) after its
// start, and t(i+1) not after its end.
func nodePlots(pods []api.Pod, title string, intervals int) []nodePlot {
	plot := nodePlot{ID: title, Title: title}
	plot.Data.Values.Data = [][3]int{}
	var whole []api.Pod
	var nodes []string
	var first, last time.Time
	for i := range pods {
		pod := pods[i]
		if pod.Bound.IsZero() || pod.Ended.IsZero() {
			continue
		}
		if len(whole) == 0 || pod.Bound.Before(first) {
			first = pod.Bound
		}
		if pod.Ended.After(last) {
			last = pod.Ended
		}
		whole, nodes = append(whole, pod), append(nodes, pod.Node)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	at := func(i int) time.Time { return first.Add(last.Sub(first) * time.Duration(i) / time.Duration(intervals)) }
	for i := range intervals {
		counts := make([]int, len(nodes))
		for j := range whole {
			if whole[j].Bound.Before(at(i)) && !whole[j].Ended.Before(at(i+1)) {
				node, _ := slices.BinarySearch(nodes, whole[j].Node)
				counts[node]++
			}
		}
		for node, count := range counts {
			plot.Data.Values.Data = append(plot.Data.Values.Data, [3]int{i, node, count})
		}
	}
	return []nodePlot{plot}
}
