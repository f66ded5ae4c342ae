package worldfile

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

const (
	apiVersion = "simulate.vicinity.dev/v1"
	kind       = "World"
)

// File is the file as it stands.
type File struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Datasets   []Dataset `json:"datasets"`
	Links      Links     `json:"links"`
	Disks      []Disk    `json:"disks"`
	Failures   []Failure `json:"failures"`
	Peers      []Peers   `json:"peers"`

	doc *manifests.Document
}

// Dataset has the name "namespace/name".
type Dataset struct {
	Name  string            `json:"name"`
	Size  resource.Quantity `json:"size"`
	Nodes []string          `json:"nodes"`
}

// Links are by distance.
type Links struct {
	SameRack  *Link `json:"sameRack"`
	SameZone  *Link `json:"sameZone"`
	OtherZone *Link `json:"otherZone"`
	Store     *Link `json:"store"`
}

// Link has a round trip and bytes a second for one transfer.
type Link struct {
	RTT       metav1.Duration   `json:"rtt"`
	Bandwidth resource.Quantity `json:"bandwidth"`
}

// Disk is what the disk of some nodes can do in bytes a second; without nodes it is that of all others.
type Disk struct {
	Nodes     []string          `json:"nodes"`
	Bandwidth resource.Quantity `json:"bandwidth"`
}

// Failure is a node that is down; without Until it stays so.
type Failure struct {
	Node  string          `json:"node"`
	At    metav1.Duration `json:"at"`
	Until metav1.Duration `json:"until"`
}

// Peers says whom a pod talks to, all by "namespace/name".
type Peers struct {
	Pod   string   `json:"pod"`
	Peers []string `json:"peers"`
}

// mostBytes bounds sizes and bandwidths: sums over all pods stay within 64 bits.
const mostBytes = 1 << 50

// Parse reads the file. The result is nil if there is none that could be looked at.
func Parse(file string, data []byte, list *faults.List) *File {
	f, doc := manifests.Single[File](file, data, list)
	if f == nil {
		return nil
	}
	f.doc = doc
	if f.APIVersion != apiVersion || f.Kind != kind {
		list.Add(doc.At("apiVersion"), "want apiVersion %s and kind %s, found %q and %q", apiVersion, kind, f.APIVersion, f.Kind)
	}
	return f
}

// Apply puts the file's content into an experiment, whose nodes and pods it names.
func (f *File) Apply(x *simulator.Experiment, list *faults.List) {
	a := applier{file: f, list: list, nodes: map[string]int{}, pods: map[string]int{}}
	x.Cluster.Nodes = slices.Clone(x.Cluster.Nodes)
	x.Pods = slices.Clone(x.Pods)
	for i := range x.Cluster.Nodes {
		a.nodes[x.Cluster.Nodes[i].Name] = i
	}
	for i := range x.Pods {
		a.pods[x.Pods[i].Key()] = i
	}
	a.datasets(x)
	a.links(x)
	a.disks(x)
	a.failures(x)
	a.peers(x)
	for i := range x.Pods {
		a.pod(&x.Pods[i], &x.World)
	}
	// Waiting for data and disks makes runs longer, and what a failure has thrown out comes back.
	x.Queue.RunFullLength, x.Queue.Retry = true, true
}

type applier struct {
	file        *File
	list        *faults.List
	nodes, pods map[string]int
}

// bytes checks a size or bandwidth.
func (a *applier) bytes(q *resource.Quantity, path ...string) int64 {
	if q.Sign() < 0 || q.CmpInt64(mostBytes) > 0 {
		a.list.Add(a.file.doc.At(path...), "want 0 to 1Pi bytes, found %s", q.String())
		return 0
	}
	return q.Value()
}

// node checks that the cluster has a node.
func (a *applier) node(name string, path ...string) bool {
	if _, found := a.nodes[name]; !found {
		a.list.Add(a.file.doc.At(path...), "the cluster has no node %q", name)
		return false
	}
	return true
}

func (a *applier) datasets(x *simulator.Experiment) {
	seen := map[string]bool{}
	for i := range a.file.Datasets {
		d := &a.file.Datasets[i]
		at := []string{"datasets", strconv.Itoa(i)}
		if d.Name == "" || seen[d.Name] {
			a.list.Add(a.file.doc.At(append(at, "name")...), "want a name of its own, as namespace/name; found %q", d.Name)
			continue
		}
		seen[d.Name] = true
		for j, name := range d.Nodes {
			a.node(name, append(slices.Clip(at), "nodes", strconv.Itoa(j))...)
		}
		x.World.Datasets = append(x.World.Datasets, model.Dataset{
			Name: d.Name, Bytes: a.bytes(&d.Size, append(at, "size")...), Nodes: d.Nodes,
		})
	}
}

