package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// LoadConfiguration reads an AgentConfiguration file. An empty path stands for an empty configuration. The result
// is defaulted and valid; collectors are the names of those that may be enabled.
func LoadConfiguration(path string, collectors []string) (*configv1.AgentConfiguration, error) {
	if path == "" {
		config := &configv1.AgentConfiguration{}
		configv1.SetDefaults_AgentConfiguration(config)
		return config, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the agent's configuration: %w", err)
	}
	config, err := DecodeConfiguration(data, collectors)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	return config, nil
}

// DecodeConfiguration turns YAML or JSON into a configuration that is defaulted and valid. Fields that do not exist
// and fields given twice are errors: a setting that is misspelt must not be one that silently has no effect.
func DecodeConfiguration(data []byte, collectors []string) (*configv1.AgentConfiguration, error) {
	document, err := soleDocument(data)
	if err != nil {
		return nil, err
	}
	if err := checkTypeMeta(document); err != nil {
		return nil, err
	}
	config := &configv1.AgentConfiguration{}
	strictErrs, err := kjson.UnmarshalStrict(document, config)
	if err := errors.Join(append(strictErrs, err)...); err != nil {
		return nil, fmt.Errorf("not an %s: %w", configv1.AgentConfigurationKind, err)
	}
	configv1.SetDefaults_AgentConfiguration(config)
	if err := configv1.ValidateAgentConfiguration(nil, config, collectors); err != nil {
		return nil, err
	}
	return config, nil
}

// soleDocument returns the only document of a YAML stream as JSON. The YAML decoder by itself would read the first
// document and ignore the rest.
func soleDocument(data []byte) ([]byte, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var sole []byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		converted, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		switch {
		case bytes.Equal(converted, []byte("null")):
			// Only comments, or nothing.
		case sole != nil:
			return nil, errors.New("expected one YAML document, found several; remove all but one")
		default:
			sole = converted
		}
	}
	if sole == nil {
		return nil, fmt.Errorf("expected an %s, found nothing; start with \"apiVersion: %s\" and \"kind: %s\"",
			configv1.AgentConfigurationKind, configv1.AgentAPIVersion, configv1.AgentConfigurationKind)
	}
	return sole, nil
}

// checkTypeMeta tells a file of another kind or version from one with wrong fields, which is the better message.
func checkTypeMeta(document []byte) error {
	var found metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &found); err != nil {
		return fmt.Errorf("expected an %s: %w", configv1.AgentConfigurationKind, err)
	}
	var faults field.ErrorList
	if found.APIVersion != configv1.AgentAPIVersion {
		faults = append(faults, field.NotSupported(field.NewPath("apiVersion"), found.APIVersion, []string{configv1.AgentAPIVersion}))
	}
	if found.Kind != configv1.AgentConfigurationKind {
		faults = append(faults, field.NotSupported(field.NewPath("kind"), found.Kind, []string{configv1.AgentConfigurationKind}))
	}
	return faults.ToAggregate()
}
