package worldfile

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// File is the document. Everything is optional; names that are not in it are refused.
type File struct {
	// Datasets are what pods read.
	Datasets []Dataset `json:"datasets"`
	// Links say how far apart places are.
	Links Links `json:"links"`
	// Disks give nodes a disk. Of the rules that match a node the first one counts.
	Disks []Disk `json:"disks"`
	// Failures are nodes that are down for a time.
	Failures []Failure `json:"failures"`
	// Pods say what pods do. All rules that match a pod count.
	Pods []PodRule `json:"pods"`
}

// Dataset is data that a pod needs on its node before it starts.
type Dataset struct {
	// Name is "name" for any namespace, or "namespace/name".
	Name string `json:"name"`
	// Size is a quantity of bytes, such as 140Gi.
	Size resource.Quantity `json:"size"`
	// Nodes hold a copy from the start.
	Nodes []string `json:"nodes"`
}

// Links are what lies between a pod and what it talks to or reads, by distance.
type Links struct {
	SameNode  Link `json:"sameNode"`
	SameRack  Link `json:"sameRack"`
	SameZone  Link `json:"sameZone"`
	OtherZone Link `json:"otherZone"`
	Store     Link `json:"store"`
}

// Link is what lies between two places.
type Link struct {
	// RTT is the round trip, such as 200us.
	RTT metav1.Duration `json:"rtt"`
	// Bandwidth is in bytes per second, such as 1Gi; absent means that transfers take no time.
	Bandwidth resource.Quantity `json:"bandwidth"`
}

// Disk is what the disks of some nodes can do.
type Disk struct {
	// Nodes is a pattern for names, such as "gpu-*"; absent means all.
	Nodes string `json:"nodes"`
	// Bandwidth is in bytes per second, reading and writing together.
	Bandwidth resource.Quantity `json:"bandwidth"`
}

// Failure is a node that is down.
type Failure struct {
	Node string `json:"node"`
	// At and Until are times since the start of the trace; without Until the node stays down.
	At    metav1.Duration `json:"at"`
	Until metav1.Duration `json:"until"`
}

// PodRule says what some pods do.
type PodRule struct {
	// Match is a pattern for "namespace/name", in which * stands for anything but a slash; absent means all.
	Match string `json:"match"`
	// Datasets are names of what the pods read.
	Datasets []string `json:"datasets"`
	// Disk is what each of them asks of its disk, in bytes per second.
	Disk resource.Quantity `json:"disk"`
	// Peers are "namespace/name" of pods they talk to.
	Peers []string `json:"peers"`
}

// maxBytes bounds what can be read: a document of a simulation is written by hand or a script.
const maxBytes = 16 << 20

// Parse reads a document. The error names the file, and the line or field.
func Parse(file string, data []byte) (*File, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: %d bytes are more than %d", file, len(data), maxBytes)
	}
	f := &File{}
	if err := yaml.UnmarshalStrict(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

func (f *File) validate() error {
	var errs []error
	for i, d := range f.Datasets {
		if d.Name == "" {
			errs = append(errs, fmt.Errorf("datasets[%d].name: empty", i))
		}
		errs = append(errs, bytes(fmt.Sprintf("datasets[%d].size", i), &d.Size))
	}
	for d, link := range f.links() {
		at := "links." + strings.ReplaceAll(model.Distance(d).String(), " ", "-")
		errs = append(errs, bytes(at+".bandwidth", &link.Bandwidth), notNegative(at+".rtt", link.RTT.Duration))
	}
	for i, d := range f.Disks {
		errs = append(errs, bytes(fmt.Sprintf("disks[%d].bandwidth", i), &d.Bandwidth), pattern(fmt.Sprintf("disks[%d].nodes", i), d.Nodes))
	}
	for i, failure := range f.Failures {
		errs = append(errs, notNegative(fmt.Sprintf("failures[%d].at", i), failure.At.Duration))
	}
	for i, p := range f.Pods {
		errs = append(errs, bytes(fmt.Sprintf("pods[%d].disk", i), &p.Disk), pattern(fmt.Sprintf("pods[%d].match", i), p.Match))
	}
	return errors.Join(errs...)
}

func (f *File) links() [model.Distances]Link {
	return [model.Distances]Link{
		model.SameNode: f.Links.SameNode, model.SameRack: f.Links.SameRack, model.SameZone: f.Links.SameZone,
		model.OtherZone: f.Links.OtherZone, model.Store: f.Links.Store,
	}
}

// maxQuantity keeps sums over many pods within 64 bits.
const maxQuantity = math.MaxInt64 >> 20

func bytes(field string, q *resource.Quantity) error {
	if q.Sign() < 0 || q.CmpInt64(maxQuantity) > 0 {
		return fmt.Errorf("%s is %s, expected 0 to %d bytes", field, q, int64(maxQuantity))
	}
	return nil
}

func notNegative(field string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s is %v, expected 0 or more", field, d)
	}
	return nil
}

func pattern(field, text string) error {
	if _, err := path.Match(text, ""); err != nil {
		return fmt.Errorf("%s is %q: %w", field, text, err)
	}
	return nil
}
