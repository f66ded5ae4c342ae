package safetensors

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// raw puts a file together from its header's text and its data.
func raw(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func TestDecodeOfAFileByHand(t *testing.T) {
	// 1.0 is 0x3f800000 and -2.0 is 0xc0000000.
	got, err := Decode(raw(`{"__metadata__":{"schema":"v1"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}`,
		0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Metadata: map[string]string{"schema": "v1"}, Tensors: map[string]Tensor{"w": {Shape: []int{2, 1}, Values: []float32{1, -2}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "found 0 bytes in all"},
		{"a header longer than the file", binary.LittleEndian.AppendUint64(nil, 9), "want a header of 9 bytes, found 0 bytes"},
		{"a length that would be negative as int64", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "want a header of 18446744073709551615 bytes"},
		{"another format", raw("PK\x03\x04"), "which begins with {"},
		{"a header cut off", raw(`{"w":`), "want a JSON object"},
		{"numbers as metadata", raw(`{"__metadata__":{"a":1}}`), "want texts by key in __metadata__"},
		{"another type", raw(`{"w":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, 0, 0), `tensor "w": want dtype F32, found "F16"`},
		{"a field that nobody knows", raw(`{"w":{"dtype":"F32","code":"x"}}`), `tensor "w": json: unknown field "code"`},
		{"no place", raw(`{"w":{"dtype":"F32","shape":[1]}}`), "want data_offsets, found none"},
		{"a negative length", raw(`{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}`), "want lengths from 0 to"},
		{"lengths whose product overflows", raw(`{"w":{"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,0]}}`), "want at most 4194304 values"},
		{"a place before the data", raw(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`), "want data_offsets that span 4 bytes"},
		{"a place of another size", raw(`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 0, 0, 0, 0), "want data_offsets that span 8 bytes"},
		{"data cut off", raw(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0), "want 4 bytes of data, as the header says, found 2"},
		{"data that no tensor has", raw(`{}`, 1), "want 0 bytes of data, as the header says, found 1"},
		{
			"tensors that share bytes", raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0),
			`tensor "b": want data that begins at byte 4`,
		},
		{"too large a file", make([]byte, MaxBytes+1), "want at most 16777216 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func TestEncodeRefusesAShapeThatDoesNotFit(t *testing.T) {
	f := File{Tensors: map[string]Tensor{"w": {Shape: []int{3}, Values: []float32{1}}}}
	if _, err := f.Encode(); err == nil || !strings.Contains(err.Error(), "want 3 values for shape [3]") {
		t.Errorf("want an error about the shape, got %v", err)
	}
}

// FuzzDecode feeds anything; what is accepted must survive being written and read again.
func FuzzDecode(f *testing.F) {
	f.Add(raw(`{"__metadata__":{"schema":"v1"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}`, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0))
	f.Add(raw(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}}   `, 0, 0, 0, 0))
	f.Add(raw(`{"w":{"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,0]}}`))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.MaxUint64))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Decode(data)
		if err != nil {
			return
		}
		again, err := file.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		reread, err := Decode(again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(file, reread, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("file after a round trip (-before +after):\n%s", diff)
		}
	})
}
