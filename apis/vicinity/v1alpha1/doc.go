// Package v1alpha1 holds Vicinity's own kinds, group vicinity.dev, and every label and annotation key that it
// reads from or writes to the objects of Kubernetes, together with the parsers of their values.
//
// NodeRTT and NodeDatasetCache are what the agent measured on its node; BackupReservation is what the controller
// summarises about a node. All three are cluster-scoped, carry the name of the node they speak of, are owned by
// that Node, so that they vanish with it, and hold nothing but a status: they are news, not wishes. A reader that
// finds an object older than it trusts treats its contents as unknown, which is not the same as zero.
//
// Numbers are integers with the unit in the field's name: microseconds, bytes, parts per million. Meanings are
// chosen such that zero is seldom a legal value; where an absent number means something else than zero, its
// comment says so. Each parser reports a fault with the legal values and what was found; none panics, whatever a
// user wrote.
//
// The package depends on apimachinery only, so that other projects can import it without the rest.
//
// +kubebuilder:object:generate=true
// +groupName=vicinity.dev
package v1alpha1
