package compile

import (
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// Attention is computed in blocks from these numbers of queries and keys on. Fewer scores fit into the caches as a whole.
const (
	blockedQueries = 64
	blockedKeys    = 513
)

// Dimensions of a block of scores (docs/log.md, 2026-11-26).
const (
	attentionHeight  = 48
	attentionColumns = 512
)

// emitBlocks emits attention in blocks of the given operands.
func (em *emitter) emitBlocks(x *exec.BlockAttention, dtype dtypes.DType) {
	planBlocks(x, em.kernels().Gemm[dtype])
	set, key := em.kernels(), kernel.Key{Op: compute.OpTypeMul, DType: dtype}
	x.Multiply, x.MultiplyRow = set.Elementwise[key], set.RowRight[key]
	x.RowSum = set.Reduce[kernel.Key{Op: compute.OpTypeAdd, DType: dtype}]
	em.needScratch(x.ScratchBytes())
	slots := []int{x.Q.Slot, x.K.Slot, x.V.Slot, x.Out.Slot, x.Largest.Slot, x.Inverse.Slot}
	if x.Backward {
		slots = append(slots, x.DOut.Slot, x.DQ.Slot, x.DK.Slot, x.DV.Slot)
	}
	if x.Mask.Present {
		slots = append(slots, x.Mask.Slot)
	}
	if d := x.Dropout; d != nil {
		slots = append(slots, d.Rows.Slot, d.Columns.Slot, d.Numbers.Slot)
	}
	em.emit(x, slots...)
}

// planBlocks determines the dimensions of a block and the products.
func planBlocks(x *exec.BlockAttention, gemm *kernel.Gemm) {
	x.Height = min(attentionHeight, x.M)
	x.Columns = kernel.RoundUp(attentionColumns, max(x.Kernels.BlockLanes, gemm.NR))
	x.Stride = x.Columns + exec.CacheLine/x.Size // so that a column does not fall into few sets of the cache
	size, row := x.Size, x.Stride*x.Size
	product := func(m, n, k, aRow, aK, bK, bN, cRow int) kernel.Matmul {
		return kernel.Matmul{M: m, N: n, K: k, ARow: aRow, AK: aK, BK: bK, BN: bN, CRow: cRow, Kernel: gemm}
	}
	direct := func(g kernel.Matmul) kernel.Matmul {
		g.ReadWhole()
		return g
	}
	copied := func(g kernel.Matmul) (_ kernel.Matmul, block int) { // its right operand is rows of keys or values, copied or packed
		if g = direct(g); g.Direct() {
			g.BK = x.D * size
			return g, x.Columns * g.BK
		}
		return g, g.PackedBytes()
	}
	x.ProductQK = product(x.M, x.N, x.D, x.Q.Row, size, x.K.Step, x.K.Row, row)
	x.Packed[0] = x.ProductQK.PackedBytes()
	if !x.Backward {
		x.ProductPV, x.PackedBlock = copied(product(x.Height, x.D, x.Columns, row, size, x.V.Row, size, x.D*size))
		return
	}
	x.ProductDP = product(x.M, x.N, x.D, x.DOut.Row, size, size, x.V.Row, row)
	x.Packed[1] = x.ProductDP.PackedBytes()
	x.ProductDQ, x.PackedBlock = copied(product(x.Height, x.D, x.Columns, row, size, x.K.Row, size, x.DQ.Row))
	x.ProductDV = direct(product(x.Columns, x.D, x.Height, size, row, x.DOut.Row, size, x.DV.Row))
	x.ProductDK = direct(product(x.Columns, x.D, x.Height, size, row, x.Q.Row, size, x.DK.Row))
	x.PackedQueries = max(x.ProductDV.PackedBytes(), x.ProductDK.PackedBytes())
}

// lowerBlockAttention emits attention in blocks in place of a call.
func (em *emitter) lowerBlockAttention(form ir.BlockAttention, e *graph.Expr, in []exec.Operand) {
	q, k, dtype := e.Operands[0].Dims, e.Operands[1].Dims, e.Operands[0].DType
	size := dtype.Size()
	x := &exec.BlockAttention{}
	x.Size, x.Scale, x.Causal, x.Backward, x.Kernels = size, 1/math.Sqrt(float64(q[3])), form.Causal, form.Backward, em.kernels().Attention[dtype]
	x.AttentionAxes = exec.AttentionAxes{B: q[0], H: q[2], M: q[1], N: k[1], D: q[3]}
	head := func(o exec.Operand, rows int) exec.HeadView {
		return exec.HeadView{Operand: o, Batch: rows * x.H * x.D * size, Head: x.D * size, Row: x.H * x.D * size, Step: size}
	}
	x.Q, x.K, x.V = head(in[0], x.M), head(in[1], x.N), head(in[2], x.N)
	in = in[3:]
	if form.Keys {
		x.Mask, in = exec.MaskView{Operand: in[0], Present: true, Boolean: true, Batch: x.N, Step: 1}, in[1:]
	}
	if form.Last {
		x.Mask, in = exec.MaskView{Operand: in[0], Present: true, Last: true, Batch: 4 * x.M, Row: 4}, in[1:]
	}
	if form.Dropout {
		x.Dropout, in = &exec.AttentionDropout{Rows: in[0], Columns: in[1], Numbers: in[2]}, in[3:]
	}
	out := make([]exec.Operand, len(e.Outputs))
	for i, o := range e.Outputs {
		out[i].Slot = em.slotOf(o)
	}
	if form.Backward {
		x.Out, x.Largest, x.Inverse, x.DOut = head(in[0], x.M), in[1], in[2], head(in[3], x.M)
		x.DQ, x.DK, x.DV = head(out[0], x.M), head(out[1], x.N), head(out[2], x.N)
	} else {
		x.Out, x.Largest, x.Inverse = head(out[0], x.M), out[1], out[2]
	}
	em.emitBlocks(x, dtype)
}
