// Package targets says which round-trip times are to be measured: the document that vicinity-controller publishes and
// that every vicinity-agent reads ([List]), and which of its nodes an agent probes at a given time ([Choose]).
//
// # The document
//
// A list holds nodes with their addresses and zones, the nodes and external endpoints that some pod's bound refers to,
// and the token of the echo protocol. It is one JSON document in a ConfigMap, which kubelets bring to the agents as a
// file: agents need no right on the API server for it, a change costs one write, and kubelets already watch what they
// mount. What an agent gets to know is names, zones and addresses of nodes, which every pod can find out anyway.
//
// A ConfigMap holds 1 MiB. Up to [MaxNodes] nodes are listed; of more nodes a sample that rarely changes is, so that a
// change of one node seldom concerns the list (docs/scale.md has the arithmetic). Nodes outside the sample measure too,
// they are only measured by nobody else: a round-trip time is the same from both ends. Nodes that bounds refer to are
// always listed.
//
// # The choice
//
// A node probes k others and every reference. Of its own zone it takes all up to a cap, the rest at random: near nodes
// because bounds are mostly about them, far ones because coordinates need long distances (Vivaldi: Dabek, Cox, Kaashoek,
// Morris, SIGCOMM 2004, section 4.2, where a mixture of both converges to a better embedding than either). Random is
// rendezvous hashing with a period as a part of the key (Thaler and Ravishankar, 1998): every node decides by itself, the
// same again after a restart, and when a node comes or goes only the choices that concern it change. With each period
// other nodes are taken, so that over time many pairs are known.
//
// The package is pure: the standard library only, no clock and no randomness of its own.
package targets
