package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Encode writes a file. Equal files give equal bytes: tensors stand in the order of their names.
func (f *File) Encode() ([]byte, error) {
	header := map[string]any{}
	if len(f.Metadata) > 0 {
		header[metadataKey] = f.Metadata
	}
	var body []byte
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		t := f.Tensors[name]
		shape, values := make([]int64, len(t.Shape)), 1
		for i, length := range t.Shape {
			shape[i] = int64(length)
			values *= length
		}
		if name == metadataKey || values != len(t.Values) {
			return nil, fmt.Errorf("tensor %q: want %d values for shape %v and a name other than %s, found %d values",
				name, values, t.Shape, metadataKey, len(t.Values))
		}
		begin := int64(len(body))
		for _, v := range t.Values {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
		}
		header[name] = entry{DType: float32Type, Shape: shape, Offsets: &[2]int64{begin, int64(len(body))}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("writing the header: %w", err)
	}
	// Spaces up to a multiple of eight, as other writers do, so that the data is aligned in a file mapped into memory.
	text = append(text, bytes.Repeat([]byte(" "), (lengthBytes-len(text)%lengthBytes)%lengthBytes)...)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	out = append(append(out, text...), body...)
	if len(out) > MaxBytes {
		return nil, fmt.Errorf("want at most %d bytes, found %d", MaxBytes, len(out))
	}
	return out, nil
}
