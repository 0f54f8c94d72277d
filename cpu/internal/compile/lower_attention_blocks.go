package compile

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
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

// emitBlocks emits attention in blocks of the given operands, and of the given slots beside them.
func (em *emitter) emitBlocks(x *exec.BlockAttention, dtype dtypes.DType, more ...int) {
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
	em.emit(x, append(slots, more...)...)
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
		g.Direct = g.CanReadDirectly()
		return g
	}
	x.ProductQK = product(x.M, x.N, x.D, x.Q.Row, size, x.K.Step, x.K.Row, row)
	x.Packed[0] = x.ProductQK.PackedBytes()
	if !x.Backward {
		x.ProductPV = direct(product(x.Height, x.D, x.Columns, row, size, x.V.Row, size, x.D*size))
		x.PackedBlock = x.ProductPV.PackedBytes()
		return
	}
	x.ProductDP = product(x.M, x.N, x.D, x.DOut.Row, size, size, x.V.Row, row)
	x.Packed[1] = x.ProductDP.PackedBytes()
	x.ProductDQ = direct(product(x.Height, x.D, x.Columns, row, size, x.K.Row, size, x.DQ.Row))
	x.ProductDV = direct(product(x.Columns, x.D, x.Height, size, row, x.DOut.Row, size, x.DV.Row))
	x.ProductDK = direct(product(x.Columns, x.D, x.Height, size, row, x.Q.Row, size, x.DK.Row))
	x.PackedBlock = x.ProductDQ.PackedBytes()
	x.PackedQueries = max(x.ProductDV.PackedBytes(), x.ProductDK.PackedBytes())
}
