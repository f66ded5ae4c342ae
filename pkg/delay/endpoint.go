package delay

import "strings"

// endpointPrefix starts the names of endpoints in a store. No node can be called so.
const endpointPrefix = "endpoint/"

// EndpointName is the name under which a store keeps an endpoint outside the cluster.
func EndpointName(endpoint string) string { return endpointPrefix + endpoint }

// EndpointOf is the inverse of EndpointName; ok is false for the name of a node.
func EndpointOf(name string) (endpoint string, ok bool) {
	return strings.CutPrefix(name, endpointPrefix)
}
