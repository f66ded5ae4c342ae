// Package occupancy keeps what is free on each node of a simulated cluster, and what that means for fragmentation.
//
// State lies in arrays by node index. Sums over the cluster are updated with each pod and never computed anew, and
// each node has a version, so that whoever derives something from a node knows when it is out of date.
//
// The package is pure: standard library, pkg/gpushare and pkg/simulator/model only.
package occupancy
