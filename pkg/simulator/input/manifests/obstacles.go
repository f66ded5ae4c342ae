package manifests

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Obstacles are the features of the input that native policies do not know, each with an example: where there are some,
// only the real scheduling framework places pods as a cluster would.
func (s *Set) Obstacles(pods []Pod) []string {
	found := obstacles{}
	for _, n := range s.Nodes {
		if n.Value.Spec.Unschedulable {
			found.note("cordoned nodes", "node "+n.Value.Name)
		}
		if slices.ContainsFunc(n.Value.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }) {
			found.note("taints", "node "+n.Value.Name)
		}
	}
	claims := map[string]bool{}
	for _, c := range s.Claims {
		claims[c.Value.Namespace+"/"+c.Value.Name] = true
	}
	for i := range pods {
		if !pods[i].daemon {
			found.pod(pods[i].Value, claims)
		}
	}
	return found.texts
}

type obstacles struct {
	texts []string
	seen  map[string]bool
}

func (o *obstacles) note(feature, example string) {
	if o.seen[feature] {
		return
	}
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	o.seen[feature] = true
	o.texts = append(o.texts, fmt.Sprintf("%s (%s)", feature, example))
}

func (o *obstacles) pod(pod *corev1.Pod, claims map[string]bool) {
	spec, name := &pod.Spec, "pod "+pod.Namespace+"/"+pod.Name
	if spec.Affinity != nil {
		o.note("affinity", name)
	}
	if len(spec.TopologySpreadConstraints) > 0 {
		o.note("topology spread constraints", name)
	}
	if len(spec.SchedulingGates) > 0 {
		o.note("scheduling gates", name)
	}
	for i := range spec.Containers {
		if slices.ContainsFunc(spec.Containers[i].Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }) {
			o.note("host ports", name)
		}
	}
	for i := range spec.Volumes {
		if claim := spec.Volumes[i].PersistentVolumeClaim; claim != nil && claims[pod.Namespace+"/"+claim.ClaimName] {
			o.note("volume claims", name)
		}
	}
}
