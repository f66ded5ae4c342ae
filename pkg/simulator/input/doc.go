// Package input turns what a user names on the command line into an experiment: the predecessor's configuration with
// its folders of manifests, files of the openb trace, a folder of manifests alone, or a cluster that is read and never
// changed.
//
// Each format has a package of its own below this one. What they find wrong is collected in one list, so that a user
// mends everything at once.
//
// The predecessor's simulator wrote to the cluster whose kubeconfig it was given. Here a cluster is listed once, with
// the two requests that package snapshot makes, and nothing else is ever sent.
package input
