package localstack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/manifests"
)

const (
	// Namespace is where the components' ServiceAccounts and configuration live.
	Namespace = "vicinity-system"

	schedulerConfigMap = "vicinity-scheduler-config"
	schedulerConfigKey = "scheduler-config.yaml"
	agentConfigMap     = "vicinity-agent-config"
	agentConfigKey     = "agent-config.yaml"
)

// installObjects is manifests/install.yaml without the workloads, in the file's order.
func installObjects() ([]*unstructured.Unstructured, error) {
	objects, err := decodeObjects(manifests.Install())
	if err != nil {
		return nil, fmt.Errorf("reading manifests/install.yaml: %w", err)
	}
	return slices.DeleteFunc(objects, isWorkload), nil
}

func isWorkload(obj *unstructured.Unstructured) bool {
	switch obj.GetKind() {
	case "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob":
		return true
	}
	return false
}

// decodeObjects reads a stream of YAML documents, each one object.
func decodeObjects(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for index := 0; ; index++ {
		raw, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", index, err)
		}
		content, err := yaml.YAMLToJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", index, err)
		}
		if bytes.Equal(content, []byte("null")) {
			continue
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("document %d: %w", index, err)
		}
		objects = append(objects, obj)
	}
}

// decodeFolder reads every .yaml file of a folder.
func decodeFolder(fsys fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(fsys, folder+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		found, err := decodeObjects(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// install applies our CRDs, the foreign ones that were asked for, and the manifests.
func (s *Stack) install(ctx context.Context) error {
	s.progressf("applying the manifests")
	own, err := decodeFolder(manifests.CRDs(), "chart/crds")
	if err != nil {
		return err
	}
	foreign, err := foreignCRDs(s.options.ForeignCRDs)
	if err != nil {
		return err
	}
	if err := s.applyCRDs(ctx, append(own, foreign...)); err != nil {
		return err
	}
	for _, obj := range s.manifests {
		if err := s.Apply(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// configMapValue is a value of one of the manifests' ConfigMaps.
func (s *Stack) configMapValue(name, key string) (string, error) {
	for _, obj := range s.manifests {
		if obj.GetKind() != "ConfigMap" || obj.GetName() != name || obj.GetNamespace() != Namespace {
			continue
		}
		value, found, err := unstructured.NestedString(obj.Object, "data", key)
		if err != nil || !found {
			return "", fmt.Errorf("manifests/install.yaml: ConfigMap %s/%s has no text under data key %s", Namespace, name, key)
		}
		return value, nil
	}
	return "", fmt.Errorf("manifests/install.yaml has no ConfigMap %s/%s", Namespace, name)
}

// SchedulerConfig is the configuration of the manifests.
func (s *Stack) SchedulerConfig() (SchedulerConfig, error) {
	text, err := s.configMapValue(schedulerConfigMap, schedulerConfigKey)
	if err != nil {
		return SchedulerConfig{}, err
	}
	return ParseSchedulerConfig([]byte(text))
}
