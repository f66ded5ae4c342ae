package v1alpha1

import "fmt"

// DatasetPolicy says what the absence of a pod's datasets from a node means for that node.
type DatasetPolicy string

const (
	// DatasetPolicyPreferred scores nodes by how near they are to the data. Every node stays possible.
	DatasetPolicyPreferred DatasetPolicy = "Preferred"
	// DatasetPolicyRequired rejects nodes without the data; the pod waits for one that has it.
	DatasetPolicyRequired DatasetPolicy = "Required"
)

// maxQuoted bounds, in bytes, how much of a faulty value an error repeats. Annotations may hold 256 KiB, and the
// error becomes part of a pod's conditions and events.
const maxQuoted = 64

// ParseDatasetPolicy reads the value of DatasetPolicyAnnotation. Names are matched exactly, and an empty value is
// a fault: a user who wrote the key meant something by it. The error does not name the key, so that the same text
// serves for annotations and for configuration files.
func ParseDatasetPolicy(value string) (DatasetPolicy, error) {
	switch policy := DatasetPolicy(value); policy {
	case DatasetPolicyPreferred, DatasetPolicyRequired:
		return policy, nil
	default:
		return "", fmt.Errorf("want %q or %q, found %s", DatasetPolicyPreferred, DatasetPolicyRequired, quote(value))
	}
}

// quote makes a user's text fit for one line of an error: quoted, control characters escaped, long texts cut.
func quote(value string) string {
	if len(value) <= maxQuoted {
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("%q and %d more bytes", value[:maxQuoted], len(value)-maxQuoted)
}
