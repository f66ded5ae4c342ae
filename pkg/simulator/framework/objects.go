package framework

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// noPodLimit stands for a node that takes any number of pods.
const noPodLimit = 1 << 30

// nodeObject is the node as kube-scheduler sees it: the input's object if there is one, else one made from the model.
func nodeObject(n *model.Node) *corev1.Node {
	if source, ok := n.Source.(*corev1.Node); ok {
		node := source.DeepCopy()
		node.Name = n.Name // capacity planning makes many of one
		if node.Labels[corev1.LabelHostname] != "" {
			node.Labels[corev1.LabelHostname] = n.Name
		}
		if _, limited := node.Status.Allocatable[corev1.ResourcePods]; !limited {
			if node.Status.Allocatable == nil {
				node.Status.Allocatable = corev1.ResourceList{}
			}
			node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(noPodLimit, resource.DecimalSI)
		}
		return node
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}}}
	maps.Copy(node.Labels, n.Labels)
	pods := int64(n.MaxPods)
	if pods == 0 {
		pods = noPodLimit
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(n.CPUMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(n.MemoryBytes, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(pods, resource.DecimalSI),
	}
	node.Status.Capacity = node.Status.Allocatable.DeepCopy()
	return node
}

// podObject is the pod as kube-scheduler sees it. index makes it unique: clones share a source.
func (s *Scheduler) podObject(index int, p *model.Pod) *corev1.Pod {
	source, ok := p.Source.(*corev1.Pod)
	if ok {
		source = source.DeepCopy()
		s.dropUnknownClaims(source)
	} else {
		source = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}},
			Spec:       corev1.PodSpec{NodeSelector: p.NodeSelector, Containers: []corev1.Container{{Name: "main"}}},
		}
		maps.Copy(source.Labels, p.Labels)
	}
	source.Namespace, source.Name = p.Namespace, p.Name
	source.UID = types.UID("simulated-" + strconv.Itoa(index))
	source.ResourceVersion = ""
	source.Spec.NodeName, source.Status.NominatedNodeName = "", ""
	if !s.asIs || !ok {
		topUp(source, p)
	}
	wishData(source, p)
	return source
}

// topUp lets the first container ask for what the model counts and the object does not: the default of pods without a
// CPU request, or everything of a pod that has no object.
func topUp(pod *corev1.Pod, p *model.Pod) {
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	add := func(name corev1.ResourceName, more *resource.Quantity) {
		if more.Sign() <= 0 {
			return
		}
		c := &pod.Spec.Containers[0]
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		more.Add(c.Resources.Requests[name])
		c.Resources.Requests[name] = *more
	}
	add(corev1.ResourceCPU, resource.NewMilliQuantity(p.CPUMilli-requests.Cpu().MilliValue(), resource.DecimalSI))
	add(corev1.ResourceMemory, resource.NewQuantity(p.MemoryBytes-requests.Memory().Value(), resource.BinarySI))
}

// wishData writes what the pod reads and what it asks of disks where our plugins look for it, unless it says so itself.
func wishData(pod *corev1.Pod, p *model.Pod) {
	if len(p.Datasets) > 0 {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		references, err := vicinityv1alpha1.ParseDatasetLabels(pod.Labels)
		for i, name := range p.Datasets {
			if err == nil && len(references) == 0 {
				pod.Labels["dataset."+strconv.Itoa(i)+".id"] = strings.TrimPrefix(name, pod.Namespace+"/")
			}
		}
	}
	if p.DiskBytesPerSecond > 0 && pod.Annotations[vicinityv1alpha1.BlockIOAnnotation] == "" &&
		pod.Annotations[vicinityv1alpha1.BlockIOThroughputAnnotation] == "" {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		// The model does not tell reading from writing; the plugin looks at their sum, too.
		pod.Annotations[vicinityv1alpha1.BlockIOAnnotation] = fmt.Sprintf(`{"rbps":"%d"}`, p.DiskBytesPerSecond)
	}
}

// dropUnknownClaims takes away volumes whose claims the input does not have: a trace's pods name claims of a cluster
// that is not simulated.
func (s *Scheduler) dropUnknownClaims(pod *corev1.Pod) {
	kept := pod.Spec.Volumes[:0]
	for _, volume := range pod.Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim == nil || s.claims[pod.Namespace+"/"+claim.ClaimName] {
			kept = append(kept, volume)
		}
	}
	pod.Spec.Volumes = kept
}
