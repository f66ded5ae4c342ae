package manifests

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// owner is a workload whose pods a controller makes.
type owner struct {
	kind string
	meta *metav1.ObjectMeta
	from *Document
	// replicas is the number of pods, read from the field at replicasPath; nil means 1.
	replicas     *int32
	replicasPath []string
	template     *corev1.PodTemplateSpec
	templatePath []string
	// ordinals says that pods are numbered, as those of a StatefulSet.
	ordinals bool
}

// Expand makes the pods that the controllers of all workloads would make, after those that stand for themselves.
// DaemonSets get a pod on each node that fits their selectors and whose taints they tolerate. What is owned by a
// workload of the set is left out, because the owner makes it.
func (s *Set) Expand(list *faults.List) []Pod {
	owners := s.owners()
	made := map[string]bool{}
	for i := range owners {
		made[ownerKey(owners[i].kind, owners[i].meta.Namespace, owners[i].meta.Name)] = true
	}
	var pods []Pod
	for _, p := range s.Pods {
		if !ownedByOne(&p.Value.ObjectMeta, made) {
			pods = append(pods, Pod{Value: p.Value, from: p.From})
		}
	}
	taken := map[string]bool{}
	for i := range pods {
		taken[pods[i].Value.Namespace+"/"+pods[i].Value.Name] = true
	}
	for i := range owners {
		if !ownedByOne(owners[i].meta, made) {
			pods = owners[i].expand(pods, taken, list)
		}
	}
	pods = append(pods, s.expandDaemons(list)...)
	s.dropAbsentClaims(pods, list)
	return pods
}

// dropAbsentClaims replaces volumes whose claims are not in the set, which no scheduler could bind. The predecessor does
// it with all of them.
func (s *Set) dropAbsentClaims(pods []Pod, list *faults.List) {
	claims := map[string]bool{}
	for _, c := range s.Claims {
		claims[c.Value.Namespace+"/"+c.Value.Name] = true
	}
	for i := range pods {
		p := pods[i].Value
		for v := range p.Spec.Volumes {
			source := &p.Spec.Volumes[v].VolumeSource
			if source.PersistentVolumeClaim == nil || claims[p.Namespace+"/"+source.PersistentVolumeClaim.ClaimName] {
				continue
			}
			list.Warn(faults.Position{File: pods[i].from.file}, "claim %s is not there, its volume is taken for an empty folder",
				source.PersistentVolumeClaim.ClaimName)
			*source = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		}
	}
}

func ownerKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

func ownedByOne(meta *metav1.ObjectMeta, made map[string]bool) bool {
	by := metav1.GetControllerOfNoCopy(meta)
	return by != nil && made[ownerKey(by.Kind, meta.Namespace, by.Name)]
}

// owners lists all workloads but DaemonSets, kind by kind.
func (s *Set) owners() []owner {
	replicas, template := []string{specField, "replicas"}, []string{specField, templateField}
	var all []owner
	for _, o := range s.Deployments {
		v := o.Value
		all = append(all, owner{"Deployment", &v.ObjectMeta, o.From, v.Spec.Replicas, replicas, &v.Spec.Template, template, false})
	}
	for _, o := range s.ReplicaSets {
		v := o.Value
		all = append(all, owner{"ReplicaSet", &v.ObjectMeta, o.From, v.Spec.Replicas, replicas, &v.Spec.Template, template, false})
	}
	for _, o := range s.ReplicationControllers {
		made := o.Value.Spec.Template
		if made == nil {
			made = &corev1.PodTemplateSpec{}
		}
		all = append(all, owner{"ReplicationController", &o.Value.ObjectMeta, o.From, o.Value.Spec.Replicas, replicas, made, template, false})
	}
	for _, o := range s.StatefulSets {
		v := o.Value
		all = append(all, owner{"StatefulSet", &v.ObjectMeta, o.From, v.Spec.Replicas, replicas, &v.Spec.Template, template, true})
	}
	for _, o := range s.Jobs {
		count, field := o.Value.Spec.Completions, "completions"
		if count == nil {
			count, field = o.Value.Spec.Parallelism, "parallelism"
		}
		all = append(all, owner{"Job", &o.Value.ObjectMeta, o.From, count, []string{specField, field}, &o.Value.Spec.Template, template, false})
	}
	for _, o := range s.CronJobs {
		job, path := &o.Value.Spec.JobTemplate.Spec, []string{specField, "jobTemplate", specField}
		count, field := job.Completions, "completions"
		if count == nil {
			count, field = job.Parallelism, "parallelism"
		}
		all = append(all, owner{
			"CronJob", &o.Value.ObjectMeta, o.From, count, append(slices.Clip(path), field),
			&job.Template, append(slices.Clip(path), templateField), false,
		})
	}
	return all
}

