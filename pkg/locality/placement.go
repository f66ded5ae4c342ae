package locality

// HostnameKey is the label key whose value names a single node.
const HostnameKey = "kubernetes.io/hostname"

// DatasetKey identifies a dataset. Datasets are namespaced: a pod sees those of its own namespace only.
type DatasetKey struct {
	Namespace, Name string
}

// String returns "namespace/name".
func (k DatasetKey) String() string { return k.Namespace + "/" + k.Name }

// Location names the nodes that carry a label: one node when Key is [HostnameKey], else a topology domain.
type Location struct {
	Key, Value string
}

// String returns "key=value".
func (l Location) String() string { return l.Key + "=" + l.Value }

// Placement says where a dataset can be read. The zero value means: nowhere known.
type Placement struct {
	// Gateways serve the dataset over a protocol; whoever reads it talks to one of them.
	Gateways []Location
	// DataLocations hold the dataset's bytes in a distributed file system.
	DataLocations []Location
}

// Serving returns the locations that readers fetch from: the gateways, because data behind a gateway is read
// through it, or the data locations when there is no gateway.
func (p Placement) Serving() []Location {
	if len(p.Gateways) > 0 {
		return p.Gateways
	}
	return p.DataLocations
}

// Node is what locality needs to know of a node. Labels is only read.
type Node struct {
	Name   string
	Labels map[string]string
}

// NodeIndex finds nodes without a walk over all of them.
type NodeIndex interface {
	// Named returns the node of that name, or else the one with that hostname label: placement writers use
	// either (Datashim's Ceph plugin writes node names under the hostname key).
	Named(name string) (Node, bool)
	// Member returns any one node at the location, or false when there is none.
	Member(at Location) (Node, bool)
}
