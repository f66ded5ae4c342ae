// Package mlpmodel keeps the model of plugin MLPScore up to date: the one that is built in, a file, or a ConfigMap.
//
// A source that cannot be used never takes a model away: what it holds is refused with a reason in the log and in a
// metric, and the last good model stays. A file is looked at every few seconds, so that it does not matter how it is
// replaced: written to, renamed over, or a mounted ConfigMap's link.
//
// The package must not know the plugin, nor k8s.io/kubernetes.
package mlpmodel
