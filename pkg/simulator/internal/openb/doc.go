// Package openb reads the published GPU cluster trace for tests and benchmarks.
//
// The trace is no part of this project. It is looked for beside the repository, in ../shared/data/openb, and what
// needs it is skipped when it is not there.
package openb
