package v1alpha1

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/json"
)

// delayEntry is one element of the list in DelayAnnotation.
type delayEntry struct {
	To         *delayTo            `json:"to"`
	Max        *string             `json:"max"`
	Percentile *int32              `json:"percentile"`
	Required   *bool               `json:"required"`
	OnUnknown  *DelayUnknownPolicy `json:"onUnknown"`
}

// delayTo has one of its members, and a namespace beside a workload or a selector.
type delayTo struct {
	Node      *string `json:"node"`
	Zone      *string `json:"zone"`
	Workload  *string `json:"workload"`
	Selector  *string `json:"selector"`
	Endpoint  *string `json:"endpoint"`
	Namespace *string `json:"namespace"`
}

// ParseDelay reads the value of DelayAnnotation, a JSON list of bounds:
//
//	[{"to": {"workload": "db"}, "max": "2.5ms", "percentile": 99, "required": true, "onUnknown": "Estimate"}]
//
// to has one of node, zone, workload, selector and endpoint; workload and selector may have a namespace beside them,
// which is the pod's own otherwise. max is a duration from 0 to MaxDelayBound. percentile is 50 or 99; without it the
// scheduler's arguments decide, as they do without onUnknown, one of Reject, Estimate and Allow. required is true when
// absent. Unknown and repeated members are faults. The error does not name the key.
func ParseDelay(value string) ([]DelayBound, error) {
	if len(value) > MaxDelayBytes {
		return nil, fmt.Errorf("want at most %d bytes, found %d", MaxDelayBytes, len(value))
	}
	var entries []delayEntry
	strict, err := json.UnmarshalStrict([]byte(value), &entries)
	if err == nil {
		err = errors.Join(strict...)
	}
	if err != nil {
		return nil, fmt.Errorf("want a JSON list such as [{\"to\":{\"node\":\"edge-1\"},\"max\":\"25ms\"}], found %s: %w", quote(value), err)
	}
	if len(entries) > MaxDelayBounds {
		return nil, fmt.Errorf("want at most %d bounds, found %d", MaxDelayBounds, len(entries))
	}
	bounds := make([]DelayBound, len(entries))
	for i := range entries {
		if bounds[i], err = entries[i].bound(); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		bounds[i].Origin = fmt.Sprintf("annotation %q[%d]", DelayAnnotation, i)
	}
	return bounds, nil
}

func (e *delayEntry) bound() (bound DelayBound, err error) {
	bound = DelayBound{Required: e.Required == nil || *e.Required}
	if bound.To, err = e.To.target(); err != nil {
		return DelayBound{}, fmt.Errorf("to: %w", err)
	}
	if e.Max == nil {
		return DelayBound{}, errors.New("max: want a duration such as \"2.5ms\", found none")
	}
	bound.Max, err = time.ParseDuration(*e.Max)
	if err != nil || bound.Max < 0 || bound.Max > MaxDelayBound {
		return DelayBound{}, fmt.Errorf("max: want a duration from 0 to %s such as \"2.5ms\", found %s", MaxDelayBound, quote(*e.Max))
	}
	if err = e.refine(&bound); err != nil {
		return DelayBound{}, err
	}
	return bound, nil
}

// refine reads what has a default.
func (e *delayEntry) refine(bound *DelayBound) error {
	if e.Percentile != nil {
		if bound.Percentile = *e.Percentile; bound.Percentile != 50 && bound.Percentile != 99 {
			return fmt.Errorf("percentile: want 50 or 99, found %d", bound.Percentile)
		}
	}
	if e.OnUnknown != nil {
		switch bound.OnUnknown = *e.OnUnknown; bound.OnUnknown {
		case DelayUnknownReject, DelayUnknownEstimate, DelayUnknownAllow:
		default:
			return fmt.Errorf("onUnknown: want %q, %q or %q, found %s",
				DelayUnknownReject, DelayUnknownEstimate, DelayUnknownAllow, quote(string(bound.OnUnknown)))
		}
	}
	return nil
}

func (t *delayTo) target() (target DelayTarget, err error) {
	if t == nil {
		t = &delayTo{}
	}
	found := 0
	for _, member := range []struct {
		kind DelayTargetKind
		name *string
	}{
		{DelayToNode, t.Node},
		{DelayToZone, t.Zone},
		{DelayToWorkload, t.Workload},
		{DelayToSelector, t.Selector},
		{DelayToEndpoint, t.Endpoint},
	} {
		if member.name != nil {
			target.Kind, target.Name = member.kind, *member.name
			found++
		}
	}
	if found != 1 {
		return DelayTarget{}, fmt.Errorf("want one of node, zone, workload, selector and endpoint, found %d of them", found)
	}
	if t.Namespace != nil {
		target.Namespace = *t.Namespace
		if target.Kind != DelayToWorkload && target.Kind != DelayToSelector {
			return DelayTarget{}, fmt.Errorf("want a namespace beside a workload or selector only, found one beside %s", target.Kind)
		}
		if faults := validation.IsDNS1123Label(target.Namespace); len(faults) > 0 {
			return DelayTarget{}, fmt.Errorf("namespace: want a namespace's name, found %s", quote(target.Namespace))
		}
	}
	return target, target.check()
}

// check says what is wrong with the name.
func (t DelayTarget) check() error {
	switch t.Kind {
	case DelayToSelector:
		selector, err := labels.Parse(t.Name)
		if err != nil {
			return fmt.Errorf("selector: want labels such as \"app=db\", found %s: %w", quote(t.Name), err)
		}
		if selector.Empty() {
			return errors.New("selector: want labels such as \"app=db\", found one that selects every pod")
		}
	case DelayToEndpoint:
		return checkEndpoint(t.Name)
	case DelayToZone:
		if t.Name == "" || len(validation.IsValidLabelValue(t.Name)) > 0 {
			return fmt.Errorf("zone: want the value of a label, found %s", quote(t.Name))
		}
	default:
		if len(validation.IsDNS1123Subdomain(t.Name)) > 0 {
			return fmt.Errorf("%s: want the name of an object, found %s", t.Kind, quote(t.Name))
		}
	}
	return nil
}

// checkEndpoint takes a host name or an IP address, either with a port or without.
func checkEndpoint(endpoint string) error {
	fault := fmt.Errorf("endpoint: want a host name or IP address, with :port or without, found %s", quote(endpoint))
	if _, err := netip.ParseAddr(endpoint); err == nil {
		return nil
	}
	if _, err := netip.ParseAddrPort(endpoint); err == nil {
		return nil
	}
	host, port, hasPort := strings.Cut(endpoint, ":")
	if hasPort {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return fault
		}
	}
	if len(validation.IsDNS1123Subdomain(host)) > 0 {
		return fault
	}
	return nil
}
