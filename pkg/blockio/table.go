package blockio

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// MaxTablePoints bounds the number of block sizes of a direction of a [Table].
	MaxTablePoints = 64
	// MaxRatio is the largest ratio of a [Table]. Disks have been seen at 53.
	MaxRatio = 1e6
	// MaxMixed is the largest value of TableConfig.Mixed.
	MaxMixed = 10
)

// RatioPoint says that a byte in blocks of Size costs Ratio bytes at the block size of the disk's capacity.
type RatioPoint struct {
	Size  Bytes
	Ratio float64
}

// TableConfig describes a [Table].
type TableConfig struct {
	// Read and Write hold the ratios of each direction, in any order. No points means a ratio of 1 for every size.
	Read, Write []RatioPoint
	// Mixed, from 0 to MaxMixed, is how much of the smaller of read and write counts in the total, beside all of the
	// larger: 0 for a disk that does both at once as well as one, 1 for one that shares its bandwidth (the
	// predecessor's rule), more than 1 for one that suffers from the mixture.
	Mixed float64
}

// Table is a [Model] made of measured ratios. Between two sizes the logarithm of the ratio is interpolated over the
// logarithm of the size: on a disk that is limited by operations the ratio is inverse to the size, which is a
// straight line then, so that few points describe it well. Outside, the nearest point counts.
type Table struct {
	read, write curve
	mixed       float64
}

var _ Model = (*Table)(nil)

// NewTable compiles a table. The error says which value is illegal and what is legal.
func NewTable(config TableConfig) (*Table, error) {
	if !(config.Mixed >= 0 && config.Mixed <= MaxMixed) { // false for NaN as well
		return nil, fmt.Errorf("mixed: want a number from 0 to %v, found %v", MaxMixed, config.Mixed)
	}
	read, err := newCurve(config.Read)
	if err != nil {
		return nil, fmt.Errorf("read ratios: %w", err)
	}
	write, err := newCurve(config.Write)
	if err != nil {
		return nil, fmt.Errorf("write ratios: %w", err)
	}
	return &Table{read: read, write: write, mixed: config.Mixed}, nil
}

// Normalize multiplies each direction by its ratio. The error is ErrTooLarge.
func (t *Table) Normalize(r Request) (Demand, error) {
	read, readOK := scale(r.Read, t.read.ratio(r.ReadBlock))
	write, writeOK := scale(r.Write, t.write.ratio(r.WriteBlock))
	smaller, mixedOK := scale(min(read, write), t.mixed)
	if !readOK || !writeOK || !mixedOK {
		return Demand{}, ErrTooLarge
	}
	return Demand{
		Bandwidth: Bandwidth{Read: read, Write: write, Total: add(max(read, write), smaller)},
		IOPS:      r.IOPS,
	}, nil
}

// scale returns b x factor to the nearest byte. Rounding up would turn the noise of the last digit of a ratio such
// as 1.1 into a byte that does not fit.
func scale(b BytesPerSecond, factor float64) (_ BytesPerSecond, ok bool) {
	b = max(0, b)
	if factor == 1 {
		return b, true
	}
	product := math.Round(float64(b) * factor)
	if !(product < math.MaxInt64) {
		return 0, false
	}
	return BytesPerSecond(product), true
}

// curve is one direction's ratios by rising size.
type curve []curvePoint

type curvePoint struct {
	RatioPoint
	logSize, logRatio float64
}

func newCurve(points []RatioPoint) (curve, error) {
	if len(points) > MaxTablePoints {
		return nil, fmt.Errorf("want at most %d block sizes, found %d", MaxTablePoints, len(points))
	}
	out := make(curve, 0, len(points))
	for _, p := range points {
		if p.Size <= 0 {
			return nil, fmt.Errorf("want block sizes above 0, found %d", p.Size)
		}
		if !(p.Ratio > 0 && p.Ratio <= MaxRatio) {
			return nil, fmt.Errorf("block size %d: want a ratio above 0 and at most %v, found %v", p.Size, float64(MaxRatio), p.Ratio)
		}
		out = append(out, curvePoint{RatioPoint: p, logSize: math.Log(float64(p.Size)), logRatio: math.Log(p.Ratio)})
	}
	slices.SortFunc(out, func(a, b curvePoint) int { return cmp.Compare(a.Size, b.Size) })
	for i := 1; i < len(out); i++ {
		if out[i].Size == out[i-1].Size {
			return nil, fmt.Errorf("want one ratio for block size %d, found two", out[i].Size)
		}
	}
	return out, nil
}

func (c curve) ratio(size Bytes) float64 {
	if len(c) == 0 {
		return 1
	}
	next := 0 // the first point at or above size
	for next < len(c) && c[next].Size < size {
		next++
	}
	switch {
	case next == len(c):
		return c[next-1].Ratio
	case next == 0 || c[next].Size == size:
		return c[next].Ratio
	}
	from, to := &c[next-1], &c[next]
	part := (math.Log(float64(size)) - from.logSize) / (to.logSize - from.logSize)
	return math.Exp(from.logRatio + part*(to.logRatio-from.logRatio))
}
