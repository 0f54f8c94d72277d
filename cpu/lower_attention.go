package cpu

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

func (em *emitter) headView(x *expr, layout compute.AttentionAxesLayout) headView {
	size := x.dtype.Size()
	s := x.view.strides
	return headView{denseIn{em.slotOf(x.view.base), x.view.offset * size}, s[0] * size, s[layout.HeadsAxis()] * size, s[layout.SeqAxis()] * size, s[3] * size}
}

// lowerAttention emits one half of attention.
func (em *emitter) lowerAttention(e *expr) {
	attr := e.attr.(*attentionAttr)
	in := e.in
	x := &attentionInstr{scale: attr.scale, causal: attr.causal, size: in[0].dtype.Size(), kernels: em.kernels().attention[in[0].dtype],
		backward: e.op == compute.OpTypeFusedScaledDotProductAttentionVJP}
	x.attentionAxes = attentionAxes{in[0].dims[0], in[0].dims[attr.layout.HeadsAxis()], in[0].dims[attr.layout.SeqAxis()],
		in[1].dims[attr.layout.SeqAxis()], in[0].dims[3]}
	x.q, x.k, x.v = em.headView(in[0], attr.layout), em.headView(in[1], attr.layout), em.headView(in[2], attr.layout)
	in = in[3:]
	if attr.hasMask {
		x.mask = em.maskView(in[0], attr.layout)
		in = in[1:]
	}
	if x.backward {
		x.largest, x.inverse = em.denseIn(in[0]), em.denseIn(in[1])
		x.dOut = em.headView(in[2], attr.layout)
		x.dQ, x.dK, x.dV = em.headView(e.outs[0], attr.layout), em.headView(e.outs[1], attr.layout), em.headView(e.outs[2], attr.layout)
	} else {
		x.out = em.headView(e.outs[0], attr.layout)
		x.largest, x.inverse = em.denseIn(e.outs[1]), em.denseIn(e.outs[2])
	}
	planAttention(x, em.kernels().gemm[e.in[0].dtype])
	matrices := 1
	if x.backward {
		matrices = 2
	}
	em.needScratch(x.addBytes + matrices*x.scoreBytes + x.packBytes[0] + x.packBytes[1])
	em.emitAccess(x, em.attentionAccesses(x))
}

// attentionAccesses are the operands and results; aligned are those of which each batch has its own share.
func (em *emitter) attentionAccesses(x *attentionInstr) []access {
	var list []access
	add := func(h *headView) {
		whole := h.offset == 0 && h.batch*x.b == em.prog.slots[h.slot].bytes && h.batch > 0
		list = append(list, access{h.slot, whole})
	}
	state := func(d denseIn) {
		list = append(list, access{d.slot, d.offset == 0 && em.prog.slots[d.slot].bytes == x.b*x.h*x.m*x.size})
	}
	add(&x.q)
	add(&x.k)
	add(&x.v)
	if x.backward {
		add(&x.dOut)
		add(&x.dQ)
		add(&x.dK)
		add(&x.dV)
	} else {
		add(&x.out)
	}
	state(x.largest)
	state(x.inverse)
	if x.mask.present {
		list = append(list, access{slot: x.mask.slot})
	}
	return list
}

func (em *emitter) maskView(m *expr, layout compute.AttentionAxesLayout) maskView {
	size := m.dtype.Size()
	v := maskView{denseIn: denseIn{em.slotOf(m.view.base), m.view.offset * size}, present: true, boolean: m.dtype == dtypes.Bool}
	s := make([]int, 4)
	for i, d := range m.dims {
		if d > 1 {
			s[4-len(m.dims)+i] = m.view.strides[i] * size
		}
	}
	v.batch, v.head, v.row, v.step = s[0], s[1], s[2], s[3]
	if layout == compute.AttentionAxesLayoutBSHD && len(m.dims) == 4 {
		v.row, v.head = s[1], s[2]
	}
	return v
}

// planAttention sets up the products; the operands that are read directly must consist of whole vectors.
func planAttention(x *attentionInstr, gemm *gemmKernel) {
	x.width = roundUp(x.n, gemm.nr)
	row := x.width * x.size
	x.scoreBytes = roundUp(roundUp(x.m, gemm.mr)*row, cacheLine)
	multiply := func(m, n, k, aRow, aK, bK, bN, cRow int) matmul {
		g := matmul{m: m, n: n, k: k, aRow: aRow, aK: aK, bK: bK, bN: bN, cRow: cRow, kernel: gemm}
		g.direct = g.canReadDirectly()
		return g
	}
	x.qk = multiply(x.m, x.n, x.d, x.q.row, x.size, x.k.step, x.k.row, row)
	if x.backward {
		x.dp = multiply(x.m, x.n, x.d, x.dOut.row, x.size, x.size, x.v.row, row)
		x.dv = multiply(x.n, x.d, x.m, x.size, row, x.dOut.row, x.size, x.dV.row)
		x.dq = multiply(x.m, x.d, x.n, row, x.size, x.k.row, x.size, x.dQ.row)
		x.dk = multiply(x.n, x.d, x.m, x.size, row, x.q.row, x.size, x.dK.row)
		x.packBytes[0] = roundUp(max(x.qk.packedBytes(), x.dp.packedBytes()), cacheLine)
		x.packBytes[1] = roundUp(max(x.dv.packedBytes(), x.dq.packedBytes(), x.dk.packedBytes()), cacheLine)
		x.limited = x.causal && x.dv.direct && x.dk.direct
	} else {
		x.pv = multiply(x.m, x.d, x.n, row, x.size, x.v.row, x.size, x.out.row)
		x.pv.splitK = true // with one query, each head and batch is a product of its own: none has other rows
		x.packBytes[0] = roundUp(x.qk.packedBytes(), cacheLine)
		x.packBytes[1] = roundUp(x.pv.packedBytes(), cacheLine)
		x.limited = x.causal
	}
	switch {
	case x.causal:
		x.addBytes = 2 * row
	case x.mask.row != 0:
		x.addBytes = x.m * row
	default:
		x.addBytes = row
	}
	x.addBytes = roundUp(x.addBytes, cacheLine)
}
