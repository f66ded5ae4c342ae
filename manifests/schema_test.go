package manifests

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// version is the only version that our CRDs and the foreign ones have.
const version = "v1alpha1"

// objectSchema judges objects as an API server does that has the CRD installed.
type objectSchema struct {
	crd        *apiextensions.CustomResourceDefinition
	structural *structuralschema.Structural
	openAPI    validation.SchemaValidator
	cel        *cel.Validator
}

// loadSchema reads a CRD strictly and refuses one that an API server would not take, be it for the cost of its rules.
func loadSchema(ctx context.Context, fsys fs.FS, file string) (*objectSchema, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(apiextensions.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	crd := &apiextensions.CustomResourceDefinition{}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(apiextensions.SchemeGroupVersion)
	if _, _, err := decoder.Decode(data, nil, crd); err != nil {
		return nil, err
	}
	crd.Status.StoredVersions = []string{version} // as an API server sets it
	if errs := crdvalidation.ValidateCustomResourceDefinition(ctx, crd); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	forVersion, err := apiextensions.GetSchemaForVersion(crd, version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(forVersion.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	openAPI, _, err := validation.NewSchemaValidator(forVersion.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &objectSchema{
		crd:        crd,
		structural: structural,
		openAPI:    openAPI,
		cel:        cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// faults are the errors with which the API server would answer.
func (s *objectSchema) faults(ctx context.Context, object map[string]any) []string {
	errs := validation.ValidateCustomResource(nil, object, s.openAPI)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	fromRules, _ := s.cel.Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	var texts []string
	for _, err := range append(errs, fromRules...) {
		texts = append(texts, err.Error())
	}
	return texts
}

// prune removes what the API server would not store.
func (s *objectSchema) prune(object map[string]any) {
	pruning.Prune(object, s.structural, true)
}

func mustLoadSchema(t *testing.T, fsys fs.FS, file string) *objectSchema {
	t.Helper()
	schema, err := loadSchema(t.Context(), fsys, file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return schema
}

func mustObject(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	var object map[string]any
	if err := utiljson.Unmarshal(data, &object); err != nil { // integers stay integers
		t.Fatalf("%v in:\n%s", err, text)
	}
	return object
}
