package rtttargets

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// maxSelectors is how many different selectors of bounds are followed: each pod event is held against all of them.
const maxSelectors = 256

// workload is a name that a bound may refer to, of any kind of owner or of a pod.
type workload struct{ namespace, name string }

// podEntry is what the index knows of a pod.
type podEntry struct {
	node      string
	namespace string
	labels    labels.Set
	workloads []workload
	// wants are what the pod's bounds refer to, with their namespaces resolved, each once.
	wants []vicinityv1alpha1.DelayTarget
}

// selected is a selector with the nodes that have pods of it.
type selected struct {
	selector labels.Selector
	nodes    counts
}

// counts says how many pods there are on a node.
type counts map[string]int

func (c counts) add(node string, n int) {
	if c[node] += n; c[node] == 0 {
		delete(c, node)
	}
}

// index knows which nodes and endpoints the bounds of pods refer to. It may be used from any goroutine.
type index struct {
	mu        sync.Mutex
	pods      map[types.UID]*podEntry
	wanted    map[vicinityv1alpha1.DelayTarget]int
	placed    map[workload]counts
	selectors map[vicinityv1alpha1.DelayTarget]*selected
	changes   uint64
}

func newIndex() *index {
	return &index{
		pods: map[types.UID]*podEntry{}, wanted: map[vicinityv1alpha1.DelayTarget]int{},
		placed: map[workload]counts{}, selectors: map[vicinityv1alpha1.DelayTarget]*selected{},
	}
}

// set takes over a pod as it is now.
func (x *index) set(pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		x.remove(pod.UID)
		return
	}
	entry := entryOf(pod)
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := x.pods[pod.UID]; last != nil {
		if last.equal(entry) {
			return
		}
		x.count(last, -1)
	}
	x.pods[pod.UID] = entry
	x.count(entry, 1)
	x.changes++
}

// remove forgets a pod.
func (x *index) remove(uid types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := x.pods[uid]; last != nil {
		x.count(last, -1)
		delete(x.pods, uid)
		x.changes++
	}
}

func (e *podEntry) equal(other *podEntry) bool {
	return e.node == other.node && slices.Equal(e.wants, other.wants) && maps.Equal(e.labels, other.labels) &&
		slices.Equal(e.workloads, other.workloads)
}

// count adds a pod, or takes it away.
func (x *index) count(e *podEntry, n int) {
	if e.node != "" {
		for _, w := range e.workloads {
			if x.placed[w] == nil {
				x.placed[w] = counts{}
			}
			if x.placed[w].add(e.node, n); len(x.placed[w]) == 0 {
				delete(x.placed, w)
			}
		}
		for target, s := range x.selectors {
			if target.Namespace == e.namespace && s.selector.Matches(e.labels) {
				s.nodes.add(e.node, n)
			}
		}
	}
	for _, target := range e.wants {
		x.want(target, n)
	}
}

func (x *index) want(target vicinityv1alpha1.DelayTarget, n int) {
	if x.wanted[target] += n; x.wanted[target] == 0 {
		delete(x.wanted, target)
		delete(x.selectors, target)
		return
	}
	if target.Kind != vicinityv1alpha1.DelayToSelector || x.selectors[target] != nil || len(x.selectors) >= maxSelectors {
		return
	}
	selector, err := labels.Parse(target.Name)
	if err != nil {
		return // the parser of bounds has checked it
	}
	s := &selected{selector: selector, nodes: counts{}}
	x.selectors[target] = s
	for _, e := range x.pods {
		if e.node != "" && e.namespace == target.Namespace && selector.Matches(e.labels) {
			s.nodes.add(e.node, 1)
		}
	}
}

// references are what the bounds of all pods refer to.
type references struct {
	// nodes are those that exist or existed, by how many pods want them.
	nodes counts
	zones counts
	// endpoints are by how many pods want them.
	endpoints counts
	// selectorsOmitted is the number of selectors that are not followed.
	selectorsOmitted int
}

// version changes with each change of the index.
func (x *index) version() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.changes
}

// references works out what the bounds refer to now.
func (x *index) references() references {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := references{nodes: counts{}, zones: counts{}, endpoints: counts{}}
	everyNode := func(on counts, n int) {
		for node := range on {
			r.nodes[node] += n
		}
	}
	for target, n := range x.wanted {
		switch target.Kind {
		case vicinityv1alpha1.DelayToNode:
			r.nodes[target.Name] += n
		case vicinityv1alpha1.DelayToZone:
			r.zones[target.Name] += n
		case vicinityv1alpha1.DelayToEndpoint:
			r.endpoints[target.Name] += n
		case vicinityv1alpha1.DelayToWorkload:
			everyNode(x.placed[workload{target.Namespace, target.Name}], n)
		case vicinityv1alpha1.DelayToReference:
			// A node's name, or else a workload's: only the scheduler knows which nodes there are when it decides.
			r.nodes[target.Name] += n
			for _, w := range vicinityv1alpha1.ParseDelayReference(target.Name, target.Namespace) {
				everyNode(x.placed[workload{w.Namespace, w.Name}], n)
			}
		case vicinityv1alpha1.DelayToSelector:
			if s := x.selectors[target]; s != nil {
				everyNode(s.nodes, n)
			} else {
				r.selectorsOmitted++
			}
		}
	}
	return r
}

// entryOf takes from a pod what matters.
func entryOf(pod *corev1.Pod) *podEntry {
	e := &podEntry{node: pod.Spec.NodeName, namespace: pod.Namespace, labels: pod.Labels, workloads: workloadsOf(pod)}
	bounds, err := vicinityv1alpha1.DelayBoundsOf(pod.Labels, pod.Annotations)
	if err != nil {
		return e // the scheduler rejects the pod and says why
	}
	for i := range bounds {
		target := bounds[i].To
		switch target.Kind {
		case vicinityv1alpha1.DelayToWorkload, vicinityv1alpha1.DelayToSelector, vicinityv1alpha1.DelayToReference:
			target.Namespace = cmp.Or(target.Namespace, pod.Namespace)
		case vicinityv1alpha1.DelayToNode, vicinityv1alpha1.DelayToZone, vicinityv1alpha1.DelayToEndpoint:
		}
		if !slices.Contains(e.wants, target) {
			e.wants = append(e.wants, target)
		}
	}
	slices.SortFunc(e.wants, func(a, b vicinityv1alpha1.DelayTarget) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return e
}

// workloadsOf returns the names by which a bound may mean a pod: its own, its owner's, and that of its owner's owner, which
// is the same without the last part (a Deployment of its ReplicaSet, a CronJob of its Job).
func workloadsOf(pod *corev1.Pod) []workload {
	all := []workload{{pod.Namespace, pod.Name}}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		all = append(all, workload{pod.Namespace, owner.Name})
		if i := strings.LastIndexByte(owner.Name, '-'); i > 0 && (owner.Kind == "ReplicaSet" || owner.Kind == "Job") {
			all = append(all, workload{pod.Namespace, owner.Name[:i]})
		}
	}
	return all
}
