package delay

import (
	"fmt"
	"time"

	"github.com/hashicorp/serf/coordinate"
)

// Dimensions is the number of components of a coordinate's vector, beside its height.
const Dimensions = 8

// Coordinate is a node's place in the network coordinate system. The zero value is no coordinate.
type Coordinate struct {
	// Vector is the point, each component a round-trip time; empty means that there is no coordinate. Coordinates of
	// different lengths cannot be compared.
	Vector []time.Duration
	// Height is what every path to the node pays besides.
	Height time.Duration
	// Adjustment corrects estimates that are wrong on all of the node's paths.
	Adjustment time.Duration
	// Error is the relative error to expect, above 0; 1.5 is that of a node that has measured nothing.
	Error float64
}

// Distance estimates the round-trip time between two nodes; ok is false when the coordinates do not compare.
func (c *Coordinate) Distance(to *Coordinate) (estimate time.Duration, ok bool) {
	if len(c.Vector) == 0 || len(c.Vector) != len(to.Vector) {
		return 0, false
	}
	a, b := c.serf(), to.serf()
	if !a.IsValid() || !b.IsValid() {
		return 0, false
	}
	return a.DistanceTo(b), true
}

func (c *Coordinate) serf() *coordinate.Coordinate {
	vector := make([]float64, len(c.Vector))
	for i, v := range c.Vector {
		vector[i] = v.Seconds()
	}
	return &coordinate.Coordinate{
		Vec: vector, Height: c.Height.Seconds(), Adjustment: c.Adjustment.Seconds(), Error: c.Error,
	}
}

func fromSerf(c *coordinate.Coordinate) Coordinate {
	vector := make([]time.Duration, len(c.Vec))
	for i, v := range c.Vec {
		vector[i] = seconds(v)
	}
	return Coordinate{Vector: vector, Height: seconds(c.Height), Adjustment: seconds(c.Adjustment), Error: c.Error}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Locator finds the coordinate of one node from the round-trip times that it measures. It may be used from any
// goroutine.
type Locator struct {
	client *coordinate.Client
}

// NewLocator returns a locator at the origin, or at last, the coordinate that the node had before a restart.
func NewLocator(last Coordinate) (*Locator, error) {
	client, err := coordinate.NewClient(coordinate.DefaultConfig())
	if err != nil {
		return nil, fmt.Errorf("network coordinates: %w", err)
	}
	if len(last.Vector) > 0 {
		if err := client.SetCoordinate(last.serf()); err != nil {
			return nil, fmt.Errorf("network coordinates: want a valid coordinate of %d dimensions, found %v: %w",
				Dimensions, last, err)
		}
	}
	return &Locator{client: client}, nil
}

// Observe moves the coordinate after a round trip to a peer whose coordinate is known. The round-trip time must be
// from 0 to 10 s; a wrong one, or a coordinate that is not valid, changes nothing and is an error.
func (l *Locator) Observe(peer string, at Coordinate, rtt time.Duration) error {
	if _, err := l.client.Update(peer, at.serf(), rtt); err != nil {
		return fmt.Errorf("round trip of %s to %s: %w", rtt, peer, err)
	}
	return nil
}

// Forget frees what is remembered of a peer that is probed no longer.
func (l *Locator) Forget(peer string) { l.client.ForgetNode(peer) }

// Coordinate returns where the node is.
func (l *Locator) Coordinate() Coordinate { return fromSerf(l.client.GetCoordinate()) }
