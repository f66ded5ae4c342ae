// Package window keeps the outcomes of the probes of one path over some time, and sums them up: median, 99th percentile,
// loss, and whether the path is cut. It is what agents and the controller have in common, so that a cut looks the same
// whoever reports it.
//
// The package is pure: the standard library only, the time is a parameter.
package window
