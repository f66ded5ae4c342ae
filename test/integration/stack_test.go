package integration

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// startStack returns a control plane with Vicinity's manifests that is gone at the test's end.
func startStack(t *testing.T, name string) *localstack.Stack {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	binaries, err := localcluster.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	stack, err := localstack.Start(t.Context(), localstack.Options{
		Name: name, Binaries: binaries, Locate: locate(t), Progress: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return stack
}

// locate finds the programs on the PATH, where make puts them, and else builds them.
func locate(t *testing.T) func(string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	return func(program string) (string, error) {
		if path, err := localstack.LocateExecutable(program); err == nil {
			return path, nil
		}
		const prefix = "vicinity-"
		path := filepath.Join(folder, program)
		build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, "../../cmd/"+program[len(prefix):])
		if output, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w: %s", program, err, output)
		}
		return path, nil
	}
}

// object reads one Kubernetes object.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(content); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return u
}

// apply writes objects, with their status.
func apply(t *testing.T, stack *localstack.Stack, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := stack.Apply(t.Context(), object(t, text)); err != nil {
			t.Fatal(err)
		}
	}
}
