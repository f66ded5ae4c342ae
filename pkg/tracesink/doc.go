// Package tracesink has the places that decision records go to: a file of JSON lines, a vicinity-sniffer, a service of
// the predecessor, an OpenTelemetry collector, and a socket that serves the latest ones.
//
// A sink is called by the recorder's one writer and must not hold it up. What is slower than a disk has a goroutine and a
// bounded queue of its own: on disk for the service ([Stream]), which loses nothing while that is away, in memory for the
// others, which are conveniences. Nothing here returns errors to the recorder, which could do nothing with them: they
// are counted, and logged when a sink begins or ceases to fail.
//
// The package knows nothing of the scheduler and must not import it; the simulator may use it as well.
package tracesink
