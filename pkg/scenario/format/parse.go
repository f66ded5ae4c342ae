package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// document is the file as it stands; the steps' bodies are decoded in a second pass, each by its verb.
type document struct {
	Name        string                       `json:"name"`
	Description string                       `json:"description"`
	Profile     Profile                      `json:"profile"`
	CRDs        *[]string                    `json:"crds"`
	Steps       []map[string]json.RawMessage `json:"steps"`
}

// Parse reads the scenario file `file`, a slash-separated path whose last two elements are <plugin>/<name>.yaml. All
// faults are reported together; each names the file and the place in it.
func Parse(file string, data []byte) (*Scenario, error) {
	doc, err := decodeDocument(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &Scenario{
		Plugin:      path.Base(path.Dir(file)),
		Name:        doc.Name,
		Description: doc.Description,
		Profile:     doc.Profile,
		CRDs:        SharedCRDs(),
	}
	if doc.CRDs != nil {
		s.CRDs = slices.Sorted(slices.Values(*doc.CRDs))
	}
	errs := checkHeader(s, strings.TrimSuffix(path.Base(file), path.Ext(file)))
	for i, body := range doc.Steps {
		step, stepErrs := decodeStep(field.NewPath("steps").Index(i), body)
		errs = append(errs, stepErrs...)
		s.Steps = append(s.Steps, step)
	}
	if len(errs) == 0 {
		errs = checkDecisive(s)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s: %w", file, errors.Join(errs...))
	}
	return s, nil
}

// decodeDocument accepts exactly one YAML document; a second one would be dropped silently by the decoder.
func decodeDocument(data []byte) (*document, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var found []byte
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		raw, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		switch {
		case isNull(raw): // only comments
		case found != nil:
			return nil, errors.New("want one YAML document, found a second one after a line with ---")
		default:
			found = raw
		}
	}
	if found == nil {
		return nil, errors.New("the file is empty: want name and steps")
	}
	doc := &document{}
	if err := decodeStrictly(found, doc); err != nil {
		return nil, err
	}
	return doc, nil
}

func isNull(raw []byte) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// decodeStrictly refuses unknown and repeated fields.
func decodeStrictly(raw []byte, into any) error {
	faults, err := strictjson.UnmarshalStrict(raw, into)
	if err != nil {
		return err
	}
	return errors.Join(faults...)
}

func checkHeader(s *Scenario, fileName string) []error {
	var errs []error
	if s.Name != fileName {
		errs = append(errs, fmt.Errorf("name: want %q as the file is called, found %q", fileName, s.Name))
	}
	for _, fault := range validation.IsDNS1123Label(s.Namespace()) {
		errs = append(errs, fmt.Errorf("name: plugin and name make the namespace %q: %s", s.Namespace(), fault))
	}
	for _, err := range s.Profile.validate(field.NewPath("profile")) {
		errs = append(errs, err)
	}
	for _, err := range validateCRDSets(field.NewPath("crds"), s.CRDs) {
		errs = append(errs, err)
	}
	return errs
}

func validateCRDSets(path *field.Path, sets []string) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, set := range sets {
		if !slices.Contains(SharedCRDs(), set) {
			errs = append(errs, field.NotSupported(path.Index(i), set, SharedCRDs()))
		}
		if seen[set] {
			errs = append(errs, field.Duplicate(path.Index(i), set))
		}
		seen[set] = true
	}
	return errs
}

// decodeStep decodes one step, a map with its verb as the only key.
func decodeStep(at *field.Path, body map[string]json.RawMessage) (Step, []error) {
	if len(body) != 1 {
		return Step{}, []error{fmt.Errorf("%s: want exactly one verb (%s), found %d", at, strings.Join(Verbs(), ", "), len(body))}
	}
	for verb, raw := range body {
		action, err := newAction(verb)
		if err != nil {
			return Step{}, []error{fmt.Errorf("%s: %w", at, err)}
		}
		if isNull(raw) {
			return Step{}, []error{fmt.Errorf("%s: want fields, found nothing", at.Child(verb))}
		}
		if err := decodeStrictly(raw, action); err != nil {
			return Step{}, []error{fmt.Errorf("%s: %w", at.Child(verb), err)}
		}
		var errs []error
		for _, err := range action.validate(at.Child(verb)) {
			errs = append(errs, err)
		}
		return Step{Verb: verb, Action: action}, errs
	}
	panic("unreachable: the map has one key")
}

// checkDecisive makes sure that the scenario says something about a pod, and says once what decides.
func checkDecisive(s *Scenario) []error {
	decisive := 0
	for _, step := range s.Steps {
		if e, ok := step.Action.(*Expect); ok && e.Decisive {
			decisive++
		}
	}
	switch {
	case s.Decisive() == nil:
		return []error{errors.New("steps: want at least one expect, else the scenario cannot fail")}
	case decisive > 1:
		return []error{fmt.Errorf("steps: want at most one expect with decisive: true, found %d", decisive)}
	}
	return nil
}
