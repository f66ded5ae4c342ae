package hostdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Pressure is the share of the last ten seconds, from 0 to 1, in which processes waited for any disk.
type Pressure struct {
	// Some is the share in which at least one process waited.
	Some float64
	// Full is the share in which all that had something to do waited.
	Full float64
}

// ReadPressure reads /proc/pressure/io. It returns false where the kernel does not count pressure.
func ReadPressure(root fs.FS) (Pressure, bool, error) {
	content, err := fs.ReadFile(root, "proc/pressure/io")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errors.ErrUnsupported):
		// The latter where counting was switched off when the machine started.
		return Pressure{}, false, nil
	case err != nil:
		return Pressure{}, false, fmt.Errorf("cannot read how long processes waited for disks: %w", err)
	}
	pressure, err := ParsePressure(string(content))
	return pressure, err == nil, err
}

// ParsePressure reads the content of /proc/pressure/io.
func ParsePressure(content string) (Pressure, error) {
	var pressure Pressure
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var share *float64
		switch fields[0] {
		case "some":
			share = &pressure.Some
		case "full":
			share = &pressure.Full
		default:
			continue
		}
		value, err := averageOf(fields[1:])
		if err != nil {
			return Pressure{}, fmt.Errorf("pressure: line %q: %w", strings.TrimSuffix(line, "\n"), err)
		}
		*share = value
	}
	return pressure, nil
}

// averageOf finds avg10, which is in percent.
func averageOf(fields []string) (float64, error) {
	const percent = 100
	for _, field := range fields {
		text, ok := strings.CutPrefix(field, "avg10=")
		if !ok {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(value) || value < 0 || value > percent {
			return 0, fmt.Errorf("expected a percentage as avg10, found %q", text)
		}
		return value / percent, nil
	}
	return 0, errors.New("expected a field avg10, found none")
}
