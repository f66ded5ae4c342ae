package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// TestExplainDryRun asks a cluster that knows how to list nodes and pods, and nothing else.
func TestExplainDryRun(t *testing.T) {
	room := map[corev1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"}
	nodes := corev1.NodeList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"},
		Items: []corev1.Node{
			*st.MakeNode().Name("free").Capacity(room).Obj(),
			*st.MakeNode().Name("cordoned").Capacity(room).Unschedulable(true).Obj(),
		},
	}
	pods := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/api/v1/nodes":
			_ = json.NewEncoder(w).Encode(&nodes)
		case r.Method == http.MethodGet && r.URL.Path == "/api/v1/pods":
			_ = json.NewEncoder(w).Encode(&pods)
		default:
			t.Errorf("want nothing but lists of nodes and pods, found %s %s", r.Method, r.URL)
		}
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"kubeconfig": `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "` + server.URL +
			`"}}], users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: k, user: u}}]}`,
		"pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}",
		"two.yaml": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, " +
			"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, _, err := execute(t, "vicinity", "explain", "--dry-run", "-f", "pod.yaml", "--kubeconfig", "kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Pod default/p would go to node free.", "rejected by NodeUnschedulable"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("want %q in:\n%s", want, stdout)
		}
	}
	for want, args := range map[string][]string{
		"--scheduler-config is for --dry-run": {"p", "--scheduler-config", "x"},
		"want a manifest with --file":         {"--dry-run", "p"},
		"want a manifest of one pod":          {"--dry-run", "-f", "two.yaml"},
	} {
		if _, _, err := execute(t, "vicinity", append([]string{"explain"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, found %v", want, err)
		}
	}
}
