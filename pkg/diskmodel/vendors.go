package diskmodel

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// VendorsConfigMap is the name of the ConfigMap, in the scheduler's namespace, that lists models of disks under
	// VendorsKey. Both names are the predecessor's.
	VendorsConfigMap = "normalization-func"
	// VendorsKey is the key that holds the list of vendors.
	VendorsKey = "diskVendors"
)

// MaxEntries bounds the number of models of a list of vendors, and of documents of a folder.
const MaxEntries = 1024

// entry says where the document of a kind of disk is.
type entry struct {
	key    Key
	url    string
	sha256 string // hexadecimal in lower case; "": not checked
	inline []byte // the document itself; nil: at the URL
}

// vendor is an entry as it is written. The first three fields are the predecessor's.
type vendor struct {
	Vendor string `json:"vendor"`
	Model  string `json:"model"`
	URL    string `json:"url,omitempty"`
	// SHA256 is the digest of the document, hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
	// Inline is the document as a JSON string that holds YAML or JSON, or as a JSON object.
	Inline json.RawMessage `json:"inline,omitempty"`
}

// parseVendors reads a list of vendors. The faults are those of single entries, which are left out; without them
// the others hold. The error says that there is no list at all.
func parseVendors(text []byte) (entries []entry, faults []error, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, nil
	}
	if len(text) > MaxDocument {
		return nil, nil, fmt.Errorf("want a list of vendors of at most %d bytes, found %d", MaxDocument, len(text))
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, nil, fmt.Errorf(
			"want a JSON list such as [{\"vendor\":\"Intel\",\"model\":\"P4510\",\"url\":\"https://host/p4510.yaml\"}]: %w", short(err))
	}
	if len(raw) > MaxEntries {
		return nil, nil, fmt.Errorf("want at most %d vendors, found %d", MaxEntries, len(raw))
	}
	seen := map[Key]bool{}
	for i, r := range raw {
		e, err := parseVendor(r)
		if err == nil && seen[e.key] {
			err = errors.New("want each vendor and model once, found it again")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("disk vendors[%d] (vendor %.40q, model %.40q): %w", i, e.key.Vendor, e.key.Model, err))
			continue
		}
		seen[e.key] = true
		entries = append(entries, e)
	}
	return entries, faults, nil
}

// parseVendor returns the key also with an error, as far as it could be read.
func parseVendor(raw json.RawMessage) (entry, error) {
	var v vendor
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v); err != nil {
		return entry{}, fmt.Errorf("want an object with vendor, model, url or inline, and sha256: %w", short(err))
	}
	e := entry{key: Key{Vendor: v.Vendor, Model: v.Model}, url: v.URL, sha256: strings.ToLower(v.SHA256)}
	if v.Vendor == "" && v.Model == "" {
		return e, errors.New("want the vendor and the model, found neither")
	}
	if digest, err := hex.DecodeString(e.sha256); err != nil || len(digest) != 32 && len(digest) != 0 {
		return e, fmt.Errorf("sha256: want 64 hexadecimal digits, found %.70q", v.SHA256)
	}
	var err error
	if e.inline, err = inlineDocument(v.Inline); err != nil {
		return e, err
	}
	if (e.url == "") == (e.inline == nil) {
		return e, errors.New("want either url or inline")
	}
	if e.url != "" {
		_, err = parseURL(e.url)
	}
	return e, err
}

func inlineDocument(raw json.RawMessage) ([]byte, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '{':
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || text == "" {
		return nil, errors.New("inline: want a model document as an object or as a string")
	}
	return []byte(text), nil
}
