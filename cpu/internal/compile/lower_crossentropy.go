package compile

import (
	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// Dimensions of a block of logits (docs/log.md, 2026-11-26).
const (
	entropyColumns = kernel.BlockK // so that a block is one block of the terms of dz w
	entropyBytes   = 16 << 20      // of the logits of a block of rows: a part of the L3 cache
	entropyLeast   = 96            // number of rows, even if they have more bytes
	entropyRows    = 384
)

// lowerCrossEntropy emits cross entropy in blocks in place of a call. Without users of the gradients they are not computed.
func (em *emitter) lowerCrossEntropy(f *ir.Function, e *graph.Expr, in []exec.Operand) {
	h, w := e.Operands[0], e.Operands[1]
	x := &exec.CrossEntropy{Rows: h.Dims[0], Width: h.Dims[1], Words: w.Dims[0], Size: h.DType.Size(), ByColumn: ir.CrossEntropyByColumn(f),
		H: in[0], W: in[1], Target: in[2], A: in[3], B: in[4]}
	if x.ByColumn {
		x.Words = w.Dims[1]
	}
	slots := []*int{&x.Truth, &x.Total, &x.Correct, &x.DH, &x.DW}
	x.Gradient = em.escapes(e.Outputs[3]) || em.escapes(e.Outputs[4])
	used := em.touched(e)
	if !x.Gradient {
		slots, used = slots[:3], used[:len(used)-2]
	}
	for i, slot := range slots {
		*slot = em.slotOf(e.Outputs[i])
	}
	key := kernel.Key{Op: compute.OpTypeMul, DType: h.DType}
	add := kernel.Key{Op: compute.OpTypeAdd, DType: h.DType}
	x.Kernels, x.Multiply, x.Add, x.RowSum = em.kernels().Attention[h.DType], em.kernels().RowRight[key], em.kernels().RowRight[add], em.kernels().Reduce[add]
	planCrossEntropy(x, em.gemmOf(h.DType, x.Rows, x.Words, x.Width))
	em.emit(x, append(used, em.crossEntropyTemps(x)...)...)
}

// planCrossEntropy determines the dimensions of a block and the products.
func planCrossEntropy(x *exec.CrossEntropy, gemm *kernel.Gemm) {
	x.Columns = entropyColumns
	x.Height = kernel.RoundUp(min(max(entropyBytes/(x.Words*x.Size), entropyLeast), entropyRows, x.Rows), 8)
	size, row := x.Size, x.Width*x.Size
	toWidth, toWord := size, row // from an element of w to that of the next channel, of the next word
	if x.ByColumn {
		toWidth, toWord = x.Words*size, size
	}
	x.Logits = kernel.Matmul{M: x.Height, N: x.Words, K: x.Width, ARow: row, AK: size, BK: toWidth, BN: toWord, CRow: x.Columns * size, Kernel: gemm}
	x.DStates = kernel.Matmul{M: x.Height, N: x.Width, K: x.Columns, ARow: x.Columns * size, AK: size, BK: toWord, BN: toWidth, CRow: row, Kernel: gemm}
	x.DWeights = kernel.Matmul{M: x.Columns, N: x.Width, K: x.Height, ARow: size, AK: x.Columns * size, BK: row, BN: size, CRow: row, Kernel: gemm}
	if x.ByColumn {
		x.DWeights = kernel.Matmul{M: x.Width, N: x.Columns, K: x.Height, ARow: size, AK: row, BK: x.Columns * size, BN: size, CRow: toWidth, Kernel: gemm}
	}
	x.DWeights.PackA = x.DWeights.PaysToPackA()
}

// crossEntropyTemps reserves temporary memory and returns its slots.
func (em *emitter) crossEntropyTemps(x *exec.CrossEntropy) []int {
	scratch := max(x.Logits.StripBytes(), x.DStates.StripBytes(), x.DWeights.StripBytes())
	x.Packed = em.temp(x.Logits.PackedBytes())
	x.Scores = em.temp(x.Blocks() * x.Height * x.Columns * x.Size)
	x.States = em.temp(x.Height * x.Width * x.Size)
	x.PackedBack, x.PackedStates, x.DBlock = -1, -1, -1
	slots := []int{x.Packed, x.Scores, x.States}
	if x.Gradient {
		x.PackedBack, x.DBlock = em.temp(x.Blocks()*x.BackBytes()), em.temp(x.Height*x.Width*x.Size)
		slots = append(slots, x.PackedBack, x.DBlock)
		if x.ByColumn {
			scratch += kernel.RoundUp(x.DWeights.PackedBytes(), exec.CacheLine)
		} else {
			x.PackedStates = em.temp(x.DWeights.PackedBytes())
			slots = append(slots, x.PackedStates)
		}
	}
	em.needScratch(scratch + 2*exec.CacheLine)
	return slots
}