func (a *applier) links(x *simulator.Experiment) {
	set := func(distance model.Distance, name string, link *Link) {
		if link == nil {
			return
		}
		if link.RTT.Duration < 0 {
			a.list.Add(a.file.doc.At("links", name, "rtt"), "want a duration of 0 or more, found %s", link.RTT.Duration)
		}
		x.World.Links[distance] = model.Link{
			RTT: link.RTT.Duration, BytesPerSecond: a.bytes(&link.Bandwidth, "links", name, "bandwidth"),
		}
	}
	set(model.SameRack, "sameRack", a.file.Links.SameRack)
	set(model.SameZone, "sameZone", a.file.Links.SameZone)
	set(model.OtherZone, "otherZone", a.file.Links.OtherZone)
	set(model.Store, "store", a.file.Links.Store)
}

func (a *applier) disks(x *simulator.Experiment) {
	named := map[string]bool{}
	var others int64
	for i := range a.file.Disks {
		d := &a.file.Disks[i]
		bandwidth := a.bytes(&d.Bandwidth, "disks", strconv.Itoa(i), "bandwidth")
		if len(d.Nodes) == 0 {
			others = bandwidth
		}
		for j, name := range d.Nodes {
			if a.node(name, "disks", strconv.Itoa(i), "nodes", strconv.Itoa(j)) {
				x.Cluster.Nodes[a.nodes[name]].DiskBytesPerSecond = bandwidth
				named[name] = true
			}
		}
	}
	for i := range x.Cluster.Nodes {
		if !named[x.Cluster.Nodes[i].Name] {
			x.Cluster.Nodes[i].DiskBytesPerSecond = others
		}
	}
}

func (a *applier) failures(x *simulator.Experiment) {
	for i, failure := range a.file.Failures {
		at := []string{"failures", strconv.Itoa(i)}
		if !a.node(failure.Node, append(at, "node")...) {
			continue
		}
		begin, end := failure.At.Duration, failure.Until.Duration
		if begin < 0 || end != 0 && end <= begin {
			a.list.Add(a.file.doc.At(append(at, "until")...), "want times of 0 or more, and until after at; found %s and %s", begin, end)
		}
		x.World.Failures = append(x.World.Failures, model.Failure{Node: failure.Node, At: begin, Until: end})
	}
}

func (a *applier) peers(x *simulator.Experiment) {
	for i, p := range a.file.Peers {
		index, found := a.pods[p.Pod]
		if !found {
			a.list.Add(a.file.doc.At("peers", strconv.Itoa(i), "pod"), "there is no pod %q; want namespace/name", p.Pod)
			continue
		}
		x.Pods[index].Peers = p.Peers
	}
}

// pod reads what the pod's own labels and annotations say.
func (a *applier) pod(pod *model.Pod, world *model.World) {
	source, ok := pod.Source.(*corev1.Pod)
	if !ok {
		return
	}
	references, err := vicinityv1alpha1.ParseDatasetLabels(source.Labels)
	if err != nil {
		a.list.Add(faults.Position{Field: "pod " + pod.Key()}, "%v", err)
	}
	for _, r := range references {
		name := pod.Namespace + "/" + r.Name
		if slices.ContainsFunc(world.Datasets, func(d model.Dataset) bool { return d.Name == name }) {
			pod.Datasets = append(pod.Datasets, name)
			continue
		}
		a.list.Warn(faults.Position{Field: "pod " + pod.Key()}, "dataset %s is not in the world, ignored", name)
	}
	demands, _, err := vicinityv1alpha1.BlockIOOf(source.Annotations)
	if err != nil {
		a.list.Add(faults.Position{Field: "pod " + pod.Key()}, "%v", err)
	}
	pod.DiskBytesPerSecond = 0
	for i := range demands {
		pod.DiskBytesPerSecond += demands[i].ReadBytesPerSecond + demands[i].WriteBytesPerSecond
	}
}

// Read is Parse and Apply, for callers that have an experiment already.
func Read(file string, data []byte, x *simulator.Experiment, list *faults.List) {
	if f := Parse(file, data, list); f != nil {
		f.Apply(x, list)
	}
}
