package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const namespace = "vicinity-system"

// bundle is install.yaml, decoded strictly: an unknown or a repeated field is an error.
type bundle map[string]client.Object // "Kind namespace/name" -> object

func loadBundle(t *testing.T) bundle {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects := bundle{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(Install())))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if isEmpty(document) {
			continue
		}
		decoded, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		object, ok := decoded.(client.Object)
		if !ok {
			t.Fatalf("%s is no object of its own", kind)
		}
		key := key(kind.Kind, object.GetNamespace(), object.GetName())
		if _, ok := objects[key]; ok {
			t.Fatalf("install.yaml has %s twice", key)
		}
		objects[key] = object
	}
}

// isEmpty tells whether a document has nothing but comments.
func isEmpty(document []byte) bool {
	for line := range strings.Lines(string(document)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func key(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// get returns the object of type T with that key; it must be there.
func get[T client.Object](t *testing.T, objects bundle, key string) T {
	t.Helper()
	object, ok := objects[key].(T)
	if !ok {
		t.Fatalf("install.yaml has no %s", key)
	}
	return object
}

func TestInstallHasExactlyTheObjectsWithTheirFixedNames(t *testing.T) {
	want := []string{
		"ClusterRole vicinity-agent",
		"ClusterRole vicinity-controller",
		"ClusterRole vicinity-scheduler",
		"ClusterRole vicinity-sniffer",
		"ClusterRoleBinding vicinity-agent",
		"ClusterRoleBinding vicinity-controller",
		"ClusterRoleBinding vicinity-scheduler",
		"ClusterRoleBinding vicinity-scheduler:kube-scheduler",
		"ClusterRoleBinding vicinity-scheduler:volume-scheduler",
		"ClusterRoleBinding vicinity-sniffer",
		"ConfigMap vicinity-system/vicinity-agent-config",
		"ConfigMap vicinity-system/vicinity-rtt-targets",
		"ConfigMap vicinity-system/vicinity-scheduler-config",
		"CustomResourceDefinition backupreservations.vicinity.dev",
		"CustomResourceDefinition nodedatasetcaches.vicinity.dev",
		"CustomResourceDefinition nodediskdevices.diskio.x-k8s.io",
		"CustomResourceDefinition nodediskiostats.diskio.x-k8s.io",
		"CustomResourceDefinition noderrts.vicinity.dev",
		"DaemonSet vicinity-system/vicinity-agent",
		"Deployment vicinity-system/vicinity-controller",
		"Deployment vicinity-system/vicinity-scheduler",
		"Deployment vicinity-system/vicinity-sniffer",
		"Namespace vicinity-system",
		"Role vicinity-system/vicinity-agent",
		"Role vicinity-system/vicinity-controller",
		"Role vicinity-system/vicinity-scheduler",
		"RoleBinding kube-system/vicinity-scheduler:extension-apiserver-authentication-reader",
		"RoleBinding vicinity-system/vicinity-agent",
		"RoleBinding vicinity-system/vicinity-controller",
		"RoleBinding vicinity-system/vicinity-scheduler",
		"ServiceAccount vicinity-system/vicinity-agent",
		"ServiceAccount vicinity-system/vicinity-controller",
		"ServiceAccount vicinity-system/vicinity-scheduler",
		"ServiceAccount vicinity-system/vicinity-sniffer",
		"ValidatingAdmissionPolicy vicinity-agent-own-node",
		"ValidatingAdmissionPolicyBinding vicinity-agent-own-node",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(loadBundle(t)))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestInstallReturnsACopy(t *testing.T) {
	first := Install()
	first[0] = 'x'
	if bytes.Equal(first, Install()) {
		t.Error("a caller can change what the next one gets")
	}
}

// Whoever widens a role has to say so here.
func TestOwnRolesHoldExactlyTheseRules(t *testing.T) {
	readOnly := []string{"get", "list", "watch"}
	want := map[string][]rbacv1.PolicyRule{
		"ClusterRole vicinity-agent": {
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
			{APIGroups: []string{"vicinity.dev"}, Resources: []string{"nodedatasetcaches", "noderrts"}, Verbs: []string{"get", "create", "patch"}},
			{APIGroups: []string{"vicinity.dev"}, Resources: []string{"nodedatasetcaches/status", "noderrts/status"}, Verbs: []string{"patch"}},
		},
		"ClusterRole vicinity-controller": {
			{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskdevices"}, Verbs: []string{"list", "watch"}},
			{
				APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskiostats"},
				Verbs: []string{"list", "watch", "create", "patch", "delete"},
			},
		},
		"ClusterRole vicinity-scheduler": {
			{APIGroups: []string{"com.ie.ibm.hpsys", "datashim.io"}, Resources: []string{"datasets", "datasetsinternal"}, Verbs: readOnly},
			{APIGroups: []string{"data.fluid.io"}, Resources: []string{"datasets"}, Verbs: readOnly},
			{APIGroups: []string{"vicinity.dev"}, Resources: []string{"nodedatasetcaches"}, Verbs: readOnly},
			{APIGroups: []string{"vicinity.dev"}, Resources: []string{"noderrts"}, Verbs: readOnly},
			{APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskdevices", "nodediskiostats"}, Verbs: readOnly},
			{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: readOnly},
		},
		"ClusterRole vicinity-sniffer": {
			{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
			{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
			{APIGroups: []string{"vicinity.dev"}, Resources: []string{"noderrts"}, Verbs: []string{"list"}},
			{APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskdevices", "nodediskiostats"}, Verbs: []string{"list"}},
		},
		"Role vicinity-system/vicinity-scheduler": {
			{
				APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
				ResourceNames: []string{"vicinity-scheduler"}, Verbs: []string{"get", "update"},
			},
			{
				APIGroups: []string{""}, Resources: []string{"configmaps"},
				ResourceNames: []string{"normalization-func"}, Verbs: readOnly,
			},
			{
				APIGroups: []string{""}, Resources: []string{"configmaps"},
				ResourceNames: []string{"mlpscore-model"}, Verbs: readOnly,
			},
		},
		"Role vicinity-system/vicinity-agent": {
			{
				APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskdevices", "nodediskiostats"},
				Verbs: []string{"get", "create", "patch"},
			},
			{APIGroups: []string{"diskio.x-k8s.io"}, Resources: []string{"nodediskiostats/status"}, Verbs: []string{"patch"}},
		},
		"Role vicinity-system/vicinity-controller": {
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
			{
				APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
				ResourceNames: []string{"vicinity-controller"}, Verbs: []string{"get", "update"},
			},
			{
				APIGroups: []string{""}, Resources: []string{"configmaps"},
				ResourceNames: []string{"vicinity-rtt-targets"}, Verbs: []string{"get", "patch"},
			},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		},
	}
	got := map[string][]rbacv1.PolicyRule{}
	for key, object := range loadBundle(t) {
		switch role := object.(type) {
		case *rbacv1.ClusterRole:
			got[key] = role.Rules
		case *rbacv1.Role:
			got[key] = role.Rules
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestBindingsTieTheseRolesToTheseAccounts(t *testing.T) {
	want := map[string]string{
		"ClusterRoleBinding vicinity-agent":                                                    "ClusterRole vicinity-agent to vicinity-agent",
		"ClusterRoleBinding vicinity-controller":                                               "ClusterRole vicinity-controller to vicinity-controller",
		"ClusterRoleBinding vicinity-scheduler":                                                "ClusterRole vicinity-scheduler to vicinity-scheduler",
		"ClusterRoleBinding vicinity-scheduler:kube-scheduler":                                 "ClusterRole system:kube-scheduler to vicinity-scheduler",
		"ClusterRoleBinding vicinity-scheduler:volume-scheduler":                               "ClusterRole system:volume-scheduler to vicinity-scheduler",
		"ClusterRoleBinding vicinity-sniffer":                                                  "ClusterRole vicinity-sniffer to vicinity-sniffer",
		"RoleBinding kube-system/vicinity-scheduler:extension-apiserver-authentication-reader": "Role extension-apiserver-authentication-reader to vicinity-scheduler",
		"RoleBinding vicinity-system/vicinity-scheduler":                                       "Role vicinity-scheduler to vicinity-scheduler",
		"RoleBinding vicinity-system/vicinity-agent":                                           "Role vicinity-agent to vicinity-agent",
		"RoleBinding vicinity-system/vicinity-controller":                                      "Role vicinity-controller to vicinity-controller",
	}
	got := map[string]string{}
	for key, object := range loadBundle(t) {
		var role rbacv1.RoleRef
		var subjects []rbacv1.Subject
		switch binding := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			role, subjects = binding.RoleRef, binding.Subjects
		case *rbacv1.RoleBinding:
			role, subjects = binding.RoleRef, binding.Subjects
		default:
			continue
		}
		if len(subjects) != 1 || subjects[0].Kind != rbacv1.ServiceAccountKind || subjects[0].Namespace != namespace {
			t.Errorf("%s is for %v, want one ServiceAccount of %s", key, subjects, namespace)
			continue
		}
		got[key] = fmt.Sprintf("%s %s to %s", role.Kind, role.Name, subjects[0].Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

func TestSchedulerConfigHasTheDefaultProfile(t *testing.T) {
	config := get[*corev1.ConfigMap](t, loadBundle(t), "ConfigMap vicinity-system/vicinity-scheduler-config")
	want := map[string]any{
		"apiVersion": "kubescheduler.config.k8s.io/v1",
		"kind":       "KubeSchedulerConfiguration",
		"leaderElection": map[string]any{
			"leaderElect": true, "resourceLock": "leases",
			"resourceName": "vicinity-scheduler", "resourceNamespace": namespace,
		},
		"profiles": []any{map[string]any{
			"schedulerName": "vicinity-scheduler",
			"plugins": map[string]any{"multiPoint": map[string]any{"enabled": []any{
				map[string]any{"name": "CacheAware", "weight": int64(10)},
				map[string]any{"name": "DiskIO", "weight": int64(10)},
				map[string]any{"name": "EdgeDelay", "weight": int64(10)},
				map[string]any{"name": "MLPScore", "weight": int64(10)},
				map[string]any{"name": "Sniffer"},
			}}},
		}},
	}
	if diff := cmp.Diff(want, mustObject(t, config.Data["scheduler-config.yaml"])); diff != "" {
		t.Errorf("scheduler-config.yaml (-want +got):\n%s", diff)
	}
}

func TestAgentConfigIsAnAgentConfiguration(t *testing.T) {
	config := get[*corev1.ConfigMap](t, loadBundle(t), "ConfigMap vicinity-system/vicinity-agent-config")
	want := map[string]any{"apiVersion": "config.vicinity.dev/v1", "kind": "AgentConfiguration"}
	if diff := cmp.Diff(want, mustObject(t, config.Data["agent-config.yaml"])); diff != "" {
		t.Errorf("agent-config.yaml (-want +got):\n%s", diff)
	}
}
