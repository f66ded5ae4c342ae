// Package world keeps what a simulated cluster has beside CPU, memory and GPUs: which node holds which data, how much
// its disk has to do, and where the pods are that others talk to.
//
// Its model is deliberately small. A dataset is on a node or not; it is fetched from the nearest node that holds it, as
// a whole, at the link's bandwidth, and stays there. A disk that is asked for more than it can do serves everybody the
// same part of what they ask for. Distances are those of rack and zone labels.
//
// The package is pure: standard library and pkg/simulator/model only.
package world
