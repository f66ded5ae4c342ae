package explain

import "strings"

// Advise says what would make a plugin change its mind.
func Advise(plugin, reason string) []string {
	if plugin == "NodeResourcesFit" {
		if what, found := strings.CutPrefix(reason, "Insufficient "); found {
			return []string{"Ask for less " + what + ", free some on a node, or add a node that has more."}
		}
		return []string{"Ask for less, free resources on a node, or add a node."}
	}
	if text, known := advice()[plugin]; known {
		return []string{text}
	}
	return nil
}

func advice() map[string]string {
	return map[string]string{
		"CacheAware":         "Wait until the dataset is cached on more nodes, or make it a wish (vicinity.dev/dataset-policy: Preferred).",
		"DiskIO":             "Ask for less in annotation blockio.kubernetes.io/resources, or free disk bandwidth on a node.",
		"EdgeDelay":          "Raise the bound in label delay_<name> or annotation vicinity.dev/delay, or free a node that is near enough.",
		"TaintToleration":    "Add a toleration for the taint to the pod, or take the taint from a node.",
		"NodeAffinity":       "Change the pod's nodeSelector or node affinity, or label a node accordingly.",
		"NodeName":           "The pod names its node in spec.nodeName: create that node, or leave the field out.",
		"NodePorts":          "The host port is taken: use another one, or no host port.",
		"NodeUnschedulable":  "Uncordon a node (kubectl uncordon).",
		"InterPodAffinity":   "Change the pod's affinity or anti-affinity, or that of the pods it conflicts with.",
		"PodTopologySpread":  "Allow a larger maxSkew or whenUnsatisfiable: ScheduleAnyway, or add nodes to the domains that have fewest pods.",
		"VolumeBinding":      "Look at the pod's PersistentVolumeClaims: a volume is missing, or is tied to other nodes.",
		"VolumeZone":         "The pod's volume is in another zone: free a node there.",
		"NodeVolumeLimits":   "Nodes cannot attach more volumes: use fewer, or add a node.",
		"VolumeRestrictions": "Another pod has the volume for itself: wait for it to end, or use another volume.",
		"DynamicResources":   "Look at the pod's ResourceClaims: no node has the devices free.",
		"SchedulingGates":    "Remove the pod's scheduling gates.",
		"GangScheduling":     "Wait for the other pods of the group, or lower its minimum.",
	}
}
