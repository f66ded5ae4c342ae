package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	// MaxBytes is how large a file may be.
	MaxBytes = 16 << 20
	// MaxTensors is how many tensors a file may hold.
	MaxTensors = 1024
	// maxDimensions is how many dimensions a tensor may have.
	maxDimensions = 8

	lengthBytes, valueBytes = 8, 4
	metadataKey             = "__metadata__"
	float32Type             = "F32"
)

// File is the content of a safetensors file.
type File struct {
	// Metadata is free text by key; nil when the file has none.
	Metadata map[string]string
	// Tensors are the numbers by name.
	Tensors map[string]Tensor
}

// Tensor is an array of numbers.
type Tensor struct {
	// Shape holds the length of each dimension; none at all is a single number.
	Shape []int
	// Values holds the numbers, the last dimension varying fastest.
	Values []float32
}

// entry is a tensor in the header.
type entry struct {
	DType   string    `json:"dtype"`
	Shape   []int64   `json:"shape"`
	Offsets *[2]int64 `json:"data_offsets"`
}

// Decode reads a file. Its errors name the tensor and what is wrong with it. The result does not refer to data.
func Decode(data []byte) (*File, error) {
	header, body, err := split(data)
	if err != nil {
		return nil, err
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("header: want a JSON object: %w", err)
	}
	file := &File{Tensors: map[string]Tensor{}}
	if text, ok := raw[metadataKey]; ok {
		if err := json.Unmarshal(text, &file.Metadata); err != nil {
			return nil, fmt.Errorf("header: want texts by key in %s: %w", metadataKey, err)
		}
		delete(raw, metadataKey)
	}
	if len(raw) > MaxTensors {
		return nil, fmt.Errorf("header: want at most %d tensors, found %d", MaxTensors, len(raw))
	}
	entries, err := parseEntries(raw)
	if err != nil {
		return nil, err
	}
	if err := checkCover(entries, len(body)); err != nil {
		return nil, err
	}
	for name, e := range entries {
		file.Tensors[name] = e.tensor(body)
	}
	return file, nil
}

func split(data []byte) (header, body []byte, err error) {
	switch {
	case len(data) > MaxBytes:
		return nil, nil, fmt.Errorf("want at most %d bytes, found %d", MaxBytes, len(data))
	case len(data) < lengthBytes:
		return nil, nil, fmt.Errorf("want a header's length in the first %d bytes, found %d bytes in all: the file is cut off or another format",
			lengthBytes, len(data))
	}
	length, rest := binary.LittleEndian.Uint64(data), data[lengthBytes:]
	if length > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("want a header of %d bytes, found %d bytes: the file is cut off or another format", length, len(rest))
	}
	header, body = rest[:length], rest[length:]
	if !bytes.HasPrefix(header, []byte("{")) {
		return nil, nil, errors.New("header: want a JSON object, which begins with {: the file is another format")
	}
	return header, body, nil
}

func parseEntries(raw map[string]json.RawMessage) (map[string]*entry, error) {
	entries := make(map[string]*entry, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		e := &entry{}
		decoder := json.NewDecoder(bytes.NewReader(raw[name]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		entries[name] = e
	}
	return entries, nil
}

// check compares what the entry says of itself. A product of lengths is bounded before it is made.
func (e *entry) check() error {
	switch {
	case e.DType != float32Type:
		return fmt.Errorf("want dtype %s, found %q: convert it with .float() before it is saved", float32Type, e.DType)
	case len(e.Shape) > maxDimensions:
		return fmt.Errorf("want at most %d dimensions, found %d", maxDimensions, len(e.Shape))
	case e.Offsets == nil:
		return errors.New("want data_offsets, found none")
	}
	values := int64(1)
	for _, length := range e.Shape {
		if length < 0 || length > MaxBytes {
			return fmt.Errorf("want lengths from 0 to %d, found shape %v", MaxBytes, e.Shape)
		}
		if values *= length; values > MaxBytes {
			return fmt.Errorf("want at most %d values, found shape %v", MaxBytes/valueBytes, e.Shape)
		}
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end-begin != values*valueBytes {
		return fmt.Errorf("want data_offsets that span %d bytes for shape %v, found [%d, %d]", values*valueBytes, e.Shape, begin, end)
	}
	return nil
}

// checkCover makes sure that the tensors cover the data without holes, as the format demands: nothing can hide between
// them, and no two share bytes.
func checkCover(entries map[string]*entry, size int) error {
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		// Of two that begin together the empty one comes first.
		if order := entries[a].Offsets[0] - entries[b].Offsets[0]; order != 0 {
			return int(order)
		}
		if order := entries[a].Offsets[1] - entries[b].Offsets[1]; order != 0 {
			return int(order)
		}
		return strings.Compare(a, b)
	})
	at := int64(0)
	for _, name := range names {
		if begin := entries[name].Offsets[0]; begin != at {
			return fmt.Errorf("tensor %q: want data that begins at byte %d, where the one before ends, found %d", name, at, begin)
		}
		at = entries[name].Offsets[1]
	}
	if at != int64(size) {
		return fmt.Errorf("want %d bytes of data, as the header says, found %d: the file is cut off or damaged", at, size)
	}
	return nil
}

// tensor reads the values. The entry has been checked against body.
func (e *entry) tensor(body []byte) Tensor {
	data := body[e.Offsets[0]:e.Offsets[1]]
	t := Tensor{Shape: make([]int, len(e.Shape)), Values: make([]float32, len(data)/valueBytes)}
	for i, length := range e.Shape {
		t.Shape[i] = int(length)
	}
	for i := range t.Values {
		t.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[i*valueBytes:]))
	}
	return t
}
