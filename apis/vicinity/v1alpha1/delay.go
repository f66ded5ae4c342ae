package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxDelayBounds is the number of bounds that one pod may have.
	MaxDelayBounds = 64
	// MaxDelayBound is the longest bound. A longer one is a mistake in the unit rather than a wish.
	MaxDelayBound = time.Hour
	// MaxDelayBytes bounds the size, in bytes, of the value of DelayAnnotation.
	MaxDelayBytes = 16 << 10
)

// DelayTargetKind says what a bound's reference is.
type DelayTargetKind string

const (
	// DelayToReference is a name in a label: a node's, or else a workload's.
	DelayToReference DelayTargetKind = "reference"
	// DelayToNode is a node by its name.
	DelayToNode DelayTargetKind = "node"
	// DelayToZone is a zone by the value of its nodes' label topology.kubernetes.io/zone.
	DelayToZone DelayTargetKind = "zone"
	// DelayToWorkload is each placed pod of a workload, by the name of its Deployment, StatefulSet, DaemonSet, Job or
	// ReplicaSet, or the pod's own.
	DelayToWorkload DelayTargetKind = "workload"
	// DelayToSelector is each placed pod with certain labels.
	DelayToSelector DelayTargetKind = "selector"
	// DelayToEndpoint is a place outside the cluster to which the agents measure.
	DelayToEndpoint DelayTargetKind = "endpoint"
)

// DelayTarget is what a bound is to. It is part of no object.
//
// +kubebuilder:object:generate=false
type DelayTarget struct {
	Kind DelayTargetKind
	// Name is the reference, node, zone or workload, the selector in kubectl's syntax, or the endpoint as host or
	// host:port.
	Name string
	// Namespace is that of a workload's or selector's pods; "" is the pod's own. For a DelayToReference it is always "".
	Namespace string
}

// DelayUnknownPolicy says what becomes of nodes whose round-trip time to the target nobody measured.
type DelayUnknownPolicy string

const (
	// DelayUnknownReject rejects them.
	DelayUnknownReject DelayUnknownPolicy = "Reject"
	// DelayUnknownEstimate accepts them if the estimate plus its error is within the bound.
	DelayUnknownEstimate DelayUnknownPolicy = "Estimate"
	// DelayUnknownAllow accepts them.
	DelayUnknownAllow DelayUnknownPolicy = "Allow"
)

// DelayBound is one bound of a pod. It is part of no object.
//
// +kubebuilder:object:generate=false
type DelayBound struct {
	// Origin is the key that the bound comes from, for messages: label "delay_edge-1", annotation "vicinity.dev/delay"[0].
	Origin string
	To     DelayTarget
	// Max is the longest round-trip time, 0 to MaxDelayBound.
	Max time.Duration
	// Percentile is 50 or 99; 0 means that the pod does not say.
	Percentile int32
	// Required says that nodes beyond the bound are rejected; they only score less otherwise.
	Required bool
	// OnUnknown is "" when the pod does not say.
	OnUnknown DelayUnknownPolicy
}

// DelayBoundsOf returns the bounds of a pod with these labels and annotations: those of labels in the order of their
// keys, then the annotation's. The error names the key and what is wrong with it.
func DelayBoundsOf(labels, annotations map[string]string) ([]DelayBound, error) {
	var bounds []DelayBound
	count := 0
	for key := range labels {
		if strings.HasPrefix(key, DelayLabelPrefix) {
			count++
		}
	}
	if count > MaxDelayBounds {
		return nil, fmt.Errorf("labels %s*: want at most %d bounds, found %d", DelayLabelPrefix, MaxDelayBounds, count)
	}
	if count > 0 {
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			if !strings.HasPrefix(key, DelayLabelPrefix) {
				continue
			}
			bound, err := delayOfLabel(key, labels[key])
			if err != nil {
				return nil, err
			}
			bounds = append(bounds, bound)
		}
	}
	value, ok := annotations[DelayAnnotation]
	if !ok {
		return bounds, nil
	}
	structured, err := ParseDelay(value)
	if err != nil {
		return nil, fmt.Errorf("annotation %q: %w", DelayAnnotation, err)
	}
	if all := len(bounds) + len(structured); all > MaxDelayBounds {
		return nil, fmt.Errorf("annotation %q: want at most %d bounds with those of labels, found %d",
			DelayAnnotation, MaxDelayBounds, all)
	}
	return append(bounds, structured...), nil
}

func delayOfLabel(key, value string) (DelayBound, error) {
	origin := "label " + quote(key)
	reference := strings.TrimPrefix(key, DelayLabelPrefix)
	if reference == "" {
		return DelayBound{}, fmt.Errorf("%s: want the name of a node or workload after %q, found none", origin, DelayLabelPrefix)
	}
	limit, err := ParseDelayMilliseconds(value)
	if err != nil {
		return DelayBound{}, fmt.Errorf("%s: %w", origin, err)
	}
	return DelayBound{
		Origin: origin, To: DelayTarget{Kind: DelayToReference, Name: reference}, Max: limit, Required: true,
	}, nil
}

// maxDelayDigits keeps a number of milliseconds within what a float64 holds exactly enough.
const maxDelayDigits = 20

// ParseDelayMilliseconds reads the value of a label that starts with DelayLabelPrefix: milliseconds as a decimal number
// without sign or exponent, 0 to those of MaxDelayBound. The error does not name the key.
func ParseDelayMilliseconds(value string) (time.Duration, error) {
	whole, fraction, dotted := strings.Cut(value, ".")
	digits := len(whole) > 0 && (!dotted || len(fraction) > 0) && len(value) <= maxDelayDigits &&
		strings.Trim(whole+fraction, "0123456789") == ""
	if digits {
		number, err := strconv.ParseFloat(value, 64)
		if limit := number * float64(time.Millisecond); err == nil && limit <= float64(MaxDelayBound) {
			return time.Duration(limit), nil
		}
	}
	return 0, fmt.Errorf("want milliseconds from 0 to %d, such as \"25\" or \"2.5\", found %s",
		MaxDelayBound.Milliseconds(), quote(value))
}

// ParseDelayReference splits a label's reference into the workloads that it may name, in the order in which they are
// looked for: one of the pod's own namespace, then namespace.name for each dot.
func ParseDelayReference(reference, ownNamespace string) []DelayTarget {
	targets := []DelayTarget{{Kind: DelayToWorkload, Name: reference, Namespace: ownNamespace}}
	for i := range reference {
		if reference[i] == '.' && i > 0 && i < len(reference)-1 {
			targets = append(targets, DelayTarget{Kind: DelayToWorkload, Name: reference[i+1:], Namespace: reference[:i]})
		}
	}
	return targets
}

// String returns the target as messages show it.
func (t DelayTarget) String() string {
	text := quote(t.Name)
	if t.Kind != DelayToReference {
		text = string(t.Kind) + " " + text
	}
	if t.Namespace != "" {
		text += " of namespace " + quote(t.Namespace)
	}
	return text
}
