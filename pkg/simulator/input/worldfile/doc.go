// Package worldfile reads what pods of a simulation meet beside CPU, memory and GPUs: datasets and which nodes hold them,
// the links between racks and zones, disks, and failures of nodes. It is a file of the simulator's own:
//
//	apiVersion: simulate.vicinity.dev/v1
//	kind: World
//	datasets:
//	- {name: team/images, size: 200Gi, nodes: [node-1]}
//	links:
//	  sameRack: {rtt: 50us, bandwidth: 3Gi}
//	  store: {rtt: 20ms, bandwidth: 200Mi}
//	disks:
//	- {nodes: [node-1, node-2], bandwidth: 2Gi}
//	failures:
//	- {node: node-1, at: 1h, until: 2h}
//
// What pods read and how much they ask of disks is on the pods, as for the scheduler's plugins: labels dataset.<n>.id and
// the annotation blockio.kubernetes.io/resources. Who talks to whom is on no pod that schedulers know, so that peers are
// listed in the file, too.
package worldfile
