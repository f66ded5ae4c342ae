package v1alpha1

// Keys that users set on pods. The labels dataset.<index>.id and dataset.<index>.useas are Datashim's and stand,
// with their parser, in dataset_labels.go.
const (
	// DatasetPolicyAnnotation says whether nodes without the pod's datasets are scored lower or rejected; see
	// ParseDatasetPolicy. Without it the plugin's arguments decide.
	DatasetPolicyAnnotation = "vicinity.dev/dataset-policy"

	// DatasetWaitAnnotation holds a duration, such as "30s": the datasets are required for that long after the pod
	// was first considered, and then one topology tier less at a time.
	DatasetWaitAnnotation = "vicinity.dev/dataset-wait"

	// BlockIOAnnotation holds the disk bandwidth that the pod asks for, as JSON:
	// {"rbps":"900Mi","wbps":"900Mi","blockSize":"4k"}. The key is the predecessor's.
	BlockIOAnnotation = "blockio.kubernetes.io/resources"

	// BlockIOThroughputAnnotation is the key that the predecessor's design document gives to the same value.
	BlockIOThroughputAnnotation = "blockio.kubernetes.io/throughput"

	// DelayLabelPrefix starts the labels that bound the round-trip time to what the rest of the key names, a node
	// or a workload. The value is in milliseconds, decimals allowed: delay_edge-1: "25". Several are ANDed.
	DelayLabelPrefix = "delay_"

	// DelayAnnotation holds bounds of the round-trip time in their structured form, a JSON list.
	DelayAnnotation = "vicinity.dev/delay"

	// BackupAnnotation names the failure that the pod must survive: "None", "Node" or "Zone".
	BackupAnnotation = "vicinity.dev/backup"
)

// Keys that Vicinity writes on pods.
const (
	// BackupNodeAnnotation names the node that stands by for the pod. It is written with the binding.
	BackupNodeAnnotation = "vicinity.dev/backup-node"
)

// Keys on nodes.
const (
	// RackLabel names the rack that a node stands in. Kubernetes defines labels for zones and regions only.
	RackLabel = "topology.vicinity.dev/rack"
)
