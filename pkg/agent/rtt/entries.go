package rtt

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
)

// status is the report of what is known now.
func (c *Collector) status() vicinityv1alpha1.NodeRTTStatus {
	status := vicinityv1alpha1.NodeRTTStatus{}
	for _, p := range c.nodes {
		if p.known() {
			status.Peers = append(status.Peers, vicinityv1alpha1.PeerRTT{
				Node: p.name, Source: vicinityv1alpha1.RTTSourceAgent, RTT: rttOf(p.window.Summary()),
			})
		}
	}
	for _, p := range c.endpoints {
		if p.known() {
			status.Endpoints = append(status.Endpoints, vicinityv1alpha1.EndpointRTT{Endpoint: p.name, RTT: rttOf(p.window.Summary())})
		}
	}
	slices.SortFunc(status.Peers, func(a, b vicinityv1alpha1.PeerRTT) int { return cmp.Compare(a.Node, b.Node) })
	slices.SortFunc(status.Endpoints, func(a, b vicinityv1alpha1.EndpointRTT) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	status.Coordinate = networkCoordinate(c.locator.Coordinate())
	return status
}

func rttOf(s window.Summary) vicinityv1alpha1.RTT {
	r := vicinityv1alpha1.RTT{
		ObservedAt: metav1.NewTime(s.At), Samples: int32(s.Samples),
		LossPartsPerMillion: int32(int64(s.Lost) * millionth / int64(s.Samples)),
	}
	if s.Answered {
		r.P50Microseconds = microseconds(s.P50)
	}
	if s.Answered && s.P99 > 0 {
		r.P99Microseconds = microseconds(s.P99)
	}
	return r
}

// summaryOf is the inverse of rttOf, as far as it goes.
func summaryOf(r *vicinityv1alpha1.RTT) window.Summary {
	return window.Summary{
		At: r.ObservedAt.Time, Samples: int(r.Samples), Lost: int(int64(r.Samples) * int64(r.LossPartsPerMillion) / millionth),
		P50: time.Duration(r.P50Microseconds) * time.Microsecond, P99: time.Duration(r.P99Microseconds) * time.Microsecond,
		Answered: r.P50Microseconds > 0,
	}
}

// microseconds rounds to what an object can hold, where 0 is no legal value.
func microseconds(d time.Duration) int64 {
	return min(max(d.Round(time.Microsecond).Microseconds(), 1), delay.MaxDelay.Microseconds())
}

func networkCoordinate(c delay.Coordinate) vicinityv1alpha1.NetworkCoordinate {
	bounded := func(d time.Duration) int64 {
		return min(max(d.Microseconds(), -delay.MaxDelay.Microseconds()), delay.MaxDelay.Microseconds())
	}
	n := vicinityv1alpha1.NetworkCoordinate{
		HeightMicroseconds:   max(1, bounded(c.Height)),
		ErrorPartsPerMillion: int32(max(1, math.Round(min(max(c.Error, 0), maxError)*millionth))),
	}
	for _, component := range c.Vector {
		n.VectorMicroseconds = append(n.VectorMicroseconds, bounded(component))
	}
	if adjustment := bounded(c.Adjustment); adjustment != 0 {
		n.AdjustmentMicroseconds = new(adjustment)
	}
	return n
}

func coordinateOf(n *vicinityv1alpha1.NetworkCoordinate) delay.Coordinate {
	c := delay.Coordinate{
		Height: time.Duration(n.HeightMicroseconds) * time.Microsecond, Error: float64(n.ErrorPartsPerMillion) / millionth,
		Adjustment: time.Duration(ptr.Deref(n.AdjustmentMicroseconds, 0)) * time.Microsecond,
	}
	for _, component := range n.VectorMicroseconds {
		c.Vector = append(c.Vector, time.Duration(component)*time.Microsecond)
	}
	return c
}
