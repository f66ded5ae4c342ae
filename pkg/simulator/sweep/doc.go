// Package sweep plays policies x traces x seeds on all cores, keeps each result as soon as it is there, and sums them up.
//
// Results are lines of JSON in a file that begins with what all of its runs have in common. A sweep that was stopped, in
// whatever way, goes on where it was: a line that was cut off is run again. A sweep under other settings refuses to add
// to such a file, because means over both would mean nothing.
//
// When one machine is too small, the same grid is cut into shards, one for each pod of an Indexed Job, each with a file
// of its own; merging reads them all.
package sweep
