package report

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Stalled is how long all pods together waited for their data and for overloaded disks; false if nothing of that was
// simulated.
func (r *Run) Stalled() (sum time.Duration, found bool) {
	for i := range r.Placements {
		p := &r.Placements[i]
		sum += p.StageIn + p.Stalled
		found = found || len(r.Pods[p.Pod].Datasets) > 0 || r.Pods[p.Pod].DiskBytesPerSecond > 0
	}
	return sum, found
}

// AcrossRacks is how many bytes of datasets came from another rack, another zone or the store; false if no pod reads any.
func (r *Run) AcrossRacks() (sum int64, found bool) {
	for i := range r.Placements {
		p := &r.Placements[i]
		for distance, fetched := range p.Fetched {
			if model.Distance(distance) > model.SameRack {
				sum += fetched
			}
		}
		found = found || len(r.Pods[p.Pod].Datasets) > 0
	}
	return sum, found
}

// peerRTT is the mean over pods in microseconds.
func peerRTT(r *Run) (float64, bool) {
	var sum time.Duration
	pods := 0
	for i := range r.Placements {
		if p := &r.Placements[i]; p.HasPeerRTT {
			sum += p.PeerRTT
			pods++
		}
	}
	if pods == 0 {
		return 0, false
	}
	return float64(sum.Microseconds()) / float64(pods), true
}

func restarts(r *Run) (float64, bool) {
	sum := 0
	for i := range r.Placements {
		sum += r.Placements[i].Restarts
	}
	return float64(sum), sum > 0
}
