package integration

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestIntegrationRejectedExamples: the API server refuses each of manifests/examples/rejected, and says what the file
// expects it to say.
func TestIntegrationRejectedExamples(t *testing.T) {
	stack := startStack(t, "rejected")
	files, err := filepath.Glob("../../manifests/examples/rejected/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("want example files, found %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			want, ok := strings.CutPrefix(first, "# want: ")
			if !ok || want == "" {
				t.Fatalf("want a first line `# want: <part of the API server's message>`, found %q", first)
			}
			if err := write(t, stack.Kube, object(t, string(text))); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("want it refused as invalid with %q, found %v", want, err)
			}
		})
	}
}

// write creates the object and then writes its status, which creation ignores, and returns the first error.
func write(t *testing.T, kube client.Client, u *unstructured.Unstructured) error {
	t.Helper()
	status, hasStatus := u.Object["status"]
	if err := kube.Create(t.Context(), u); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), u); err != nil {
			t.Error(err)
		}
	})
	if !hasStatus {
		return nil
	}
	u.Object["status"] = status
	return kube.Status().Update(t.Context(), u)
}
