// Package state keeps what the scheduler plugins need to know of custom resources, as immutable values of the
// pure packages.
//
// Foreign resources are optional: a custom resource definition that is absent is no error, one that is installed
// later is noticed without a restart, and one that is removed takes its objects' effects with it. To that end
// the definitions themselves are watched (metadata only) and an informer runs for each one that exists.
//
// What is known of datasets comes from several sources, each in a file of its own: Datashim, Fluid, and the
// NodeDatasetCache objects that Vicinity's own agents write. [State.Datasets] collects what they say when a pod asks, so
// the work is that of the replicas of the datasets that pods use.
//
// Nodes, pods and volume claims are not watched here: they come from the scheduler's own informers. [Nodes] only
// adds an index to the node informer.
//
// One [State] serves all profiles of a scheduler. Its methods may be called from any goroutine. An object that
// cannot be read counts as absent, is counted in vicinity_state_malformed_total, and hides no other object.
package state
