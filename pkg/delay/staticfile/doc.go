// Package staticfile reads and writes round-trip times as two files in the formats of kubernetes-edge-scheduler (Toka,
// "Ultra-Reliable and Low-Latency Computing in the Edge with Kubernetes", J. Grid Computing 19(3), 2021):
//
//   - the matrix: text with one row a line, milliseconds separated by blanks, as numpy.loadtxt reads it; "#" begins a
//     comment, and empty lines do not count. Row i, column j is the round-trip time from node i to node j. It is square.
//   - the metadata: a JSON object that gives each node's name the number of its row, from 0: {"edge-1": 0, "cloud": 1}.
//
// The predecessor rounds to whole milliseconds; here fractions count, and what is written has microseconds. A 0 beside the
// diagonal is a true 0. The diagonal says nothing and is left out. Rows without a name are allowed and left out too: one
// matrix may serve several lists of names.
//
// Every fault is an [Error] with its file and line. The package is pure: the standard library and package delay only.
package staticfile
