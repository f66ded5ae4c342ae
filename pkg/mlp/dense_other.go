//go:build !amd64

package mlp

// fastestKernel returns the kernel in Go: there is no other for this processor.
func fastestKernel() kernel { return portable }
