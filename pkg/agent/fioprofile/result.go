package fioprofile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Capacity is what a disk can do.
type Capacity struct {
	// Read, Write and Total (both at once) are in bytes per second.
	Read, Write, Total int64
	// ReadIOPS and WriteIOPS are operations per second.
	ReadIOPS, WriteIOPS int64
}

// Rate is what fio measured in one step, both directions together.
type Rate struct {
	BytesPerSecond      int64 `json:"bytesPerSecond"`
	OperationsPerSecond int64 `json:"operationsPerSecond"`
}

// step is one measurement.
type step struct {
	name, pattern, block string
}

// The names are those of the cache file.
const (
	stepRead      = "read-32k"
	stepWrite     = "write-32k"
	stepMixed     = "mixed-32k"
	stepReadIOPS  = "read-4k"
	stepWriteIOPS = "write-4k"
)

func steps() []step {
	return []step{
		{stepRead, "randread", "32k"},
		{stepWrite, "randwrite", "32k"},
		{stepMixed, "randrw", "32k"},
		{stepReadIOPS, "randread", "4k"},
		{stepWriteIOPS, "randwrite", "4k"},
	}
}

// capacityOf puts the steps together; false while one is missing.
func capacityOf(done map[string]Rate) (Capacity, bool) {
	for _, s := range steps() {
		if rate, ok := done[s.name]; !ok || !rate.valid() {
			return Capacity{}, false
		}
	}
	return Capacity{
		Read: done[stepRead].BytesPerSecond, Write: done[stepWrite].BytesPerSecond, Total: done[stepMixed].BytesPerSecond,
		ReadIOPS: done[stepReadIOPS].OperationsPerSecond, WriteIOPS: done[stepWriteIOPS].OperationsPerSecond,
	}, true
}

func (r Rate) valid() bool { return r.BytesPerSecond > 0 && r.OperationsPerSecond > 0 }

// output is the part of fio's JSON that is of use.
type output struct {
	Version string `json:"fio version"`
	Jobs    []struct {
		Error int       `json:"error"`
		Read  direction `json:"read"`
		Write direction `json:"write"`
	} `json:"jobs"`
}

type direction struct {
	BytesPerSecond      float64 `json:"bw_bytes"`
	OperationsPerSecond float64 `json:"iops"`
}

// ParseOutput reads what fio prints with --output-format=json, for one job.
func ParseOutput(content []byte) (Rate, error) {
	var found output
	if err := json.Unmarshal(content, &found); err != nil {
		return Rate{}, fmt.Errorf("expected the JSON of fio: %w", err)
	}
	if len(found.Jobs) != 1 {
		return Rate{}, fmt.Errorf("expected the result of one job of fio, found %d", len(found.Jobs))
	}
	job := found.Jobs[0]
	if job.Error != 0 {
		return Rate{}, fmt.Errorf("fio reports error %d", job.Error)
	}
	rate := Rate{
		BytesPerSecond:      whole(job.Read.BytesPerSecond + job.Write.BytesPerSecond),
		OperationsPerSecond: whole(job.Read.OperationsPerSecond + job.Write.OperationsPerSecond),
	}
	if !rate.valid() {
		return Rate{}, errors.New("fio did nothing in the time that it had")
	}
	return rate, nil
}

// whole rounds down; what is no rate is 0. No disk comes near the upper bound, 1 EiB/s.
func whole(rate float64) int64 {
	const most = 1 << 60
	if math.IsNaN(rate) || rate < 0 {
		return 0
	}
	return int64(min(rate, most))
}
