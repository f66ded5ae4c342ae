// Package manifests reads nodes, pods and workloads from Kubernetes YAML, as the predecessor (hkust-adsl's simon) does,
// and turns them into the simulator's model.
//
// Files are read as they stand: several documents in one file, anchors, JSON, the output of `helm template`. What the
// simulator has no use for is warned about by name and never refused, so that a folder of manifests needs no cleaning;
// what it would misunderstand is a fault with file, line and field.
//
// Requests for GPUs are read from the predecessor's annotations (alibabacloud.com/gpu-count and its siblings), and from
// the extended resource nvidia.com/gpu where they are absent.
//
// A workload becomes the pods that its controller would make, named so that the same input gives the same names.
//
// The package never talks to a cluster.
package manifests
