package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// toJSON converts a document, or notes why it cannot.
func toJSON(d *Document, list *faults.List) (raw []byte, ok bool) {
	raw, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		list.Add(syntaxPosition(d, err), "not YAML: %v", err)
		return nil, false
	}
	return raw, !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// syntaxPosition turns the parser's line, which counts from the document's start, into the file's.
func syntaxPosition(d *Document, err error) faults.Position {
	at := faults.Position{File: d.file, Line: d.line}
	if found := regexp.MustCompile(`line (\d+)`).FindStringSubmatch(err.Error()); found != nil {
		if line, err := strconv.Atoi(found[1]); err == nil {
			at.Line = d.line + line - 1
		}
	}
	return at
}

// decode fills a typed object. Unknown keys are warned about, fields of a wrong type are faults.
func decode[T any](d *Document, raw []byte, list *faults.List) (*T, bool) {
	into := new(T)
	strict, err := strictjson.UnmarshalStrict(raw, into)
	if err != nil {
		noteMistyped[T](d, raw, err, list)
		return nil, false
	}
	for _, fault := range strict {
		noteStrict(d, fault, list)
	}
	return into, true
}

// noteStrict warns about an unknown key by its name.
func noteStrict(d *Document, fault error, list *faults.List) {
	quoted := regexp.MustCompile(`^(unknown|duplicate) field "(.*)"$`).FindStringSubmatch(fault.Error())
	if quoted == nil {
		list.Warn(d.At(), "%v", fault)
		return
	}
	at := d.At(splitField(quoted[2])...)
	at.Field = quoted[2]
	if quoted[1] == "unknown" {
		list.Warn(at, "unknown key, ignored")
		return
	}
	list.Warn(at, "the key is there twice, the last one counts")
}

// splitField cuts "spec.containers[0].name" into its steps.
func splitField(field string) []string {
	return strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// noteMistyped finds out which fields could not be decoded, since the decoder does not say it of quantities and times:
// a field is at fault if the object cannot be decoded with nothing but it.
func noteMistyped[T any](d *Document, raw []byte, cause error, list *faults.List) {
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		list.Add(d.At(), "not an object: %v", err)
		return
	}
	search := &culprits{decode: func(only []byte) error { return strictjson.UnmarshalCaseSensitivePreserveInts(only, new(T)) }}
	search.find(content, nil)
	for _, found := range search.found {
		list.Add(d.At(found.path...), "%v; found %s", found.cause, found.value)
	}
	if len(search.found) == 0 {
		list.Add(d.At(), "not what is expected here: %v", cause)
	}
}

// culprits searches for fields that cannot be decoded.
type culprits struct {
	decode func([]byte) error
	found  []culprit
	tries  int
}

type culprit struct {
	path  []string
	value string
	cause error
}

// mostTries bounds the search; an object with more fields than that is reported where the search stopped.
const mostTries = 5000

// find descends into value, which cannot be decoded, and says whether it could blame anything.
func (c *culprits) find(value any, path []string) {
	blamed := false
	for _, step := range steps(value) {
		at := append(slices.Clip(path), step)
		if c.tries++; c.tries > mostTries {
			break
		}
		inner := get(value, step)
		if c.decode(wrap(inner, at)) != nil {
			blamed = true
			c.find(inner, at)
		}
	}
	if blamed {
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("a value that cannot be shown")
	}
	const longest = 100
	if len(text) > longest {
		text = fmt.Appendf(nil, "%s...", text[:longest])
	}
	c.found = append(c.found, culprit{path: path, value: string(text), cause: c.decode(wrap(value, path))})
}

func steps(value any) []string {
	switch v := value.(type) {
	case map[string]any:
		return slices.Sorted(maps.Keys(v))
	case []any:
		all := make([]string, len(v))
		for i := range v {
			all[i] = strconv.Itoa(i)
		}
		return all
	default:
		return nil
	}
}

// get returns what steps promised.
func get(value any, step string) any {
	if list, ok := value.([]any); ok {
		i, err := strconv.Atoi(step)
		if err != nil {
			return nil
		}
		return list[i]
	}
	if fields, ok := value.(map[string]any); ok {
		return fields[step]
	}
	return nil
}

// wrap is the JSON of an object that has nothing but the value at the path. An element becomes a list's only one. Keys
// that are numbers cannot be told from elements and are taken for those, which finds the parent in their place.
func wrap(value any, path []string) []byte {
	for _, step := range slices.Backward(path) {
		if _, err := strconv.Atoi(step); err == nil {
			value = []any{value}
		} else {
			value = map[string]any{step: value}
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// Single reads a file that holds one object, such as a configuration. It returns nil if there is none to look at.
func Single[T any](file string, data []byte, list *faults.List) (*T, *Document) {
	documents := split(file, data)
	if len(documents) != 1 {
		list.Add(faults.Position{File: file}, "want one YAML document, found %d", len(documents))
		return nil, nil
	}
	raw, ok := toJSON(documents[0], list)
	if !ok {
		list.Add(faults.Position{File: file}, "want one YAML document, found none that can be read")
		return nil, nil
	}
	value, ok := decode[T](documents[0], raw, list)
	if !ok {
		return nil, nil
	}
	return value, documents[0]
}
