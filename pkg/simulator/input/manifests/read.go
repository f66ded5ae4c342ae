package manifests

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// Parse reads one file's content. Faults and warnings go to list.
func Parse(file string, data []byte, list *faults.List) *Set {
	documents := split(file, data)
	parts := make([]part, (len(documents)+partSize-1)/partSize)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		group.Go(func() error {
			begin := i * partSize
			parts[i].read(documents[begin:min(begin+partSize, len(documents))])
			return nil
		})
	}
	_ = group.Wait() // the goroutines return no errors: what they find goes into their lists
	set := &Set{}
	for i := range parts {
		list.Merge(&parts[i].list)
		set.Merge(&parts[i].set, list)
	}
	return set
}

// partSize is how many documents are decoded in a row; ten thousand pods are then spread evenly over the cores.
const partSize = 64

// part is what one goroutine reads.
type part struct {
	set  Set
	list faults.List
}

func (p *part) read(documents []*Document) {
	r := &reader{set: &p.set, list: &p.list}
	for _, d := range documents {
		if raw, ok := toJSON(d, r.list); ok {
			r.document(d, raw)
		}
	}
}

// Merge appends what other holds. Names that are taken are faults.
func (s *Set) Merge(other *Set, list *faults.List) {
	merge(s, "Node", &s.Nodes, other.Nodes, list)
	merge(s, "Pod", &s.Pods, other.Pods, list)
	merge(s, "Deployment", &s.Deployments, other.Deployments, list)
	merge(s, "ReplicaSet", &s.ReplicaSets, other.ReplicaSets, list)
	merge(s, "ReplicationController", &s.ReplicationControllers, other.ReplicationControllers, list)
	merge(s, "StatefulSet", &s.StatefulSets, other.StatefulSets, list)
	merge(s, "DaemonSet", &s.DaemonSets, other.DaemonSets, list)
	merge(s, "Job", &s.Jobs, other.Jobs, list)
	merge(s, "CronJob", &s.CronJobs, other.CronJobs, list)
	merge(s, "PersistentVolumeClaim", &s.Claims, other.Claims, list)
	merge(s, "Service", &s.Services, other.Services, list)
	merge(s, "PersistentVolume", &s.Volumes, other.Volumes, list)
	merge(s, "StorageClass", &s.StorageClasses, other.StorageClasses, list)
	merge(s, "PodDisruptionBudget", &s.Budgets, other.Budgets, list)
	s.Others = append(s.Others, other.Others...)
}

func merge[T any](s *Set, kind string, into *[]Object[T], objects []Object[T], list *faults.List) {
	for _, o := range objects {
		meta, ok := any(o.Value).(metav1.Object)
		if ok && s.claimName(kind, meta, o.From, list) {
			*into = append(*into, o)
		}
	}
}

// Read reads a file, or all of a folder and the folders below in the order of their names. An error means that
// something could not be read at all; what is wrong inside of files goes to list.
func Read(ctx context.Context, path string, list *faults.List) (*Set, error) {
	files, err := Files(path, list)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		set.Merge(Parse(file, data, list), list)
	}
	return set, nil
}

// Extensions are the names' ends of files that hold manifests.
func extensions() []string { return []string{".yaml", ".yml"} }

// Files are the manifests at a path: itself if it is a file, else those below.
func Files(path string, list *faults.List) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch extension := filepath.Ext(file); {
		case err != nil:
			return err
		case entry.IsDir():
		case slices.Contains(extensions(), extension):
			files = append(files, file)
		case extension == ".json":
			list.Warn(faults.Position{File: file}, "local storage of nodes is not simulated, ignored")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("reading manifests: no file in %s ends with %s", path, strings.Join(extensions(), " or "))
	}
	return withoutOriginals(files, list), nil
}

// hierarchySuffix is what the predecessor's script, and `vicinity simulate topology`, append to the names of copies with
// racks. The copies lie beside their originals and hold the same nodes.
const hierarchySuffix = "-hier"

// withoutOriginals drops files that have a copy with racks beside them, which holds the same objects.
func withoutOriginals(files []string, list *faults.List) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		extension := filepath.Ext(file)
		better := strings.TrimSuffix(file, extension) + hierarchySuffix + extension
		if !slices.Contains(files, better) {
			return false
		}
		list.Warn(faults.Position{File: file}, "left out for its copy with racks, %s", better)
		return true
	})
}

// FromCluster makes a set of objects that were read from a cluster; origin stands for the file's name in faults.
func FromCluster(origin string, nodes []*corev1.Node, pods []*corev1.Pod) *Set {
	set := &Set{}
	for _, node := range nodes {
		set.Nodes = append(set.Nodes, Object[corev1.Node]{Value: node, From: &Document{file: origin + " (node " + node.Name + ")"}})
	}
	for _, pod := range pods {
		from := &Document{file: origin + " (pod " + pod.Namespace + "/" + pod.Name + ")"}
		set.Pods = append(set.Pods, Object[corev1.Pod]{Value: pod, From: from})
	}
	return set
}
