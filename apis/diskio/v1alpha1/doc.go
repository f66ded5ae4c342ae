// Package v1alpha1 holds NodeDiskDevice and NodeDiskIOStats, group diskio.x-k8s.io: what disks a node has, how much
// bandwidth they can give, and how much is left.
//
// The kinds are those of the DiskIO plugin proposed for kubernetes-sigs/scheduler-plugins (KEP 624), and their JSON is
// the same to the letter, the misspelt allocableBandwidth included, so that drivers and dashboards written for that
// plugin go on working. This is why the conventions that package vicinity/v1alpha1 keeps are not kept here: maps,
// quantities, namespaced objects for a thing that is not. New fields are added as optional ones, never renamed.
//
// Both kinds are found by spec.nodeName, in any namespace and under any name; <node>-nodediskdevice and
// <node>-nodediskiostats are custom, not rule. Bandwidth is in bytes per second, normalised by the device's model to
// the block size at which the capacity was measured. Limits on lengths are wide enough for what drivers are known to
// write; they bound what a single object can cost the scheduler.
//
// The package depends on apimachinery only.
//
// +kubebuilder:object:generate=true
// +groupName=diskio.x-k8s.io
package v1alpha1
