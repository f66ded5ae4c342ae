package engine

import (
	"math"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// job is a pod at work.
type job struct {
	// left is the work still to do, as time at full speed, at the time since; speed is that from then on.
	left  time.Duration
	since time.Duration
	speed float64
	// version tells the departure that holds from those that a change of speed has made void.
	version int
	ends    bool
}

// begin starts the pod's work on its node. The data that it reads comes first, and counts as work: it is written to
// the same disk.
func (e *Engine) begin(pod, node int, next event) {
	spec, placement := &e.pods[pod], &e.placements[pod]
	length := spec.Departure - spec.Arrival
	if e.setup.World != nil {
		placement.StageIn, placement.Fetched = e.setup.World.Fetch(spec, node)
		placement.PeerRTT, placement.HasPeerRTT = e.setup.World.PeerRTT(spec, node)
		e.setup.World.Place(spec, node)
		e.onNode[node] = append(e.onNode[node], pod)
		length += placement.StageIn
	}
	if !e.queue.RunFullLength || spec.Departure == 0 {
		return
	}
	e.jobs[pod] = job{left: length, since: e.now, speed: 1, version: e.jobs[pod].version + 1, ends: true}
	e.events.push(event{at: e.now + length, kind: departure, pod: pod, index: next.index, version: e.jobs[pod].version})
	e.pace(node)
}

// end stops the pod's work on its node, done or not.
func (e *Engine) end(pod, node int) {
	if e.jobs[pod].ends {
		e.progress(pod)
		e.jobs[pod].version++
		e.jobs[pod].ends = false
	}
	if e.setup.World == nil {
		return
	}
	e.setup.World.Remove(&e.pods[pod], node)
	e.onNode[node] = slices.DeleteFunc(e.onNode[node], func(other int) bool { return other == pod })
	e.pace(node)
}

// pace gives the pods of a node the speed that its disk allows. What one of them asks for changes all of them.
func (e *Engine) pace(node int) {
	if e.setup.World == nil {
		return
	}
	speed := e.setup.World.Speed(node)
	for _, pod := range e.onNode[node] {
		j := &e.jobs[pod]
		if !j.ends || e.pods[pod].DiskBytesPerSecond == 0 || j.speed == speed {
			continue
		}
		e.progress(pod)
		j.speed = speed
		j.version++
		e.events.push(event{
			at: laterBy(e.now, float64(j.left)/speed), kind: departure, pod: pod, index: e.events.arrivals[pod], version: j.version,
		})
	}
}

// progress counts the work done since the last change, and the time that an overloaded disk has cost.
func (e *Engine) progress(pod int) {
	j := &e.jobs[pod]
	if !j.ends {
		return
	}
	passed := e.now - j.since
	done := time.Duration(float64(passed) * j.speed)
	j.left = max(j.left-done, 0)
	j.since = e.now
	e.placements[pod].Stalled += passed - done
}

// laterBy is a time that much later, at most the last one that there is.
func laterBy(now time.Duration, by float64) time.Duration {
	if by >= float64(math.MaxInt64-now) {
		return math.MaxInt64
	}
	return now + time.Duration(by)
}

// void says whether the departure is out of date.
func (e *Engine) void(next event) bool { return e.jobs[next.pod].version != next.version }

// grow makes room for the jobs of further pods.
func (e *Engine) grow(first int) {
	e.jobs = append(e.jobs[:first], make([]job, len(e.pods)-first)...)
	if e.setup.World == nil {
		return
	}
	if e.onNode == nil {
		e.onNode = make([][]int, len(e.setup.Cluster.Nodes))
	}
	for i := first; i < len(e.pods); i++ {
		e.setup.World.Follow(&e.pods[i])
	}
}

// checkWorld refuses pods that need what there is not.
func (e *Engine) checkWorld(pods []model.Pod) error {
	if e.setup.World == nil {
		return nil
	}
	for i := range pods {
		if err := e.setup.World.Check(&pods[i]); err != nil {
			return err
		}
	}
	return nil
}
