// Package worldfile reads what pods of a simulation meet beside CPU, memory and GPUs: datasets and which nodes hold them,
// the links between racks and zones, disks, and failures of nodes. It is a file of the simulator's own:
//
//	datasets:
//	- {name: team/images, size: 200Gi, nodes: [node-1]}
//	links:
//	  sameRack: {rtt: 50us, bandwidth: 3Gi}
//	  store: {rtt: 20ms, bandwidth: 200Mi}
//	disks:
//	- {nodes: "gpu-*", bandwidth: 2Gi}
//	failures:
//	- {node: node-1, at: 1h, until: 2h}
//	pods:
//	- {match: "team/train-*", datasets: [images], disk: 100Mi, peers: [team/db]}
//
// Besides its rules, pods say themselves what they read and ask of disks, as they do to the scheduler's plugins: with
// labels dataset.<n>.id and the annotation blockio.kubernetes.io/resources. Who talks to whom is on no pod that schedulers
// know, so that peers are in the file only.
package worldfile
