package diskstats

import (
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

// maxPods is how many pods a NodeDiskIOStats takes; no node runs as many.
const maxPods = 4096

// usage is what a disk did on average over the window.
type usage struct {
	read, write flow
	// busy is the share of time, 0 to 1, in which at least one operation was under way.
	busy float64
}

// flow is one direction of usage.
type flow struct {
	bytes      float64 // per second
	operations float64 // per second
	wait       float64 // seconds, mean of the operations that ended; 0 if none did
}

// sample is what the counters were at a time.
type sample struct {
	at       time.Time
	counters map[string]hostdisk.Counters                     // by the name of the device
	pods     map[string]map[hostdisk.Number]hostdisk.Counters // by UID
}

// window keeps the latest samples.
type window struct {
	samples []sample
	size    int
}

// add takes in a sample and forgets those that are too old.
func (w *window) add(s sample) {
	if len(w.samples) > w.size { // size steps are between size+1 samples
		w.samples = append(w.samples[:0], w.samples[1:]...)
	}
	w.samples = append(w.samples, s)
}

// ready tells whether there is enough for a first report.
func (w *window) ready() bool { return len(w.samples) > max(1, w.size/2) }

// usage returns the mean of every device that is there now and was before. Only steps count in which all counters went
// forward.
func (w *window) usage() map[string]usage {
	if len(w.samples) == 0 {
		return nil
	}
	found := map[string]usage{}
	for name := range w.samples[len(w.samples)-1].counters {
		var sum hostdisk.Counters
		var elapsed time.Duration
		for i := 1; i < len(w.samples); i++ {
			before, known := w.samples[i-1].counters[name]
			after, still := w.samples[i].counters[name]
			step := w.samples[i].at.Sub(w.samples[i-1].at)
			if known && still && step > 0 && forward(before, after) {
				sum = plus(sum, before, after)
				elapsed += step
			}
		}
		if elapsed > 0 {
			found[name] = mean(sum, elapsed)
		}
	}
	return found
}

// seen returns the pods whose use the window contains, ordered: those that are there and have been for half of it.
func (w *window) seen() []string {
	if len(w.samples) == 0 {
		return nil
	}
	var found []string
	half, last := w.samples[(len(w.samples)-1)/2], w.samples[len(w.samples)-1]
	for uid := range last.pods {
		if _, before := half.pods[uid]; before && len(found) < maxPods {
			found = append(found, uid)
		}
	}
	slices.Sort(found)
	return found
}

// podUsage returns what all pods did together with each device, by its name. Steps count as in usage.
func (w *window) podUsage() map[string]usage {
	sums := map[hostdisk.Number]hostdisk.Counters{}
	var elapsed time.Duration
	for i := 1; i < len(w.samples); i++ {
		step := w.samples[i].at.Sub(w.samples[i-1].at)
		if step <= 0 {
			continue
		}
		elapsed += step
		for uid, devices := range w.samples[i].pods {
			for number, after := range devices {
				if before, known := w.samples[i-1].pods[uid][number]; known && forward(before, after) {
					sums[number] = plus(sums[number], before, after)
				}
			}
		}
	}
	found := map[string]usage{}
	if elapsed == 0 {
		return found
	}
	for name, counters := range w.samples[len(w.samples)-1].counters {
		if sum, ok := sums[counters.Number]; ok {
			found[name] = mean(sum, elapsed)
		}
	}
	return found
}

func forward(before, after hostdisk.Counters) bool {
	ahead := func(a, b hostdisk.Transfers) bool {
		return b.Bytes >= a.Bytes && b.Operations >= a.Operations && b.Waited >= a.Waited
	}
	return ahead(before.Read, after.Read) && ahead(before.Write, after.Write) && after.Busy >= before.Busy
}

// plus adds the difference of two samples to a sum.
func plus(sum, before, after hostdisk.Counters) hostdisk.Counters {
	add := func(s *hostdisk.Transfers, a, b hostdisk.Transfers) {
		s.Bytes += b.Bytes - a.Bytes
		s.Operations += b.Operations - a.Operations
		s.Waited += b.Waited - a.Waited
	}
	add(&sum.Read, before.Read, after.Read)
	add(&sum.Write, before.Write, after.Write)
	sum.Busy += after.Busy - before.Busy
	return sum
}

func mean(sum hostdisk.Counters, elapsed time.Duration) usage {
	of := func(t hostdisk.Transfers) flow {
		f := flow{bytes: float64(t.Bytes) / elapsed.Seconds(), operations: float64(t.Operations) / elapsed.Seconds()}
		if t.Operations > 0 {
			f.wait = t.Waited.Seconds() / float64(t.Operations)
		}
		return f
	}
	return usage{read: of(sum.Read), write: of(sum.Write), busy: min(1, float64(sum.Busy)/float64(elapsed))}
}
