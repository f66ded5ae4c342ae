// Command densekernel writes the AVX2 form of pkg/mlp's dense layer, and the test of whether the processor has it.
//
// Go's compiler does not vectorise. The loop below keeps four rows by sixteen outputs in eight registers, so that each
// step over an input feature is two loads of weights, four broadcasts and eight fused multiply-adds: the adders, not the
// loads, are the bound.
package main

import (
	. "github.com/mmcloughlin/avo/build" //nolint:revive,staticcheck // the way avo's programs are written
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	rows, vectors = 4, 2
	lane, vector  = 4, 32 // bytes of a float32 and of a register of eight
)

func main() {
	ConstraintExpr("amd64")
	dense()
	cpuid()
	xgetbv()
	Generate()
}

func dense() {
	TEXT("denseAVX2", NOSPLIT, "func(dst, src, weights, bias *float32, groups, in, dstStride, srcStride int, floor float32)")
	Doc("denseAVX2 is denseBlock for groups of four rows: strides are in bytes, weights hold sixteen outputs for each input.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	weights, bias := Load(Param("weights"), GP64()), Load(Param("bias"), GP64())
	groups, in := Load(Param("groups"), GP64()), Load(Param("in"), GP64())
	dstStride, srcStride := Load(Param("dstStride"), GP64()), Load(Param("srcStride"), GP64())
	floorAddress, err := Param("floor").Resolve()
	if err != nil {
		panic(err)
	}
	floor := YMM()
	VBROADCASTSS(floorAddress.Addr, floor)

	row := [rows]reg.GPVirtual{}
	for r := range row {
		row[r] = GP64()
	}
	address(row, src.(reg.GPVirtual), srcStride)
	var sums [rows][vectors]reg.VecVirtual

	Label("group")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	for r := range rows {
		for v := range vectors {
			sums[r][v] = YMM()
			VMOVUPS(Mem{Base: bias, Disp: v * vector}, sums[r][v])
		}
	}
	input(row, weights, in, &sums)
	for r := range rows {
		for v := range vectors {
			// This order of operands keeps a NaN a NaN.
			VMAXPS(sums[r][v], floor, sums[r][v])
			VMOVUPS(sums[r][v], Mem{Base: dst, Disp: v * vector})
		}
		ADDQ(dstStride, dst)
		LEAQ(Mem{Base: row[r], Index: srcStride, Scale: rows}, row[r])
	}
	DECQ(groups)
	JMP(LabelRef("group"))

	Label("done")
	VZEROUPPER()
	RET()
}

// address points row r at src + r x stride.
func address(row [rows]reg.GPVirtual, src reg.GPVirtual, stride reg.Register) {
	MOVQ(src, row[0])
	for r := 1; r < rows; r++ {
		LEAQ(Mem{Base: row[r-1], Index: stride, Scale: 1}, row[r])
	}
}

// input adds, for each input feature, the feature times its weights to the sums.
func input(row [rows]reg.GPVirtual, weights, in reg.Register, sums *[rows][vectors]reg.VecVirtual) {
	feature, weight, left := GP64(), GP64(), GP64()
	XORQ(feature, feature)
	MOVQ(weights, weight)
	MOVQ(in, left)
	Label("input")
	var w [vectors]reg.VecVirtual
	for v := range vectors {
		w[v] = YMM()
		VMOVUPS(Mem{Base: weight, Disp: v * vector}, w[v])
	}
	for r := range rows {
		x := YMM()
		VBROADCASTSS(Mem{Base: row[r], Index: feature, Scale: 1}, x)
		for v := range vectors {
			VFMADD231PS(w[v], x, sums[r][v])
		}
	}
	ADDQ(Imm(lane), feature)
	ADDQ(Imm(vectors*vector), weight)
	DECQ(left)
	JNZ(LabelRef("input"))
}

func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, subleaf uint32) (a, b, c, d uint32)")
	Doc("cpuid asks the processor what it can do.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("subleaf"), reg.ECX)
	CPUID()
	Store(reg.EAX, Return("a"))
	Store(reg.EBX, Return("b"))
	Store(reg.ECX, Return("c"))
	Store(reg.EDX, Return("d"))
	RET()
}

func xgetbv() {
	TEXT("xgetbv", NOSPLIT, "func() (low uint32)")
	Doc("xgetbv tells which registers the operating system saves.")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, Return("low"))
	RET()
}
