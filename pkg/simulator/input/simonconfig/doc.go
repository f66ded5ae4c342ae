// Package simonconfig reads the predecessor's cluster configuration (apiVersion simon/v1alpha1, kind Config): where the
// cluster and the applications are, and how the workload is made.
//
// All of its keys are known. Keys that are not are warned about by name instead of dropped silently, among them
// isConsideredGpuResWeight, which stands in examples that its authors ship and never had an effect.
//
// Paths in the configuration are relative to the working folder, as in the predecessor, or to the configuration file if
// they lead to something only from there.
package simonconfig
