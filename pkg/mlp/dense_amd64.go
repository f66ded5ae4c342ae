package mlp

import "unsafe"

// fastestKernel returns the kernel in assembly where the processor and the operating system support it.
func fastestKernel() kernel {
	if hasAVX2() {
		return avx2
	}
	return portable
}

// hasAVX2 follows Intel's manual, volume 1, sections 14.3 and 14.7: the processor has AVX2 and FMA, and the operating
// system saves the registers they use.
func hasAVX2() bool {
	const fma, osxsave, avx, avx2Bit = 1 << 12, 1 << 27, 1 << 28, 1 << 5
	const xmmAndYMM = 1<<1 | 1<<2
	highest, _, _, _ := cpuid(0, 0)
	if highest < 7 {
		return false
	}
	_, _, features, _ := cpuid(1, 0)
	if features&(fma|osxsave|avx) != fma|osxsave|avx || xgetbv()&xmmAndYMM != xmmAndYMM {
		return false
	}
	_, extended, _, _ := cpuid(7, 0)
	return extended&avx2Bit != 0
}

// avx2 is the kernel in assembly. The slices are cut to what it touches first, so that a wrong length panics here.
func avx2(t *tile) {
	const size = int(unsafe.Sizeof(float32(0)))
	dst := t.dst[:(t.rows-1)*t.dstStride+tileOutputs]
	src := t.src[:(t.rows-1)*t.srcStride+t.inputs]
	weights, bias := t.weights[:t.inputs*tileOutputs], t.bias[:tileOutputs]
	denseAVX2(&dst[0], &src[0], &weights[0], &bias[0], t.rows/tileRows, t.inputs, t.dstStride*size, t.srcStride*size, t.floor)
}
