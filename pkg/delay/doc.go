// Package delay knows how far apart nodes are: round-trip times that were measured, estimates for pairs that were not,
// and the set of nodes within a bound of another.
//
// It may import the standard library and github.com/hashicorp/serf/coordinate, and nothing of this module but other
// pure packages. It has no clock: callers pass the time. Delays are time.Duration, kept to the microsecond.
//
// # Samples
//
// A [Sample] says what one [Source] knows about one ordered pair of nodes. A [Store] keeps the samples of each source
// by the node that measured them. A node's samples of one source are replaced as a whole ([Store.Update]), which touches
// that node's row only. Where several sources know a pair, the better sample counts: answered before unanswered,
// fresh before stale, then the source of the higher quality ([Source.Quality]), then the newer.
//
// Round-trip times are nearly the same in both directions, so what B measured to A also counts between A and B: that
// is how the nodes that bounds refer to are known to all, since every node probes them. The own direction is preferred
// when both are known equally well.
//
// A monitor that falls silent takes nothing away: its last samples stay and grow old. A probe without an answer keeps
// the last answered time, and says by its loss that the path is cut now. If nobody reaches a node any more, the node is
// dead rather than the paths to it, and the last known times go on to count: what depended on it must be placed near
// where it was.
//
// # Estimates
//
// A pair that nobody measured is estimated from network coordinates (Vivaldi: Dabek, Cox, Kaashoek, Morris, "Vivaldi: A
// Decentralized Network Coordinate System", SIGCOMM 2004, in the form of serf's package coordinate). Real networks
// break the triangle inequality, so an estimate carries an error bar and never proves a bound by itself.
package delay
