package manifests

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// Document is one YAML document of a file.
type Document struct {
	file string
	// line is that of the document's first line, counted from 1.
	line int
	text []byte
	// within is the path of the object in its document, for items of a List.
	within []string
}

// At is the position of a field of the object. The document is only parsed with positions when somebody asks, because
// that takes longer than reading it and happens for faults only.
func (d *Document) At(path ...string) faults.Position {
	at := faults.Position{File: d.file, Line: d.firstLine(), Field: fieldName(path)}
	var root yaml.Node
	if err := yaml.Unmarshal(d.text, &root); err != nil || len(root.Content) == 0 {
		return at
	}
	if line := lineOf(root.Content[0], slices.Concat(d.within, path)); line > 0 {
		at.Line = d.line + line - 1
	}
	return at
}

// firstLine skips what helm writes above each of its documents, and blank lines.
func (d *Document) firstLine() int {
	line := d.line
	for text := range bytes.Lines(d.text) {
		trimmed := bytes.TrimSpace(text)
		if len(trimmed) > 0 && trimmed[0] != '#' {
			return line
		}
		line++
	}
	return d.line
}

// lineOf is the line of the deepest element of the path that exists.
func lineOf(node *yaml.Node, path []string) int {
	line := node.Line
	for _, step := range path {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		next, at := child(node, step)
		if next == nil {
			return line
		}
		node, line = next, at
	}
	return line
}

// child finds the value of a key, or an element. The line is that of the key, where people look first.
func child(node *yaml.Node, step string) (value *yaml.Node, line int) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		i, err := strconv.Atoi(step)
		if err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	default: // scalars have no children
	}
	return nil, 0
}

// fieldName writes a path as Kubernetes does: spec.containers[0].name, metadata.annotations[a.b/c].
func fieldName(path []string) string {
	var text strings.Builder
	for _, step := range path {
		_, err := strconv.Atoi(step)
		switch {
		case err == nil, strings.ContainsAny(step, "./"):
			text.WriteString("[" + step + "]")
		case text.Len() == 0:
			text.WriteString(step)
		default:
			text.WriteString("." + step)
		}
	}
	return text.String()
}

// split cuts a file into its documents. Lines that begin with --- part them; YAML allows such lines nowhere else.
func split(file string, data []byte) []*Document {
	var documents []*Document
	start, startLine, line := 0, 1, 1
	flush := func(end, nextStart, nextLine int) {
		if text := data[start:end]; !isBlank(text) {
			documents = append(documents, &Document{file: file, line: startLine, text: text})
		}
		start, startLine = nextStart, nextLine
	}
	for offset := 0; offset < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		if text := data[offset:end]; isSeparator(text) {
			flush(offset, offset+len("---"), line)
		}
		offset = end
	}
	flush(len(data), len(data), line)
	return documents
}

func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// isBlank says whether there are only comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			return false
		}
	}
	return true
}
