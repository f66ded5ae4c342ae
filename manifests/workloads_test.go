package manifests

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// workload is what Deployments and DaemonSets have in common.
type workload struct {
	selector map[string]string
	template corev1.PodTemplateSpec
}

func workloads(t *testing.T, objects bundle) map[string]workload {
	t.Helper()
	found := map[string]workload{}
	for key, object := range objects {
		switch object := object.(type) {
		case *appsv1.Deployment:
			found[key] = workload{object.Spec.Selector.MatchLabels, object.Spec.Template}
		case *appsv1.DaemonSet:
			found[key] = workload{object.Spec.Selector.MatchLabels, object.Spec.Template}
		}
	}
	if len(found) != 4 {
		t.Fatalf("%d workloads, want 4: %v", len(found), slices.Sorted(maps.Keys(found)))
	}
	return found
}

func TestPodsHaveNoMoreRightsThanTheyNeed(t *testing.T) {
	for name, workload := range workloads(t, loadBundle(t)) {
		t.Run(name, func(t *testing.T) {
			pod := workload.template.Spec
			want := &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}
			if pod.HostNetwork || pod.HostPID || pod.HostIPC {
				t.Error("the pod shares namespaces with its host")
			}
			for _, volume := range pod.Volumes {
				switch {
				case volume.ConfigMap != nil:
				case volume.EmptyDir != nil:
					// Empty folders and Secrets belong to root, unless they are the group's.
					want.FSGroup = new(int64(65532))
				default:
					t.Errorf("volume %s is neither a ConfigMap nor an empty folder", volume.Name)
				}
			}
			if diff := cmp.Diff(want, pod.SecurityContext); diff != "" {
				t.Errorf("security context of the pod (-want +got):\n%s", diff)
			}
			for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
				checkContainerRights(t, container)
			}
		})
	}
}

func checkContainerRights(t *testing.T, container corev1.Container) {
	t.Helper()
	want := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	if diff := cmp.Diff(want, container.SecurityContext); diff != "" {
		t.Errorf("security context of container %s (-want +got):\n%s", container.Name, diff)
	}
	for _, port := range container.Ports {
		if port.HostPort != 0 {
			t.Errorf("container %s listens on the host's port %d", container.Name, port.HostPort)
		}
	}
}

func TestPodsReferToWhatIsThere(t *testing.T) {
	objects := loadBundle(t)
	for name, workload := range workloads(t, objects) {
		t.Run(name, func(t *testing.T) {
			if !labels.SelectorFromSet(workload.selector).Matches(labels.Set(workload.template.Labels)) {
				t.Errorf("selector %v does not match labels %v", workload.selector, workload.template.Labels)
			}
			pod := workload.template.Spec
			get[*corev1.ServiceAccount](t, objects, key("ServiceAccount", namespace, pod.ServiceAccountName))
			for _, container := range pod.Containers {
				checkConfigFile(t, objects, pod, container)
				checkContainer(t, container)
			}
		})
	}
}

func checkContainer(t *testing.T, container corev1.Container) {
	t.Helper()
	if strings.Contains(container.Image, "/") {
		t.Errorf("image %s names a registry, want only a repository and a tag", container.Image)
	}
	if container.Resources.Requests.Cpu().IsZero() || container.Resources.Requests.Memory().IsZero() {
		t.Errorf("container %s does not say what it needs", container.Name)
	}
	for kind, probe := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil {
			t.Errorf("container %s has no %s probe", container.Name, kind)
		} else if !hasPort(container, probe.HTTPGet.Port.StrVal) {
			t.Errorf("the %s probe asks port %s, which is not declared", kind, probe.HTTPGet.Port.StrVal)
		}
	}
}

func hasPort(container corev1.Container, name string) bool {
	return slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.Name == name })
}

// checkConfigFile follows --config through the mount and the volume to the key of a ConfigMap.
func checkConfigFile(t *testing.T, objects bundle, pod corev1.PodSpec, container corev1.Container) {
	t.Helper()
	for _, arg := range container.Args {
		path, found := strings.CutPrefix(arg, "--config=")
		if !found {
			continue
		}
		for _, mount := range container.VolumeMounts {
			file, inside := strings.CutPrefix(path, mount.MountPath+"/")
			index := slices.IndexFunc(pod.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })
			if !inside || index < 0 {
				continue
			}
			config := get[*corev1.ConfigMap](t, objects, key("ConfigMap", namespace, pod.Volumes[index].ConfigMap.Name))
			var content map[string]any
			if err := yaml.UnmarshalStrict([]byte(config.Data[file]), &content); err != nil || len(content) == 0 {
				t.Errorf("%s is not in ConfigMap %s, or no YAML (%v)", file, config.Name, err)
			}
			return
		}
		t.Errorf("no volume holds the file of %s", arg)
	}
}
