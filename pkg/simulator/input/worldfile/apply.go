package worldfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Apply gives the experiment the world of the file, and its pods and nodes what the file's rules and their own labels
// and annotations say. The slices of the experiment are replaced, not changed.
func (f *File) Apply(x *simulator.Experiment) error {
	x.World = f.world()
	x.Cluster.Nodes = slices.Clone(x.Cluster.Nodes)
	for i := range x.Cluster.Nodes {
		f.disk(&x.Cluster.Nodes[i])
	}
	var err error
	if x.Pods, err = f.pods(x.Pods); err != nil {
		return err
	}
	if x.Daemons, err = f.pods(x.Daemons); err != nil {
		return err
	}
	x.Apps = slices.Clone(x.Apps)
	for i := range x.Apps {
		if x.Apps[i].Pods, err = f.pods(x.Apps[i].Pods); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) world() model.World {
	var w model.World
	for _, d := range f.Datasets {
		w.Datasets = append(w.Datasets, model.Dataset{Name: d.Name, Bytes: d.Size.Value(), Nodes: d.Nodes})
	}
	for d, link := range f.links() {
		w.Links[d] = model.Link{RTT: link.RTT.Duration, BytesPerSecond: link.Bandwidth.Value()}
	}
	for _, failure := range f.Failures {
		w.Failures = append(w.Failures, model.Failure{Node: failure.Node, At: failure.At.Duration, Until: failure.Until.Duration})
	}
	return w
}

func (f *File) disk(node *model.Node) {
	for i := range f.Disks {
		if matches(f.Disks[i].Nodes, node.Name) {
			node.DiskBytesPerSecond = f.Disks[i].Bandwidth.Value()
			return
		}
	}
}

// matches says whether the pattern, which Parse has checked, fits.
func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return pattern == "" || (err == nil && matched)
}

func (f *File) pods(pods []model.Pod) ([]model.Pod, error) {
	pods = slices.Clone(pods)
	for i := range pods {
		if err := f.pod(&pods[i]); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

func (f *File) pod(pod *model.Pod) error {
	var datasets []string
	for i := range f.Pods {
		rule := &f.Pods[i]
		if !matches(rule.Match, pod.Key()) {
			continue
		}
		datasets = append(datasets, rule.Datasets...)
		pod.DiskBytesPerSecond += rule.Disk.Value()
		pod.Peers = append(slices.Clip(pod.Peers), rule.Peers...)
	}
	if source, ok := pod.Source.(*corev1.Pod); ok && source != nil {
		own, disk, err := ownNeeds(source)
		if err != nil {
			return fmt.Errorf("pod %s: %w", pod.Key(), err)
		}
		datasets = append(datasets, own...)
		pod.DiskBytesPerSecond += disk
	}
	pod.Datasets = nil
	for _, name := range datasets {
		known, err := f.dataset(pod, name)
		if err != nil {
			return err
		}
		if !slices.Contains(pod.Datasets, known) {
			pod.Datasets = append(pod.Datasets, known)
		}
	}
	return nil
}

// dataset is the name that the file has for what a pod calls name: one of its own namespace goes first.
func (f *File) dataset(pod *model.Pod, name string) (string, error) {
	for _, candidate := range []string{pod.Namespace + "/" + name, name} {
		if slices.ContainsFunc(f.Datasets, func(d Dataset) bool { return d.Name == candidate }) {
			return candidate, nil
		}
	}
	var known []string
	for i := range f.Datasets {
		known = append(known, f.Datasets[i].Name)
	}
	return "", fmt.Errorf("pod %s reads dataset %q, which is not among the file's: %s", pod.Key(), name, strings.Join(known, ", "))
}

// ownNeeds are what the pod's labels and annotations ask for.
func ownNeeds(pod *corev1.Pod) (datasets []string, disk int64, err error) {
	references, err := v1alpha1.ParseDatasetLabels(pod.Labels)
	if err != nil {
		return nil, 0, err
	}
	for _, reference := range references {
		datasets = append(datasets, reference.Name)
	}
	demands, _, err := v1alpha1.BlockIOOf(pod.Annotations)
	if err != nil {
		return nil, 0, err
	}
	for _, demand := range demands {
		disk += demand.ReadBytesPerSecond + demand.WriteBytesPerSecond
	}
	return datasets, disk, nil
}
