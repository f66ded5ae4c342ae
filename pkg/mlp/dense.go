package mlp

// A tile of tileRows by tileOutputs sums is what fits into the registers of a kernel.
const tileRows, tileOutputs = 4, 16

// packed is a layer whose weights stand in the order in which a kernel reads them.
type packed struct {
	inputs, outputs int
	// padded is outputs rounded up to whole tiles. What is beyond outputs has weights and biases of zero.
	padded int
	// weights holds, for each tile of outputs and then for each input, tileOutputs weights.
	weights []float32
	bias    []float32
	// floor is what outputs are raised to: zero for a rectifier, minus infinity for none.
	floor float32
}

func pack(l *Layer, floor float32) packed {
	p := packed{inputs: l.Inputs, outputs: l.Outputs, padded: roundUp(l.Outputs, tileOutputs), floor: floor}
	p.bias = make([]float32, p.padded)
	copy(p.bias, l.Bias)
	p.weights = make([]float32, p.inputs*p.padded)
	for out := range l.Outputs {
		tile, column := out/tileOutputs, out%tileOutputs
		for in := range l.Inputs {
			p.weights[(tile*p.inputs+in)*tileOutputs+column] = l.Weights[out*l.Inputs+in]
		}
	}
	return p
}

// tile is the work of one call of a kernel: sixteen outputs of some groups of four rows.
type tile struct {
	// dst and src begin at the first row; their rows are dstStride and srcStride values apart.
	dst, src             []float32
	dstStride, srcStride int
	// weights holds tileOutputs values for each input, bias and the sums as many.
	weights, bias []float32
	inputs        int
	// rows is a multiple of tileRows.
	rows  int
	floor float32
}

// kernel evaluates a tile: dst[r][o] = max(floor, bias[o] + sum over i of src[r][i] x weights[i][o]), adding in the
// order of the inputs.
type kernel func(*tile)

// evaluate writes the layer's padded outputs for each row of src, whose rows are stride values apart.
// It works in t, which would be allocated anew each time if it were its own.
func (p *packed) evaluate(run kernel, t *tile, dst, src []float32, rows, stride int) {
	*t = tile{src: src, srcStride: stride, dstStride: p.padded, inputs: p.inputs, rows: rows, floor: p.floor}
	for first := 0; first < p.padded; first += tileOutputs {
		t.dst = dst[first:]
		t.weights = p.weights[first*p.inputs : (first+tileOutputs)*p.inputs]
		t.bias = p.bias[first : first+tileOutputs]
		run(t)
	}
}

// portable is the kernel in Go. Eight sums at a time is what the compiler keeps in registers.
func portable(t *tile) {
	const sums = 8
	for r := range t.rows {
		x := t.src[r*t.srcStride:][:t.inputs]
		y := (*[tileOutputs]float32)(t.dst[r*t.dstStride:])
		for half := 0; half < tileOutputs; half += sums {
			b := (*[sums]float32)(t.bias[half:])
			a0, a1, a2, a3, a4, a5, a6, a7 := b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
			weights := t.weights[half:]
			for i, v := range x {
				w := (*[sums]float32)(weights[i*tileOutputs:])
				a0 += v * w[0]
				a1 += v * w[1]
				a2 += v * w[2]
				a3 += v * w[3]
				a4 += v * w[4]
				a5 += v * w[5]
				a6 += v * w[6]
				a7 += v * w[7]
			}
			*(*[sums]float32)(y[half:]) = [sums]float32{a0, a1, a2, a3, a4, a5, a6, a7}
		}
		for o, v := range y {
			if v < t.floor { // false for NaN, which stays one
				y[o] = t.floor
			}
		}
	}
}
