package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// testDocument checks an answer of each path against its schema.
func testDocument(t *testing.T, s *service) {
	status, body := s.get("", "openapi.json")
	if status != http.StatusOK {
		t.Fatalf("the document: %d", status)
	}
	var document struct {
		Paths      map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(body, &document))
	answers := map[string][2]string{
		"/decisions": {"decisions", "DecisionList"}, "/decisions/{id}": {"decisions/1?node=x", "Explained"}, "/pods/{namespace}/{name}": {"pods/team-1/pod-1", "PodHistory"},
		"/pending": {"pending", "PendingList"}, "/occupancy": {"occupancy?since=2030-01-01T10:00:00Z", "Occupancy"}, "/stays": {"stays", "PodList"},
		"/rates": {"rates?since=2030-01-01T10:00:00Z", "RateList"}, "/events": {"events", "EventList"}, "/namespaces": {"namespaces", "NameList"},
		"/nodes": {"nodes", "NodeList"}, "/sessions": {"sessions", "SessionList"}, "/delays": {"delays", "DelayList"}, "/disks": {"disks", "DiskList"},
	}
	for path := range document.Paths {
		answer, tried := answers[path]
		if !tried {
			t.Errorf("%s is in the document, and not tried here", path)
			continue
		}
		_, body := s.get("everything", answer[0])
		check(t, document.Components.Schemas, answer[1], answer[0], body)
	}
	if len(answers) != len(document.Paths) {
		t.Errorf("the document has %d paths, want %d", len(document.Paths), len(answers))
	}
	_, problem := s.get("", "decisions")
	check(t, document.Components.Schemas, "Problem", "a problem", problem)
}

// check validates with the library that the API server validates custom resources with, which knows no references: they
// are put in place.
func check(t *testing.T, schemas map[string]any, name, what string, body []byte) {
	t.Helper()
	encoded, err := json.Marshal(resolve(schemas, schemas[name]))
	must(t, err)
	var schema spec.Schema
	must(t, json.Unmarshal(encoded, &schema))
	var value any
	must(t, json.Unmarshal(body, &value))
	if result := validate.NewSchemaValidator(&schema, nil, what, strfmt.Default).Validate(value); !result.IsValid() {
		t.Errorf("%s is no %s: %v\n%.500s", what, name, result.Errors, body)
	}
}

func resolve(schemas map[string]any, node any) any {
	switch n := node.(type) {
	case map[string]any:
		if reference, ok := n["$ref"].(string); ok {
			return resolve(schemas, schemas[strings.TrimPrefix(reference, "#/components/schemas/")])
		}
		out := map[string]any{}
		for key, value := range n {
			out[key] = resolve(schemas, value)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i := range n {
			out[i] = resolve(schemas, n[i])
		}
		return out
	}
	return node
}
