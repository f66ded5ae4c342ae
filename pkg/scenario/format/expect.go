package format

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Expect says what must become true of pods or of a metric. Which pods: one of pod, pods, selector. What of them: node,
// nodes and maxNodes (bound), pending, or record.
type Expect struct {
	// Pod is one pod's name.
	Pod string `json:"pod"`
	// Pods are several pods' names; all of them must be as expected.
	Pods []string `json:"pods"`
	// Selector picks pods by their labels, for pods whose names are made up by a controller.
	Selector map[string]string `json:"selector"`
	// Count is how many pods the selector must find; at least one when absent.
	Count int `json:"count"`

	// Node is the node on which the pods must be.
	Node string `json:"node"`
	// Nodes are the nodes on one of which each pod must be.
	Nodes []string `json:"nodes"`
	// MaxNodes is the largest number of nodes that the pods may be spread over.
	MaxNodes int `json:"maxNodes"`
	// Pending is a text in the message of the PodScheduled condition of a pod that is Unschedulable.
	Pending string `json:"pending"`
	// Metric is a metric of one of Vicinity's processes.
	Metric *Metric `json:"metric"`
	// Record is what the scheduler must have recorded about each of the pods.
	Record *Record `json:"record"`

	// Within is the longest time until the expectation must hold, 20s when absent.
	Within *metav1.Duration `json:"within"`
	// For is how long it must go on holding from then on; a moment when absent.
	For *metav1.Duration `json:"for"`
	// Recreate applies a pod again when it is on a wrong node, until the expectation holds or the time is over. It is for
	// what becomes true at a moment that nothing announces, since a bound pod never moves.
	Recreate bool `json:"recreate"`
	// Because is the reason that a successful result shows.
	Because string `json:"because"`
	// Decisive makes this expectation's pod the one that the result shows, instead of the last one's.
	Decisive bool `json:"decisive"`
}

func (e *Expect) validate(path *field.Path) field.ErrorList {
	errs := append(validateDuration(path.Child("within"), e.Within), validateDuration(path.Child("for"), e.For)...)
	if e.Metric != nil {
		if e.aboutPods() {
			errs = append(errs, field.Forbidden(path.Child("metric"), "a step expects either pods or a metric"))
		}
		return append(errs, e.Metric.validate(path.Child("metric"))...)
	}
	errs = append(errs, e.validateSubject(path)...)
	if e.Record != nil {
		return append(errs, e.validateRecord(path)...)
	}
	return append(errs, e.validateOutcome(path)...)
}

func (e *Expect) aboutPods() bool {
	return e.Pod != "" || len(e.Pods) > 0 || len(e.Selector) > 0 || e.Pending != "" || e.Record != nil || e.bound()
}

// bound says whether the pods must have a node.
func (e *Expect) bound() bool { return e.Node != "" || len(e.Nodes) > 0 || e.MaxNodes != 0 }

func (e *Expect) validateSubject(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	subjects := 0
	for _, given := range []bool{e.Pod != "", len(e.Pods) > 0, len(e.Selector) > 0} {
		if given {
			subjects++
		}
	}
	if subjects != 1 {
		errs = append(errs, field.Required(path, fmt.Sprintf("exactly one of pod, pods, selector, or a metric; found %d", subjects)))
	}
	if e.Count != 0 && len(e.Selector) == 0 {
		errs = append(errs, field.Forbidden(path.Child("count"), "only together with selector"))
	}
	if e.Count < 0 {
		errs = append(errs, field.Invalid(path.Child("count"), e.Count, "must not be negative"))
	}
	if e.Recreate && (len(e.Selector) > 0 || e.For != nil) {
		errs = append(errs, field.Forbidden(path.Child("recreate"), "not together with selector or for"))
	}
	for i, name := range e.Pods {
		if name == "" {
			errs = append(errs, field.Required(path.Child("pods").Index(i), "the pod's name"))
		}
	}
	return errs
}

func (e *Expect) validateOutcome(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case e.Node != "" && len(e.Nodes) > 0:
		errs = append(errs, field.Forbidden(path.Child("nodes"), "only without node"))
	case e.Pending != "" && e.bound():
		errs = append(errs, field.Forbidden(path.Child("pending"), "a pending pod has no node"))
	case e.Pending == "" && !e.bound():
		errs = append(errs, field.Required(path, "what is expected of the pod: node, nodes, maxNodes or pending"))
	}
	if e.MaxNodes < 0 {
		errs = append(errs, field.Invalid(path.Child("maxNodes"), e.MaxNodes, "must not be negative"))
	}
	return errs
}
