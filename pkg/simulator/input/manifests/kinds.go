package manifests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// Object is a decoded object and where it was read.
type Object[T any] struct {
	Value *T
	From  *Document
}

// Set is what was read, each kind in the order of the files.
type Set struct {
	Nodes                  []Object[corev1.Node]
	Pods                   []Object[corev1.Pod]
	Deployments            []Object[appsv1.Deployment]
	ReplicaSets            []Object[appsv1.ReplicaSet]
	ReplicationControllers []Object[corev1.ReplicationController]
	StatefulSets           []Object[appsv1.StatefulSet]
	DaemonSets             []Object[appsv1.DaemonSet]
	Jobs                   []Object[batchv1.Job]
	CronJobs               []Object[batchv1.CronJob]
	Claims                 []Object[corev1.PersistentVolumeClaim]
	// Beside have no effect on native policies; the real scheduler's plugins look at some of them.
	Services       []Object[corev1.Service]
	Volumes        []Object[corev1.PersistentVolume]
	StorageClasses []Object[storagev1.StorageClass]
	Budgets        []Object[policyv1.PodDisruptionBudget]
	// Others are objects of other kinds, such as the custom resources that Vicinity's plugins read, as JSON.
	Others []Object[json.RawMessage]

	names map[string]faults.Position
}

// list is any kind of List.
type objectList struct {
	Items []json.RawMessage `json:"items"`
}

// reader puts one document into a set.
type reader struct {
	set  *Set
	list *faults.List
}

// document decodes a document that toJSON has accepted.
func (r *reader) document(d *Document, raw []byte) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		r.list.Add(d.At(), "want a Kubernetes object with apiVersion and kind: %v", err)
		return
	}
	group, err := schema.ParseGroupVersion(head.APIVersion)
	switch {
	case head.Kind == "":
		r.list.Add(d.At("kind"), "want the kind of the object, such as Node or Pod; found none")
	case err != nil:
		r.list.Add(d.At("apiVersion"), "want group/version, found %q", head.APIVersion)
	case isList(raw, head.Kind):
		r.items(d, raw, strings.TrimSuffix(head.Kind, "List"), head.APIVersion)
	default:
		r.object(d, raw, schema.GroupKind{Group: group.Group, Kind: head.Kind})
	}
}

func isList(raw []byte, kind string) bool {
	var found struct {
		Items *json.RawMessage `json:"items"`
	}
	return strings.HasSuffix(kind, "List") && json.Unmarshal(raw, &found) == nil && found.Items != nil
}

// items reads a List. Items of a typed one (PodList) need not repeat their kind.
func (r *reader) items(d *Document, raw []byte, kind, apiVersion string) {
	var content objectList
	if err := json.Unmarshal(raw, &content); err != nil {
		r.list.Add(d.At("items"), "want a list of objects: %v", err)
		return
	}
	for i, item := range content.Items {
		inner := *d
		inner.within = append(slices.Clip(d.within), "items", strconv.Itoa(i))
		if len(inner.within) > maxNesting {
			r.list.Add(d.At(), "Lists within Lists, %d deep", len(inner.within)/2)
			return
		}
		if kind != "" {
			item = withKind(item, kind, apiVersion)
		}
		r.document(&inner, item)
	}
}

// maxNesting is twice the depth to which Lists may hold Lists.
const maxNesting = 8

func withKind(item []byte, kind, apiVersion string) []byte {
	var fields map[string]any
	if json.Unmarshal(item, &fields) != nil || fields["kind"] != nil || fields == nil {
		return item
	}
	fields["kind"], fields["apiVersion"] = kind, apiVersion
	text, err := json.Marshal(fields)
	if err != nil {
		return item
	}
	return text
}

// object puts an object where it belongs. The version is not looked at: the older ones that the predecessor's files use
// have the same fields.
func (r *reader) object(d *Document, raw []byte, kind schema.GroupKind) {
	s := r.set
	switch kind {
	case schema.GroupKind{Kind: "Node"}:
		add(r, &s.Nodes, d, raw)
	case schema.GroupKind{Kind: "Pod"}:
		add(r, &s.Pods, d, raw)
	case schema.GroupKind{Kind: "ReplicationController"}:
		add(r, &s.ReplicationControllers, d, raw)
	case schema.GroupKind{Kind: "Service"}:
		add(r, &s.Services, d, raw)
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		add(r, &s.Claims, d, raw)
	case schema.GroupKind{Kind: "PersistentVolume"}:
		add(r, &s.Volumes, d, raw)
	case schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}:
		add(r, &s.StorageClasses, d, raw)
	case schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}:
		add(r, &s.Budgets, d, raw)
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		add(r, &s.Jobs, d, raw)
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		add(r, &s.CronJobs, d, raw)
	default:
		r.workload(d, raw, kind)
	}
}

// workload reads the kinds that have moved from group extensions to apps, and what is left.
func (r *reader) workload(d *Document, raw []byte, kind schema.GroupKind) {
	s := r.set
	isApp := kind.Group == "apps" || kind.Group == "extensions"
	switch {
	case isApp && kind.Kind == "Deployment":
		add(r, &s.Deployments, d, raw)
	case isApp && kind.Kind == "ReplicaSet":
		add(r, &s.ReplicaSets, d, raw)
	case isApp && kind.Kind == "StatefulSet":
		add(r, &s.StatefulSets, d, raw)
	case isApp && kind.Kind == "DaemonSet":
		add(r, &s.DaemonSets, d, raw)
	default:
		s.Others = append(s.Others, Object[json.RawMessage]{Value: (*json.RawMessage)(&raw), From: d})
		r.list.Warn(faults.Position{File: d.file}, "kind %s is no workload that the simulator knows, ignored by native policies", kind)
	}
}

// add decodes an object and appends it, unless its name is taken or missing.
func add[T any](r *reader, to *[]Object[T], d *Document, raw []byte) {
	value, ok := decode[T](d, raw, r.list)
	if !ok {
		return
	}
	meta, ok := any(value).(metav1.Object)
	if !ok {
		panic("unreachable: every kind has metadata")
	}
	if meta.GetName() == "" {
		if meta.GetGenerateName() == "" {
			r.list.Add(d.At("metadata", "name"), "want a name, found none")
			return
		}
		meta.SetName(meta.GetGenerateName() + strconv.Itoa(d.line))
	}
	*to = append(*to, Object[T]{Value: value, From: d})
}

// claimName notes that an object exists. Two with one name would be one object in a cluster, whose second form wins;
// the predecessor loses pods that way, so it is a fault here.
func (s *Set) claimName(kind string, meta metav1.Object, d *Document, list *faults.List) bool {
	key := fmt.Sprintf("%s %s", kind, meta.GetName())
	if kind != "Node" && kind != "PersistentVolume" && kind != "StorageClass" {
		if meta.GetNamespace() == "" {
			meta.SetNamespace(metav1.NamespaceDefault)
		}
		key = fmt.Sprintf("%s %s/%s", kind, meta.GetNamespace(), meta.GetName())
	}
	if first, taken := s.names[key]; taken {
		list.Add(d.At("metadata", "name"), "%s is there twice; the first one is at %s", key, first)
		return false
	}
	if s.names == nil {
		s.names = map[string]faults.Position{}
	}
	s.names[key] = faults.Position{File: d.file, Line: d.line}
	return true
}
