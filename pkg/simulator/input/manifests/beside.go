package manifests

import "k8s.io/apimachinery/pkg/runtime"

// Beside are the objects that the real scheduler's plugins look up beside nodes and pods.
func (s *Set) Beside() []runtime.Object {
	var all []runtime.Object
	for _, o := range s.Services {
		all = append(all, o.Value)
	}
	for _, o := range s.Claims {
		all = append(all, o.Value)
	}
	for _, o := range s.Volumes {
		all = append(all, o.Value)
	}
	for _, o := range s.StorageClasses {
		all = append(all, o.Value)
	}
	for _, o := range s.Budgets {
		all = append(all, o.Value)
	}
	for _, o := range s.ReplicationControllers {
		all = append(all, o.Value)
	}
	for _, o := range s.ReplicaSets {
		all = append(all, o.Value)
	}
	for _, o := range s.StatefulSets {
		all = append(all, o.Value)
	}
	return all
}
