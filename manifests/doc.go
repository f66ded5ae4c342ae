// Package manifests holds what Vicinity installs into a cluster, for the programs that carry it with them.
//
// The Helm chart in chart is the source. Its folder chart/crds is the only copy of our CRDs and is generated from the
// types in apis, and install.yaml is the chart rendered with its default values for namespace vicinity-system; "make
// generate" writes both. The examples are for users and are not embedded.
//
// The tests here check what a template cannot promise by itself: that every object decodes strictly, that no container
// has more rights than it needs, and that our CRDs accept and reject what their comments say.
package manifests
