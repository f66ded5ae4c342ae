// Package safetensors reads and writes the safetensors format: named tensors of numbers with a JSON header, and nothing
// that could be executed.
//
//	8 bytes   little-endian length of the header
//	header    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "value"}}
//	data      the tensors, little-endian, row by row; offsets count from here, without holes or overlaps
//
// The format is described at https://github.com/huggingface/safetensors (README, "Format"). Only 32-bit floating point
// numbers are read, and only small files: the models of this project have some thousand weights.
//
// Nothing in a file is believed before it was compared with the bytes that are there; memory is taken for what is there,
// never for what a header announces.
//
// The package is pure: standard library only.
package safetensors
