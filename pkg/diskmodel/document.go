package diskmodel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// MaxDocument is the largest size of a model document, in bytes.
const MaxDocument = 1 << 20

// ErrNative says that a document is a native plug-in.
var ErrNative = errors.New("native plug-ins are not loaded into the scheduler; " +
	"want a model document in YAML or JSON, of kind Table, CEL or Identity, such as those in manifests/models")

// Key names a kind of disk. As two fields it is unambiguous, unlike the predecessor's <vendor>-<model>.
type Key struct {
	Vendor, Model string
}

// Model is a compiled model document. It is immutable.
type Model struct {
	blockio.Model
	// IOPS are what disks of this kind do. They are unknown unless HasIOPS is set, and mean nothing for a disk that
	// reports its own.
	IOPS    blockio.IOPS
	HasIOPS bool
}

// Kinds of documents.
const (
	kindTable    = "Table"
	kindCEL      = "CEL"
	kindIdentity = "Identity"
)

// document is the form in which models are written.
type document struct {
	Kind string `json:"kind"`
	// Vendor and Model are needed in folders, where no list says what the document is for. A list's word counts more,
	// so that one document can serve several models.
	Vendor string `json:"vendor,omitempty"`
	Model  string `json:"model,omitempty"`
	// ReadRatios, WriteRatios and Mixed belong to tables.
	ReadRatios  map[string]float64 `json:"readRatios,omitempty"`
	WriteRatios map[string]float64 `json:"writeRatios,omitempty"`
	Mixed       *float64           `json:"mixed,omitempty"`
	// Expression belongs to CEL.
	Expression string `json:"expression,omitempty"`
	IOPS       *iops  `json:"iops,omitempty"`
}

type iops struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Parse compiles a model document. The key is what the document says it is for; its fields are empty where it does
// not. Errors say what is wrong and what is legal; that of a native plug-in wraps ErrNative.
func Parse(data []byte) (*Model, Key, error) {
	if len(data) > MaxDocument {
		return nil, Key{}, fmt.Errorf("want a model document of at most %d bytes, found %d", MaxDocument, len(data))
	}
	if bytes.HasPrefix(data, []byte("\x7fELF")) {
		return nil, Key{}, ErrNative
	}
	single, err := singleDocument(data)
	if err != nil {
		return nil, Key{}, err
	}
	var d document
	if err := yaml.UnmarshalStrict(single, &d); err != nil {
		return nil, Key{}, fmt.Errorf("want a model document in YAML or JSON: %w", short(err))
	}
	model, err := d.compile()
	if err != nil {
		return nil, Key{}, err
	}
	if d.IOPS != nil {
		if d.IOPS.Read < 0 || d.IOPS.Write < 0 {
			return nil, Key{}, fmt.Errorf("iops: want numbers of at least 0, found read %d and write %d", d.IOPS.Read, d.IOPS.Write)
		}
		model.IOPS = blockio.IOPS{Read: blockio.PerSecond(d.IOPS.Read), Write: blockio.PerSecond(d.IOPS.Write)}
		model.HasIOPS = true
	}
	return model, Key{Vendor: d.Vendor, Model: d.Model}, nil
}

// singleDocument returns the only document of a YAML stream. The YAML library would read the first and pass over
// the others.
func singleDocument(data []byte) ([]byte, error) {
	reader := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var found []byte
	for {
		next, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			if found == nil {
				return nil, errors.New("want a model document, found nothing")
			}
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("reading a model document: %w", short(err))
		case onlyComments(next):
		case found != nil:
			return nil, errors.New("want one model document, found several in one file")
		default:
			found = next
		}
	}
}

func onlyComments(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

func (d *document) compile() (*Model, error) {
	if err := d.checkFields(); err != nil {
		return nil, err
	}
	switch d.Kind {
	case kindTable:
		table, err := d.table()
		return modelOf(table, err)
	case kindCEL:
		expression, err := newExpression(d.Expression)
		return modelOf(expression, err)
	case kindIdentity:
		return &Model{Model: blockio.Identity{}}, nil
	default:
		return nil, fmt.Errorf("kind: want %s, %s or %s, found %.40q", kindTable, kindCEL, kindIdentity, d.Kind)
	}
}

func modelOf(model blockio.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{Model: model}, nil
}

// checkFields refuses fields that belong to another kind than the document's.
func (d *document) checkFields() error {
	if d.Kind != kindTable && (d.ReadRatios != nil || d.WriteRatios != nil || d.Mixed != nil) {
		return fmt.Errorf("kind %.40q: readRatios, writeRatios and mixed belong to kind %s", d.Kind, kindTable)
	}
	if d.Kind != kindCEL && d.Expression != "" {
		return fmt.Errorf("kind %.40q: expression belongs to kind %s", d.Kind, kindCEL)
	}
	return nil
}

func (d *document) table() (*blockio.Table, error) {
	if len(d.ReadRatios) == 0 && len(d.WriteRatios) == 0 {
		return nil, errors.New("want readRatios or writeRatios in a table, found neither")
	}
	config := blockio.TableConfig{Mixed: 1}
	if d.Mixed != nil {
		config.Mixed = *d.Mixed
	}
	var err error
	if config.Read, err = ratioPoints(d.ReadRatios); err != nil {
		return nil, fmt.Errorf("readRatios: %w", err)
	}
	if config.Write, err = ratioPoints(d.WriteRatios); err != nil {
		return nil, fmt.Errorf("writeRatios: %w", err)
	}
	return blockio.NewTable(config)
}

func ratioPoints(ratios map[string]float64) ([]blockio.RatioPoint, error) {
	points := make([]blockio.RatioPoint, 0, len(ratios))
	for text, ratio := range ratios {
		size, err := parseBlockSize(text)
		if err != nil {
			return nil, err
		}
		points = append(points, blockio.RatioPoint{Size: size, Ratio: ratio})
	}
	return points, nil
}

// parseBlockSize reads a number of bytes, or of 1024 bytes with the suffix k or Ki, as in the pods' annotation.
func parseBlockSize(text string) (blockio.Bytes, error) {
	number, factor := text, int64(1)
	for _, suffix := range []string{"Ki", "k"} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, factor = n, 1<<10
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("want block sizes such as 512, 4k or 4Ki, found %.40q", text)
	}
	return blockio.Bytes(n * factor), nil
}

// maxErrorText bounds what is repeated of a library's error, which may quote the document.
const maxErrorText = 400

// short bounds the text of an error by hiding what stands behind its beginning.
func short(err error) error {
	if text := err.Error(); len(text) > maxErrorText {
		return fmt.Errorf("%.*s and %d more bytes", maxErrorText, text, len(text)-maxErrorText)
	}
	return err
}
