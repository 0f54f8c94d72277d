package compile

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

func (em *emitter) headView(x *graph.Expr, layout compute.AttentionAxesLayout) exec.HeadView {
	size := x.DType.Size()
	s := x.View.Strides
	return exec.HeadView{Operand: exec.Operand{Slot: em.slotOf(x.View.Base), Offset: x.View.Offset * size}, Batch: s[0] * size, Head: s[layout.HeadsAxis()] * size, Row: s[layout.SeqAxis()] * size, Step: s[3] * size}
}

// lowerAttention emits one half of attention.
func (em *emitter) lowerAttention(e *graph.Expr) {
	x, dtype := em.attentionOperands(e), e.Operands[0].DType
	if x.M >= blockedQueries && x.N >= blockedKeys {
		em.emitBlocks(&exec.BlockAttention{AttentionOperands: x}, dtype)
		return
	}
	a := &exec.Attention{AttentionOperands: x}
	planAttention(a, em.kernels().Gemm[dtype])
	matrices := 1
	if x.Backward {
		matrices = 2
	}
	em.needScratch(a.AddBytes + matrices*a.ScoreBytes + a.PackBytes[0] + a.PackBytes[1])
	em.emitAccess(a, em.attentionAccesses(&x))
}

// attentionOperands returns the operands and results of one half of attention.
func (em *emitter) attentionOperands(e *graph.Expr) (x exec.AttentionOperands) {
	attr := e.Attr.(*ir.AttentionAttr)
	in, layout := e.Operands, attr.Layout
	x = exec.AttentionOperands{Scale: attr.Scale, Causal: attr.Causal, Size: in[0].DType.Size(), Kernels: em.kernels().Attention[in[0].DType],
		Backward: e.Op == compute.OpTypeFusedScaledDotProductAttentionVJP}
	x.AttentionAxes = exec.AttentionAxes{B: in[0].Dims[0], H: in[0].Dims[layout.HeadsAxis()], M: in[0].Dims[layout.SeqAxis()],
		N: in[1].Dims[layout.SeqAxis()], D: in[0].Dims[3]}
	x.Q, x.K, x.V = em.headView(in[0], layout), em.headView(in[1], layout), em.headView(in[2], layout)
	in = in[3:]
	if attr.HasMask {
		x.Mask = em.maskView(in[0], layout)
		in = in[1:]
	}
	if x.Backward {
		x.Largest, x.Inverse = em.operand(in[0]), em.operand(in[1])
		x.DOut, x.Out = em.headView(in[2], layout), em.headView(in[3], layout)
		x.DQ, x.DK, x.DV = em.headView(e.Outputs[0], layout), em.headView(e.Outputs[1], layout), em.headView(e.Outputs[2], layout)
	} else {
		x.Out = em.headView(e.Outputs[0], layout)
		x.Largest, x.Inverse = em.operand(e.Outputs[1]), em.operand(e.Outputs[2])
	}
	return x
}

// attentionAccesses returns the operands and results of Attention. Those of which each batch has its own share are aligned.
func (em *emitter) attentionAccesses(x *exec.AttentionOperands) []access {
	var list []access
	add := func(h *exec.HeadView) {
		whole := h.Offset == 0 && h.Batch*x.B == em.prog.Slots[h.Slot].Bytes && h.Batch > 0
		list = append(list, access{h.Slot, whole})
	}
	state := func(d exec.Operand) {
		list = append(list, access{d.Slot, d.Offset == 0 && em.prog.Slots[d.Slot].Bytes == x.B*x.H*x.M*x.Size})
	}
	add(&x.Q)
	add(&x.K)
	add(&x.V)
	if x.Backward {
		add(&x.DOut)
		add(&x.DQ)
		add(&x.DK)
		add(&x.DV)
	} else {
		add(&x.Out)
	}
	state(x.Largest)
	state(x.Inverse)
	if x.Mask.Present {
		list = append(list, access{slot: x.Mask.Slot})
	}
	return list
}

func (em *emitter) maskView(m *graph.Expr, layout compute.AttentionAxesLayout) exec.MaskView {
	size := m.DType.Size()
	v := exec.MaskView{Operand: exec.Operand{Slot: em.slotOf(m.View.Base), Offset: m.View.Offset * size}, Present: true, Boolean: m.DType == dtypes.Bool}
	s := make([]int, 4)
	for i, d := range m.Dims {
		if d > 1 {
			s[4-len(m.Dims)+i] = m.View.Strides[i] * size
		}
	}
	v.Batch, v.Head, v.Row, v.Step = s[0], s[1], s[2], s[3]
	if layout == compute.AttentionAxesLayoutBSHD && len(m.Dims) == 4 {
		v.Row, v.Head = s[1], s[2]
	}
	return v
}

// planAttention determines the products. Operands that are read directly must consist of whole vectors.
func planAttention(x *exec.Attention, gemm *kernel.Gemm) {
	x.Width = kernel.RoundUp(x.N, gemm.NR)
	row := x.Width * x.Size
	x.ScoreBytes = kernel.RoundUp(kernel.RoundUp(x.M, gemm.MR)*row, exec.CacheLine)
	multiply := func(m, n, k, aRow, aK, bK, bN, cRow int) kernel.Matmul {
		g := kernel.Matmul{M: m, N: n, K: k, ARow: aRow, AK: aK, BK: bK, BN: bN, CRow: cRow, Kernel: gemm}
		g.ReadWhole()
		return g
	}
	x.ProductQK = multiply(x.M, x.N, x.D, x.Q.Row, x.Size, x.K.Step, x.K.Row, row)
	if x.Backward {
		x.ProductDP = multiply(x.M, x.N, x.D, x.DOut.Row, x.Size, x.Size, x.V.Row, row)
		x.ProductDV = multiply(x.N, x.D, x.M, x.Size, row, x.DOut.Row, x.Size, x.DV.Row)
		x.ProductDQ = multiply(x.M, x.D, x.N, row, x.Size, x.K.Row, x.Size, x.DQ.Row)
		x.ProductDK = multiply(x.N, x.D, x.M, x.Size, row, x.Q.Row, x.Size, x.DK.Row)
		x.PackBytes[0] = kernel.RoundUp(max(x.ProductQK.PackedBytes(), x.ProductDP.PackedBytes()), exec.CacheLine)
		x.PackBytes[1] = kernel.RoundUp(max(x.ProductDV.PackedBytes(), x.ProductDQ.PackedBytes(), x.ProductDK.PackedBytes()), exec.CacheLine)
		x.Limited = x.Causal && x.ProductDV.Direct() && x.ProductDK.Direct()
	} else {
		if x.ProductQK.CanDot() { // as for PV below
			x.ProductQK.Reading = kernel.Dots
		}
		x.ProductPV = multiply(x.M, x.D, x.N, row, x.Size, x.V.Row, x.Size, x.Out.Row)
		x.ProductPV.SplitK = true // with one query, each head and batch is a separate product without other rows
		x.PackBytes[0] = kernel.RoundUp(x.ProductQK.PackedBytes(), exec.CacheLine)
		x.PackBytes[1] = kernel.RoundUp(x.ProductPV.PackedBytes(), exec.CacheLine)
		x.Limited = x.Causal
	}
	switch {
	case x.Causal:
		x.AddBytes = 2 * row
	case x.Mask.Row != 0:
		x.AddBytes = x.M * row
	default:
		x.AddBytes = row
	}
	x.AddBytes = kernel.RoundUp(x.AddBytes, exec.CacheLine)
}
