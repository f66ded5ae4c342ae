// Package mlp evaluates small neural networks in-process: a batched forward pass in float32, and the file that holds a
// trained model.
//
// A [Network] is a multilayer perceptron: dense layers, the rectifier max(0, x) between them, and a linear last layer.
//
//	y = W x + b        for the last layer
//	y = max(0, W x + b) for the others
//
// A batch is evaluated layer by layer, in tiles of four rows by sixteen outputs that stay in registers. On amd64 with
// AVX2 and FMA a tile is an assembly kernel that hack/densekernel writes; elsewhere it is a loop in Go. Both add in the
// same order, from the first input to the last, starting with the bias; they differ by the rounding of the fused
// multiply-add only, which is a few units in the last place. What a row yields does not depend on the other rows of its
// batch, so that a result may be kept for as long as the row's inputs stay the same.
//
// A [Model] is a network with what is needed to trust it: the hash of the feature schema it was trained for, the scaling
// of its inputs, where it came from, and golden inputs with the outputs they must give, which are checked when it is
// read. The file is safetensors (https://github.com/huggingface/safetensors, README "Format"): eight bytes with the
// length of a JSON header, the header, and raw little-endian tensors. [Decode] trusts nothing in it: no length is
// believed before it has been compared with the bytes that are there.
//
// The package is pure: standard library only, no clock, no goroutine. It does not know what a feature means; that is
// pkg/feature's business.
package mlp
