// Package perf holds the benchmarks of Vicinity's budgets that need several packages together. They use the real
// state, plugins and framework types, and clients in memory in place of an API server. Run them with make bench.
package perf