func (o *owner) expand(pods []Pod, taken map[string]bool, list *faults.List) []Pod {
	count := int32(1)
	if o.replicas != nil {
		count = *o.replicas
	}
	if count < 0 || count > mostReplicas {
		list.Add(o.from.At(o.replicasPath...), "want 0 to %d pods, found %d", mostReplicas, count)
		return pods
	}
	if len(o.template.Spec.Containers) == 0 {
		list.Add(o.from.At(o.templatePath...), "want a template with containers, found none")
		return pods
	}
	for i := range int(count) {
		name := o.meta.Name + "-" + strconv.Itoa(i)
		if !o.ordinals {
			name = o.meta.Name + "-" + suffix(o.kind, o.meta, i)
		}
		if key := o.meta.Namespace + "/" + name; taken[key] {
			list.Add(o.from.At(metadataField, "name"), "the %s makes a pod %s, and there is one already", o.kind, key)
			continue
		}
		taken[o.meta.Namespace+"/"+name] = true
		pods = append(pods, Pod{Value: o.pod(name), from: o.from, template: o.templatePath})
	}
	return pods
}

// suffix stands for the random end that a controller gives its pods. It depends on the input only, so that a run can be
// repeated.
func suffix(kind string, meta *metav1.ObjectMeta, i int) string {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s/%s/%s/%d", kind, meta.Namespace, meta.Name, i)
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32())) + "-" + strconv.Itoa(i)
}

// pod fills the template.
func (o *owner) pod(name string) *corev1.Pod {
	template := o.template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name, pod.Namespace, pod.GenerateName = name, o.meta.Namespace, ""
	notes := maps.Clone(pod.Annotations)
	if notes == nil {
		notes = map[string]string{}
	}
	notes[workloadKindKey], notes[workloadNameKey], notes[workloadSpaceKey] = o.kind, o.meta.Name, o.meta.Namespace
	pod.Annotations = notes
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: o.kind, Name: o.meta.Name, UID: o.meta.UID, Controller: &controller}}
	return pod
}

func (s *Set) expandDaemons(list *faults.List) []Pod {
	var pods []Pod
	for _, d := range s.DaemonSets {
		o := owner{kind: "DaemonSet", meta: &d.Value.ObjectMeta, from: d.From, template: &d.Value.Spec.Template}
		affinity := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: o.template.Spec})
		for _, node := range s.Nodes {
			fits, err := affinity.Match(node.Value)
			if err != nil {
				list.Add(d.From.At(specField, templateField, specField), "the node selector cannot be read: %v", err)
				break
			}
			if !fits || !tolerates(&o.template.Spec, node.Value) {
				continue
			}
			pod := o.pod(d.Value.Name + "-" + node.Value.Name)
			pod.Spec.NodeName = node.Value.Name
			pods = append(pods, Pod{Value: pod, from: d.From, template: []string{specField, templateField}, daemon: true})
		}
	}
	return pods
}

// tolerates says whether a daemon may run on the node. The taints of nodes that are not ready, under pressure or
// cordoned do not count, because controllers tolerate those for daemons.
func tolerates(spec *corev1.PodSpec, node *corev1.Node) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect == corev1.TaintEffectPreferNoSchedule || ofNodeLifecycle(taint.Key) {
			continue
		}
		if !slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool { return toleratesTaint(&t, taint) }) {
			return false
		}
	}
	return true
}

func ofNodeLifecycle(key string) bool {
	return slices.Contains([]string{
		corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure,
		corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
	}, key)
}

func toleratesTaint(t *corev1.Toleration, taint *corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.Operator == corev1.TolerationOpExists || t.Key != "" && t.Value == taint.Value
}
