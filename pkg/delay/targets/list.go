package targets

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"unicode/utf8"
)

const (
	// Version is the version of the document that this package reads and writes.
	Version = 1

	// MaxNodes is how many nodes a list holds, references not counted.
	MaxNodes = 4096
	// MaxReferences is how many nodes of a list are references.
	MaxReferences = 1024
	// MaxEndpoints is how many endpoints a list holds.
	MaxEndpoints = 256
	// MaxBytes is the size of the largest document, in bytes: a ConfigMap holds 1 MiB with its metadata.
	MaxBytes = 1000 * 1000
	// TokenBytes is the length of a token in bytes.
	TokenBytes = 16

	maxName      = 253
	maxEndpoint  = 261 // a name, a colon, and a port with some room
	maxAddresses = 4
	// maxClusterNodes is far beyond any cluster, and small enough to calculate with.
	maxClusterNodes = 1_000_000
)

// List says what is to be measured.
type List struct {
	// Version is [Version].
	Version int `json:"version"`
	// Token lets the agents of a cluster know each other's echo packets, in hexadecimal. It keeps strangers from using
	// the echo; it protects nothing secret. Empty: no echo is served or asked for.
	Token string `json:"token,omitempty"`
	// ClusterNodes is the number of nodes in the cluster, of which Nodes may be a sample: all of them probe the references.
	// 0 stands for the number of Nodes.
	ClusterNodes int `json:"clusterNodes,omitempty"`
	// Nodes are the nodes that may be probed, in any order, each name once.
	Nodes []Node `json:"nodes"`
	// Endpoints are what pods' bounds refer to outside of the cluster: a host, or host:port.
	Endpoints []string `json:"endpoints,omitempty"`
}

// Node is one node of a list.
type Node struct {
	// Name is the name of the Node object.
	Name string `json:"name"`
	// Zone is the value of its zone label, "" without one.
	Zone string `json:"zone,omitempty"`
	// Addresses are the node's IP addresses, the preferred one first; 1 to 4.
	Addresses []netip.Addr `json:"addresses"`
	// Reference says that some pod's bound refers to the node, so that every node measures to it.
	Reference bool `json:"reference,omitempty"`
}

// Decode reads a document and checks it. Fields that it does not know are ignored: a newer controller may write more.
func Decode(r io.Reader) (*List, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the list of targets: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("list of targets: expected at most %d bytes, found more", MaxBytes)
	}
	list := &List{}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(list); err != nil {
		return nil, fmt.Errorf("list of targets: not the expected JSON: %w", err)
	}
	if err := list.check(); err != nil {
		return nil, fmt.Errorf("list of targets: %w", err)
	}
	return list, nil
}

// Encode returns the document as it is published: the same list always gives the same bytes, one node a line.
func (l *List) Encode() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("list of targets: %w", err)
	}
	var out bytes.Buffer
	head, err := json.Marshal(struct {
		Version      int      `json:"version"`
		Token        string   `json:"token,omitempty"`
		ClusterNodes int      `json:"clusterNodes,omitempty"`
		Endpoints    []string `json:"endpoints,omitempty"`
	}{l.Version, l.Token, l.ClusterNodes, l.Endpoints})
	if err != nil {
		return nil, fmt.Errorf("encoding the list of targets: %w", err)
	}
	out.Write(head[:len(head)-1])
	out.WriteString(",\"nodes\":[")
	for i := range l.Nodes {
		node, err := json.Marshal(&l.Nodes[i])
		if err != nil {
			return nil, fmt.Errorf("encoding node %q of the list of targets: %w", l.Nodes[i].Name, err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(node)
	}
	out.WriteString("]}\n")
	return out.Bytes(), nil
}

// Probers returns how many nodes probe each reference, as far as is known.
func (l *List) Probers() int { return max(l.ClusterNodes, len(l.Nodes)) }

// TokenKey returns the token as bytes, nil if there is none.
func (l *List) TokenKey() []byte {
	key, err := hex.DecodeString(l.Token)
	if err != nil || len(key) != TokenBytes {
		return nil
	}
	return key
}

func (l *List) check() error {
	if l.Version != Version {
		return fmt.Errorf("expected version %d, found %d: controller and agents must be of the same release", Version, l.Version)
	}
	if l.Token != "" && l.TokenKey() == nil {
		return fmt.Errorf("token: expected %d bytes in hexadecimal", TokenBytes)
	}
	if l.ClusterNodes < 0 || l.ClusterNodes > maxClusterNodes {
		return fmt.Errorf("clusterNodes: expected 0 to %d, found %d", maxClusterNodes, l.ClusterNodes)
	}
	if len(l.Endpoints) > MaxEndpoints {
		return fmt.Errorf("expected at most %d endpoints, found %d", MaxEndpoints, len(l.Endpoints))
	}
	for i, endpoint := range l.Endpoints {
		if err := checkText(endpoint, maxEndpoint); err != nil {
			return fmt.Errorf("endpoints[%d]: %w", i, err)
		}
	}
	return l.checkNodes()
}

func (l *List) checkNodes() error {
	if len(l.Nodes) > MaxNodes+MaxReferences {
		return fmt.Errorf("expected at most %d nodes, found %d", MaxNodes+MaxReferences, len(l.Nodes))
	}
	seen := make(map[string]bool, len(l.Nodes))
	for i := range l.Nodes {
		node := &l.Nodes[i]
		switch err := checkText(node.Name, maxName); {
		case err != nil:
			return fmt.Errorf("nodes[%d].name: %w", i, err)
		case seen[node.Name]:
			return fmt.Errorf("nodes[%d].name: %q occurs twice", i, node.Name)
		case len(node.Zone) > maxName:
			return fmt.Errorf("nodes[%d].zone: expected at most %d bytes, found %d", i, maxName, len(node.Zone))
		case len(node.Addresses) == 0 || len(node.Addresses) > maxAddresses:
			return fmt.Errorf("nodes[%d].addresses: expected 1 to %d, found %d", i, maxAddresses, len(node.Addresses))
		}
		seen[node.Name] = true
		for j, address := range node.Addresses {
			if !Usable(address) {
				return fmt.Errorf("nodes[%d].addresses[%d]: expected the unicast address of one host, found %q", i, j, address)
			}
		}
	}
	return nil
}

func checkText(text string, most int) error {
	switch {
	case text == "":
		return errors.New("expected a name, found nothing")
	case len(text) > most:
		return fmt.Errorf("expected at most %d bytes, found %d", most, len(text))
	case !utf8.ValidString(text):
		return errors.New("expected UTF-8")
	}
	return nil
}

// Usable tells whether an address is one that a probe may be sent to: that of a single host. Loopback is one, for agents
// that run on one machine. Broadcast and multicast are not: one probe would have many answers.
func Usable(address netip.Addr) bool {
	return address.IsValid() && !address.IsUnspecified() && !address.IsMulticast() &&
		address != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
