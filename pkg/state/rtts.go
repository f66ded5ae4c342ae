package state

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

const (
	rttsResource = "noderrts"
	// refineInterval and refineObservations bound what embedding nodes costs: 20,000 observations take some 30 ms.
	refineInterval     = 250 * time.Millisecond
	refineObservations = 20_000
)

// rtts puts the NodeRTT objects into a matrix of round-trip times.
type rtts struct {
	malformed *prometheus.CounterVec
	store     *delay.Store
	clock     clock.PassiveClock
}

func newRTTs(malformed *prometheus.CounterVec) *rtts {
	return &rtts{malformed: malformed, store: delay.NewStore(), clock: clock.RealClock{}}
}

func (r *rtts) resources() []optionalResource {
	return []optionalResource{{
		resource: vicinityv1alpha1.GroupVersion().WithResource(rttsResource),
		set:      r.set,
		remove:   func(_, name string) { r.remove(name) },
	}}
}

// objectSources are the sources whose samples NodeRTT objects hold.
func objectSources() []delay.Source {
	return []delay.Source{delay.SourceAgent, delay.SourceGoldpingerUDP, delay.SourceGoldpinger, delay.SourceStatic}
}

func (r *rtts) set(u *unstructured.Unstructured) {
	var object vicinityv1alpha1.NodeRTT
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object); err != nil {
		r.malformed.WithLabelValues(rttsResource).Inc()
		r.remove(u.GetName())
		return
	}
	samples, faults := readRTTs(&object.Status)
	now := r.clock.Now()
	for _, source := range objectSources() {
		faults += r.store.Update(object.Name, source, samples[source], now)
	}
	if !r.store.SetCoordinate(object.Name, coordinateOf(&object.Status.Coordinate)) {
		faults++
	}
	r.malformed.WithLabelValues(rttsResource).Add(float64(faults))
}

func (r *rtts) remove(node string) {
	now := r.clock.Now()
	for _, source := range objectSources() {
		r.store.Update(node, source, nil, now)
	}
	r.store.SetCoordinate(node, delay.Coordinate{})
}

// readRTTs turns a report into samples by source and counts the entries that cannot be.
func readRTTs(status *vicinityv1alpha1.NodeRTTStatus) (samples map[delay.Source][]delay.PeerSample, faults int) {
	samples = map[delay.Source][]delay.PeerSample{}
	for i := range status.Peers {
		entry := &status.Peers[i]
		source, ok := delay.ParseSource(string(entry.Source))
		if _, endpoint := delay.EndpointOf(entry.Node); !ok || endpoint || source == delay.SourceFiles {
			faults++
			continue
		}
		samples[source] = append(samples[source], delay.PeerSample{Peer: entry.Node, Sample: sampleOf(&entry.RTT)})
	}
	for i := range status.Endpoints {
		entry := &status.Endpoints[i]
		samples[delay.SourceAgent] = append(samples[delay.SourceAgent], delay.PeerSample{
			Peer: delay.EndpointName(entry.Endpoint), Sample: sampleOf(&entry.RTT),
		})
	}
	return samples, faults
}

// sampleOf leaves it to the store to refuse what is out of range. A delay of one microsecond is also what the object has
// for anything shorter.
func sampleOf(rtt *vicinityv1alpha1.RTT) delay.Sample {
	s := delay.Sample{
		P50: microseconds(rtt.P50Microseconds), Known: rtt.P50Microseconds != 0,
		P99: microseconds(rtt.P99Microseconds), HasP99: rtt.P99Microseconds != 0,
		ObservedAt: rtt.ObservedAt.Time, Count: rtt.Samples, Loss: rtt.LossPartsPerMillion,
	}
	return s
}

// microseconds turns a number that would overflow into one that is out of range.
func microseconds(n int64) time.Duration {
	if n < 0 || n > math.MaxInt64/int64(time.Microsecond) {
		return -1
	}
	return time.Duration(n) * time.Microsecond
}

func coordinateOf(c *vicinityv1alpha1.NetworkCoordinate) (coordinate delay.Coordinate) {
	if len(c.VectorMicroseconds) == 0 {
		return delay.Coordinate{}
	}
	coordinate = delay.Coordinate{
		Height: time.Duration(c.HeightMicroseconds) * time.Microsecond, Error: float64(c.ErrorPartsPerMillion) / 1e6,
	}
	if c.AdjustmentMicroseconds != nil {
		coordinate.Adjustment = time.Duration(*c.AdjustmentMicroseconds) * time.Microsecond
	}
	for _, v := range c.VectorMicroseconds {
		coordinate.Vector = append(coordinate.Vector, time.Duration(v)*time.Microsecond)
	}
	return coordinate
}

// refine keeps the coordinates of nodes that report none up to date until ctx ends.
func (r *rtts) refine(ctx context.Context) {
	wait.UntilWithContext(ctx, func(context.Context) { r.store.Refine(refineObservations) }, refineInterval)
}

// RTTs returns the matrix of round-trip times, which is kept up to date while [State.Run] runs.
func (s *State) RTTs() *delay.Store { return s.rtts.store }
