package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datasetList is what -o json and -o yaml print. Programs read it: fields may be added, but keep name and meaning.
type datasetList struct {
	// Time is when the cluster was read, by this machine's clock.
	Time time.Time `json:"time"`
	// Sources were asked, in this order of precedence.
	Sources []string `json:"sources"`
	// StaleAfterSeconds is the age beyond which news does not count.
	StaleAfterSeconds float64 `json:"staleAfterSeconds"`
	// NotInstalled names the sources that this cluster has not.
	NotInstalled []string      `json:"notInstalled,omitempty"`
	Items        []datasetView `json:"items"`
}

// datasetView is one dataset.
type datasetView struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sources have heard of the dataset, whether or not they say where it is.
	Sources []string `json:"sources"`
	// SizeBytes is absent when it is not known.
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// NodeCached says that a node which reads the dataset keeps what it read, and that agents watch that.
	NodeCached bool          `json:"nodeCached"`
	Replicas   []replicaView `json:"replicas"`
}

// replicaView is one place from which the dataset can be read, and one medium there.
type replicaView struct {
	Location locationView `json:"location"`
	// Node is absent for a place that is wider than a node, and for a node that is gone.
	Node    string `json:"node,omitempty"`
	Gateway bool   `json:"gateway"`
	// Medium is absent when it is not known.
	Medium string `json:"medium,omitempty"`
	// CachedBytes is absent when it is not known; then the scheduler takes it for all of the dataset.
	CachedBytes *int64 `json:"cachedBytes,omitempty"`
	// Percent is CachedBytes in percent of SizeBytes, at most 100, absent unless both are known.
	Percent *float64 `json:"percent,omitempty"`
	Source  string   `json:"source"`
	// ObservedAt and AgeSeconds are absent when the source does not tell.
	ObservedAt time.Time `json:"observedAt,omitzero"`
	AgeSeconds *float64  `json:"ageSeconds,omitempty"`
	// Usable says that the scheduler counts this place; Reason says why it does not.
	Usable bool   `json:"usable"`
	Reason string `json:"reason,omitempty"`
}

// locationView names the nodes that carry a label.
type locationView struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// describeDatasets says of each dataset what the scheduler would see at the time now.
func describeDatasets(cluster *clusterView, keys []locality.DatasetKey, now time.Time, staleAfter time.Duration) datasetList {
	list := datasetList{
		Time: now.UTC().Truncate(time.Second), Sources: asStrings(cluster.sources), StaleAfterSeconds: staleAfter.Seconds(),
		NotInstalled: cluster.notInstalled, Items: make([]datasetView, 0, len(keys)),
	}
	for _, key := range keys {
		dataset := cluster.dataset(key, now, staleAfter)
		view := datasetView{
			Namespace: key.Namespace, Name: key.Name, Sources: cluster.sourcesOf(key, dataset),
			SizeBytes: dataset.SizeBytes, NodeCached: dataset.NodeCached, Replicas: make([]replicaView, 0, len(dataset.Replicas)),
		}
		for _, r := range dataset.Replicas {
			view.Replicas = append(view.Replicas, describeReplica(cluster, r, dataset.SizeBytes, now, staleAfter))
		}
		slices.SortFunc(view.Replicas, compareReplicas)
		list.Items = append(list.Items, view)
	}
	return list
}

// sourcesOf returns the sources that know the dataset; one may say where it is without knowing it, by labels on nodes.
func (v *clusterView) sourcesOf(key locality.DatasetKey, dataset locality.Dataset) []string {
	out := []string{}
	for _, source := range v.sources {
		says := func(r locality.Replica) bool { return r.Source == string(source) }
		if v.known.Known(key, []configv1.DatasetSource{source}) || slices.ContainsFunc(dataset.Replicas, says) {
			out = append(out, string(source))
		}
	}
	return out
}

// compareReplicas puts what counts first, and then what holds more.
func compareReplicas(a, b replicaView) int {
	if a.Usable != b.Usable {
		if a.Usable {
			return -1
		}
		return 1
	}
	return cmp.Or(
		-cmp.Compare(a.bytesOrAll(), b.bytesOrAll()), cmp.Compare(a.place(), b.place()), cmp.Compare(a.Medium, b.Medium),
		cmp.Compare(a.Source, b.Source),
	)
}

// bytesOrAll takes unknown bytes for all of them, as the scheduler does.
func (r *replicaView) bytesOrAll() int64 {
	if r.Gateway || r.CachedBytes == nil {
		return math.MaxInt64
	}
	return *r.CachedBytes
}

// place is how people call the location.
func (r *replicaView) place() string {
	if r.Location.Key == locality.HostnameKey {
		return cmp.Or(r.Node, r.Location.Value)
	}
	return r.Location.Key + "=" + r.Location.Value
}

func describeReplica(cluster *clusterView, r locality.Replica, size int64, now time.Time, staleAfter time.Duration) replicaView {
	view := replicaView{
		Location: locationView{Key: r.At.Key, Value: r.At.Value}, Gateway: r.Gateway, Source: r.Source,
		ObservedAt: r.Observed,
	}
	if r.Medium != locality.MediumUnknown && !r.Gateway {
		view.Medium = r.Medium.String()
	}
	if r.BytesKnown && !r.Gateway {
		view.CachedBytes = &r.Bytes
		if size > 0 {
			view.Percent = new(100 * min(1, float64(r.Bytes)/float64(size)))
		}
	}
	if !r.Observed.IsZero() {
		view.AgeSeconds = new(max(0, now.Sub(r.Observed)).Truncate(time.Second).Seconds())
	}
	var faults []string
	if r.Stale(now, staleAfter) {
		faults = append(faults, "the news is stale")
	}
	if r.BytesKnown && r.Bytes <= 0 && !r.Gateway {
		faults = append(faults, "it holds nothing")
	}
	node, fault := cluster.resolve(r.At)
	if fault != "" {
		faults = append(faults, fault)
	}
	view.Node, view.Usable, view.Reason = node, len(faults) == 0, strings.Join(faults, ", ")
	return view
}

// resolve returns the name of the node that a location names, "" for a wider one, and why the scheduler does not count
// it, "" if it does.
func (v *clusterView) resolve(at locality.Location) (node, fault string) {
	if at.Key == locality.HostnameKey {
		if found, ok := v.index.Named(at.Value); ok {
			return found.Name, ""
		}
		for _, n := range v.nodes {
			if n.Name == at.Value || n.Labels[locality.HostnameKey] == at.Value {
				return n.Name, unusable(n)
			}
		}
		return "", "there is no such node"
	}
	if _, ok := v.index.Member(at); ok {
		return "", ""
	}
	if slices.ContainsFunc(v.nodes, func(n *corev1.Node) bool { return n.Labels[at.Key] == at.Value }) {
		return "", "no node with this label is ready and open to new pods"
	}
	return "", "no node has this label"
}

// unusable says why a node that the index does not offer is left out.
func unusable(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		return "the node is cordoned"
	}
	return "the node is not ready"
}
