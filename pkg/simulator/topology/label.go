package topology

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Options are how nodes are laid out.
type Options struct {
	// ServersPerRack is the number of nodes in a rack, at least 1.
	ServersPerRack int
	// RacksPerZone is the number of racks in a zone, at least 1.
	RacksPerZone int
	// SchedulerName is set on all pods; empty leaves them as they are.
	SchedulerName string
}

// Validate names the first option that makes no sense.
func (o *Options) Validate() error {
	switch {
	case o.ServersPerRack < 1:
		return fmt.Errorf("--servers-per-rack: want 1 or more, found %d", o.ServersPerRack)
	case o.RacksPerZone < 1:
		return fmt.Errorf("--racks-per-zone: want 1 or more, found %d", o.RacksPerZone)
	}
	return nil
}

// pair is a label.
type pair struct{ key, value string }

// labels of the node at a position.
func (o *Options) labels(position int) []pair {
	rack := position / o.ServersPerRack
	name := fmt.Sprintf("rack-%d", rack)
	return []pair{
		{"rack", name},
		{"server", fmt.Sprintf("srv-%d", position%o.ServersPerRack)},
		{"topology.vicinity.dev/rack", name},
		{"topology.kubernetes.io/zone", fmt.Sprintf("zone-%d", rack/o.RacksPerZone)},
		{"topology.kubernetes.io/region", "region-0"},
	}
}

// Label changes the nodes, and pods if there is a scheduler's name, of a file; the first node has the position first. It
// returns the new content and the number of nodes. A file in which nothing changes is returned as it is, byte by byte;
// in others comments and order stay.
func (o *Options) Label(data []byte, first int) (labelled []byte, nodes int, err error) {
	var out bytes.Buffer
	changed := false
	for i, text := range documents(data) {
		var root yaml.Node
		if err := yaml.Unmarshal(text, &root); err != nil {
			return nil, 0, fmt.Errorf("document %d is not YAML: %w", i+1, err)
		}
		touched, isNode, err := o.document(&root, first+nodes)
		if err != nil {
			return nil, 0, fmt.Errorf("document %d: %w", i+1, err)
		}
		if isNode {
			nodes++
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		if !touched {
			out.Write(text)
			continue
		}
		changed = true
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := encoder.Encode(&root); err != nil {
			return nil, 0, fmt.Errorf("document %d: writing YAML: %w", i+1, err)
		}
	}
	if !changed {
		return data, nodes, nil
	}
	return out.Bytes(), nodes, nil
}

// documents cuts a file at lines of three dashes. What is before the first one counts if there is anything.
func documents(data []byte) [][]byte {
	var parts [][]byte
	var part bytes.Buffer
	flush := func() {
		if len(bytes.TrimSpace(part.Bytes())) > 0 {
			parts = append(parts, bytes.Clone(part.Bytes()))
		}
		part.Reset()
	}
	for line := range bytes.Lines(data) {
		if text := strings.TrimRight(string(line), " \t\r\n"); text == "---" {
			flush()
			continue
		}
		part.Write(line)
	}
	flush()
	return parts
}

func (o *Options) document(root *yaml.Node, position int) (touched, isNode bool, err error) {
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return false, false, nil
	}
	object := root.Content[0]
	switch kind := find(object, "kind"); {
	case kind == nil:
		return false, false, nil
	case kind.Value == "Node":
		touched, err = addLabels(object, o.labels(position))
		return touched, true, err
	case kind.Value == "Pod" && o.SchedulerName != "":
		spec, err := field(object, "spec")
		if err != nil {
			return false, false, err
		}
		return set(spec, "schedulerName", o.SchedulerName), false, nil
	default:
		return false, false, nil
	}
}

func addLabels(object *yaml.Node, labels []pair) (bool, error) {
	metadata, err := field(object, "metadata")
	if err != nil {
		return false, err
	}
	existing, err := field(metadata, "labels")
	if err != nil {
		return false, fmt.Errorf("metadata: %w", err)
	}
	touched := false
	for _, label := range labels {
		if find(existing, label.key) == nil {
			touched = set(existing, label.key, label.value) || touched
		}
	}
	return touched, nil
}

// find is the value of a key, nil without.
func find(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// field is the mapping of a key, which is made if it is not there.
func field(mapping *yaml.Node, key string) (*yaml.Node, error) {
	found := find(mapping, key)
	switch {
	case found == nil:
		found = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, found)
	case found.Kind == yaml.ScalarNode && found.Tag == "!!null":
		*found = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	case found.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("line %d: want fields below %s; labels cannot be added to anything else, such as an alias", found.Line, key)
	}
	return found, nil
}

// set sets a key to a text and says whether that changes anything.
func set(mapping *yaml.Node, key, value string) bool {
	if found := find(mapping, key); found != nil {
		if found.Kind == yaml.ScalarNode && found.Value == value {
			return false
		}
		*found = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		return true
	}
	mapping.Content = append(mapping.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
	return true
}
