package blockio

import "time"

// ReportState tells whether a measurement can be believed.
type ReportState uint8

const (
	// NoReport says that nobody measures the disk, or nobody has yet.
	NoReport ReportState = iota
	// StaleReport says that the last measurement is too old to tell what is free now.
	StaleReport
	// FreshReport says that the measurement counts.
	FreshReport
)

// String returns None, Stale or Fresh.
func (s ReportState) String() string {
	switch s {
	case StaleReport:
		return "Stale"
	case FreshReport:
		return "Fresh"
	default:
		return "None"
	}
}

// ReportStateAt returns the state at now of a report made at observedAt, believed for maxAge. A report that is more
// than maxAge ahead of now is stale as well: one of the two clocks is wrong, and it would stay fresh for as long as
// that one is ahead. The zero time means no report.
func ReportStateAt(observedAt, now time.Time, maxAge time.Duration) ReportState {
	if observedAt.IsZero() {
		return NoReport
	}
	if age := now.Sub(observedAt); age > maxAge || age < -maxAge {
		return StaleReport
	}
	return FreshReport
}

// Report is what was measured of a disk.
type Report struct {
	State ReportState
	// Free is the bandwidth, and the operations per second where known, that the disk has left.
	Free Supply
	// Pressure, from 0 to 1, is the share of time in which something waited for the disk. It is unknown unless
	// HasPressure is set.
	Pressure    float64
	HasPressure bool
}

// Device is a disk.
type Device struct {
	// Capacity is what the idle disk can do.
	Capacity Supply
	Report   Report
}

// Free returns what the disk has left. requested is the sum of the demands of all pods on its node that use it;
// unseen is the part of it that belongs to pods whose use the report does not contain, because they are newer.
func (d *Device) Free(requested, unseen Demand) Supply {
	free := d.Capacity.Less(requested)
	if d.Report.State != FreshReport {
		return free
	}
	return free.lower(d.Report.Free.Less(unseen))
}

// pressure returns the measured pressure, or 0 when it is unknown.
func (d *Device) pressure() float64 {
	p := d.Report.Pressure
	if d.Report.State != FreshReport || !d.Report.HasPressure || !(p > 0) {
		return 0
	}
	return min(p, 1)
}
