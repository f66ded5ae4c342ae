package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// hostileName is a name that the API server would refuse; a service must not rely on that.
const hostileName = `<img src=x onerror="window.injected=1">`

func hostileQuery() string { return url.QueryEscape(hostileName) }

func nodeName(n int) string { return "node-" + strconv.Itoa(n) }

// fill stores decisions of the hour before now: jobs of four pods each that run for some minutes, one in twelve pods
// unschedulable at first, and a few that stay so.
func fill(tb testing.TB, s *store.Store, now time.Time, nodes, decisions int) {
	tb.Helper()
	random := rand.New(rand.NewPCG(4, 2))
	var batch []store.Decision
	var pods []store.Pod
	flush := func() {
		_, err := s.SaveDecisions(tb.Context(), now, batch)
		must(tb, err)
		must(tb, s.SavePods(tb.Context(), pods))
		batch, pods = batch[:0], pods[:0]
	}
	step := time.Hour / time.Duration(decisions)
	for n := 1; n <= decisions; n++ {
		// Work comes in waves.
		at := now.Add(-time.Hour + time.Duration(n)*step)
		r := decision(random, n, nodes, at)
		batch = append(batch, storetest.Decision(tb, r))
		if r.Outcome == trace.OutcomeBound {
			ran := time.Duration(60+random.IntN(600)) * time.Second
			pod := store.Pod{UID: r.Pod.UID, Namespace: r.Pod.Namespace, Name: r.Pod.Name, Started: r.End.Add(time.Second), Phase: "Running"}
			if end := r.End.Add(ran); end.Before(now) {
				pod.Ended, pod.Phase = end, "Succeeded"
			}
			pods = append(pods, pod)
		}
		if len(batch) == 500 {
			flush()
		}
	}
	hostile := decision(random, decisions+1, nodes, now.Add(-2*time.Second))
	hostile.Pod.Name, hostile.Outcome, hostile.Node = hostileName, trace.OutcomeUnschedulable, ""
	hostile.Rejections = []trace.Rejection{{Plugin: "DiskIO", Reason: hostileName, Stage: "Filter", Nodes: nodes, Sample: []string{hostileName}}}
	batch = append(batch, storetest.Decision(tb, hostile), storetest.Decision(tb, full(random, decisions+2, nodes, now.Add(-time.Second))))
	flush()
	must(tb, s.SaveNodes(tb.Context(), nodesOf(nodes, now.Add(-2*time.Hour))))
}

func nodesOf(n int, added time.Time) []store.Node {
	out := make([]store.Node, n)
	for i := range out {
		out[i] = store.Node{UID: nodeName(i), Name: nodeName(i), Ready: true, Added: added}
	}
	return out
}

func decision(random *rand.Rand, n, nodes int, at time.Time) *trace.Record {
	r := storetest.Bound("browser", n)
	reasons := [][2]string{
		{"NodeResourcesFit", "Insufficient cpu"}, {"EdgeDelay", "no node within 5 ms of workload db"}, {"DiskIO", "disk nvme0n1 has 120Mi/s free, 900Mi/s are asked for"},
		{"CacheAware", "dataset images is cached on no usable node"},
	}
	if n%12 == 0 {
		reason := reasons[random.IntN(len(reasons))]
		r = storetest.Unschedulable("browser", n, reason[0], reason[1])
		r.Rejections[0].Nodes = nodes - nodes/10
		r.Rejections[1].Nodes = nodes / 10
		r.Message = fmt.Sprintf("0/%d nodes are available", nodes)
		r.Nodes = trace.NodeCounts{Total: nodes, Rejected: nodes}
		if n%60 != 0 { // the next record is of the same pod's next attempt
			r.Pod = storetest.Bound("browser", n+1).Pod
		}
	} else {
		spread := min(nodes, 3+int(float64(nodes)*(0.3+0.7*random.Float64())))
		r.Node = nodeName((n/4*7 + random.IntN(3)) % spread)
		r.Nodes = trace.NodeCounts{Total: nodes, Rejected: nodes / 3, Feasible: nodes - nodes/3}
		r.Rejections[0].Nodes = nodes / 3
		r.Scores.Top[0].Node = r.Node
		for i := 1; i < len(r.Scores.Top); i++ {
			// Those that are not rejected in full either: multiples of 3 are.
			if r.Scores.Top[i].Node = nodeName((n+11*i)%nodes/3*3 + 1); r.Scores.Top[i].Node == r.Node {
				r.Scores.Top[i].Node = nodeName(2)
			}
		}
		r.Scores.RunnerUp, r.Scores.Margin = r.Scores.Top[1].Node, r.Scores.Top[0].Total-r.Scores.Top[1].Total
	}
	if n%12 == 1 {
		r.Attempt = 2
	}
	took := time.Duration(2+random.ExpFloat64()*4) * time.Millisecond
	r.Start, r.End, r.QueueWait = at, at.Add(took), time.Duration(random.ExpFloat64()*float64(30*time.Millisecond))
	return r
}

// full is a record with the verdict on every node.
func full(random *rand.Rand, n, nodes int, at time.Time) *trace.Record {
	r := decision(random, 12*n+5, nodes, at)
	r.Sequence, r.Pod.Name = uint64(n), "full"
	for i := range nodes {
		v := trace.NodeVerdict{Node: nodeName(i), Verdict: trace.VerdictFeasible, Total: int64(1000 + i%97), Weighted: []int64{500, 400, int64(100 + i%97)}, Raw: []int64{50, 40, int64(100 + i%97)}}
		if i%3 == 0 {
			v = trace.NodeVerdict{Node: nodeName(i), Verdict: trace.VerdictRejected, Plugin: "NodeResourcesFit", Reason: "Insufficient cpu"}
		}
		r.Matrix = append(r.Matrix, v)
	}
	return r
}
