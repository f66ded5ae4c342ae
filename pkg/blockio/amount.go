package blockio

import "math"

// Bytes is a number of bytes, such as a block size.
type Bytes int64

// BytesPerSecond is a bandwidth.
type BytesPerSecond int64

// PerSecond is a number of operations per second.
type PerSecond int64

// Bandwidth of reading, of writing, and of both at once. Total need not be Read plus Write: many disks do less.
type Bandwidth struct {
	Read, Write, Total BytesPerSecond
}

// IOPS are operations per second.
type IOPS struct {
	Read, Write PerSecond
}

// Demand is what something takes from a disk: a pod, or all pods together. Its fields are not negative.
type Demand struct {
	Bandwidth Bandwidth
	IOPS      IOPS
}

// Add returns the sum of two demands. A sum too large to be represented is the largest number.
func (d Demand) Add(other Demand) Demand {
	return Demand{
		Bandwidth: Bandwidth{
			Read:  add(d.Bandwidth.Read, other.Bandwidth.Read),
			Write: add(d.Bandwidth.Write, other.Bandwidth.Write),
			Total: add(d.Bandwidth.Total, other.Bandwidth.Total),
		},
		IOPS: IOPS{Read: add(d.IOPS.Read, other.IOPS.Read), Write: add(d.IOPS.Write, other.IOPS.Write)},
	}
}

// Supply is what a disk has: in all, or left.
type Supply struct {
	Bandwidth Bandwidth
	// IOPS is unknown unless HasIOPS is set.
	IOPS    IOPS
	HasIOPS bool
}

// Less returns what is left of the supply when the demand is taken from it, 0 where that is more than there is.
func (s Supply) Less(d Demand) Supply {
	return Supply{
		Bandwidth: Bandwidth{
			Read:  sub(s.Bandwidth.Read, d.Bandwidth.Read),
			Write: sub(s.Bandwidth.Write, d.Bandwidth.Write),
			Total: sub(s.Bandwidth.Total, d.Bandwidth.Total),
		},
		IOPS:    IOPS{Read: sub(s.IOPS.Read, d.IOPS.Read), Write: sub(s.IOPS.Write, d.IOPS.Write)},
		HasIOPS: s.HasIOPS,
	}
}

// lower returns the lower of two supplies, field by field. Of operations, what is known counts.
func (s Supply) lower(other Supply) Supply {
	out := Supply{Bandwidth: Bandwidth{
		Read:  min(s.Bandwidth.Read, other.Bandwidth.Read),
		Write: min(s.Bandwidth.Write, other.Bandwidth.Write),
		Total: min(s.Bandwidth.Total, other.Bandwidth.Total),
	}}
	switch {
	case s.HasIOPS && other.HasIOPS:
		out.IOPS = IOPS{Read: min(s.IOPS.Read, other.IOPS.Read), Write: min(s.IOPS.Write, other.IOPS.Write)}
		out.HasIOPS = true
	case s.HasIOPS:
		out.IOPS, out.HasIOPS = s.IOPS, true
	case other.HasIOPS:
		out.IOPS, out.HasIOPS = other.IOPS, true
	}
	return out
}

// add returns a + b of two numbers that are not negative, or the largest number when that is less. Negative ones
// count as 0, so that no caller's mistake can create bandwidth.
func add[T ~int64](a, b T) T {
	a, b = max(0, a), max(0, b)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sub returns a - b, or 0 when that is less. Negative numbers count as 0.
func sub[T ~int64](a, b T) T {
	return max(0, max(0, a)-max(0, b))
}
