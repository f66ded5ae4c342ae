// Command metricsdoc prints docs/metrics.md from the metrics that the code registers. hack/generate.sh runs it, so
// that a metric cannot appear, change or go without its documentation.
package main
