package staticfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// Format writes the round-trip times between the named nodes in the form that [Parse] reads, the rows in the order of the
// names. Between gives the time from one node to another, which is needed of every pair: the format has no way to say
// that one is not known. A time that the format does not hold is an error as well.
func Format(names []string, between func(from, to string) (time.Duration, bool)) (matrix, metadata []byte, err error) {
	numbers := make(map[string]int, len(names))
	for i, name := range names {
		if _, ok := numbers[name]; ok {
			return nil, nil, fmt.Errorf("expected each node once, found %q twice", name)
		}
		numbers[name] = i
	}
	if len(names) == 0 || len(names) > MaxNodes {
		return nil, nil, fmt.Errorf("expected 1 to %d nodes, found %d", MaxNodes, len(names))
	}
	var out bytes.Buffer
	for _, from := range names {
		if err := formatRow(&out, from, names, between); err != nil {
			return nil, nil, err
		}
	}
	metadata, err = json.MarshalIndent(numbers, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the names: %w", err)
	}
	return out.Bytes(), append(metadata, '\n'), nil
}

func formatRow(out *bytes.Buffer, from string, names []string, between func(from, to string) (time.Duration, bool)) error {
	for i, to := range names {
		if i > 0 {
			out.WriteByte(' ')
		}
		rtt, ok := time.Duration(0), true
		if to != from {
			rtt, ok = between(from, to)
		}
		if !ok {
			return fmt.Errorf("the round-trip time from %q to %q is not known, and a matrix must be whole", from, to)
		}
		if rtt < 0 || rtt > delay.MaxDelay {
			return fmt.Errorf("%q to %q: expected a round-trip time from 0 to %s, found %s", from, to, delay.MaxDelay, rtt)
		}
		milliseconds := float64(rtt.Round(time.Microsecond).Microseconds()) / 1000
		out.Write(strconv.AppendFloat(nil, milliseconds, 'f', -1, 64))
	}
	out.WriteByte('\n')
	return nil
}

// Names returns the names of the rows, in order.
func Names(rows []delay.Row) []string {
	names := make([]string, 0, len(rows))
	for i := range rows {
		names = append(names, rows[i].From)
	}
	slices.Sort(names)
	return names
}
