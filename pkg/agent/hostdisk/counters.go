package hostdisk

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"
)

// Counters is what a block device has done since the machine started. They begin at 0 again when the device is removed.
type Counters struct {
	Number      Number
	Read, Write Transfers
	// Busy is for how long at least one operation was under way.
	Busy time.Duration
}

// Transfers counts operations of one direction that have ended.
type Transfers struct {
	Operations uint64
	Bytes      uint64
	// Waited sums how long each operation took, queueing included.
	Waited time.Duration
}

// ReadCounters reads /proc/diskstats: the counters of devices and partitions, by name.
func ReadCounters(root fs.FS) (map[string]Counters, error) {
	content, err := fs.ReadFile(root, "proc/diskstats")
	if err != nil {
		return nil, fmt.Errorf("cannot read what the disks have done: %w", err)
	}
	return ParseCounters(string(content))
}

// ParseCounters reads the content of /proc/diskstats.
func ParseCounters(content string) (map[string]Counters, error) {
	found := map[string]Counters{}
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		counters, err := parseCounters(fields)
		if err != nil {
			return nil, fmt.Errorf("diskstats: line %q: %w", strings.TrimSuffix(line, "\n"), err)
		}
		found[fields[2]] = counters
	}
	return found, nil
}

// parseCounters reads major, minor, name and eleven numbers or more: what later kernels add comes at the end.
func parseCounters(fields []string) (Counters, error) {
	const (
		first                                         = 3 // of the numbers
		reads, readSectors, readMillis                = 0, 2, 3
		writes, writeSectors, writeMillis, busyMillis = 4, 6, 7, 9
		count                                         = 11
	)
	if len(fields) < first+count {
		return Counters{}, fmt.Errorf("expected at least %d fields, found %d", first+count, len(fields))
	}
	var n [count]uint64
	for i := range n {
		value, err := strconv.ParseUint(fields[first+i], 10, 64)
		if err != nil {
			return Counters{}, fmt.Errorf("expected a number in field %d: %w", first+i+1, err)
		}
		n[i] = value
	}
	number, err := parseNumber(fields[0] + ":" + fields[1])
	if err != nil {
		return Counters{}, err
	}
	return Counters{
		Number: number,
		Read:   Transfers{Operations: n[reads], Bytes: bytesOfSectors(n[readSectors]), Waited: millis(n[readMillis])},
		Write:  Transfers{Operations: n[writes], Bytes: bytesOfSectors(n[writeSectors]), Waited: millis(n[writeMillis])},
		Busy:   millis(n[busyMillis]),
	}, nil
}

func bytesOfSectors(sectors uint64) uint64 {
	return min(sectors, math.MaxUint64/sectorBytes) * sectorBytes
}

func millis(n uint64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
}
