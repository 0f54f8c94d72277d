package cpu

import (
	"math"
	"unsafe"
)

// attentionAxes are the dimensions of the operands: B batch, H heads, M queries, N keys, D channels of a head.
type attentionAxes struct{ b, h, m, n, d int }

// attentionInstr is attention, or its gradient, for all batches and heads; each of them is one thread's work.
type attentionInstr struct {
	attentionAxes
	size             int
	scale            float64
	q, k, v          headView
	out              headView // forward
	dOut, dQ, dK, dV headView // gradient
	largest, inverse denseIn
	causal           bool
	mask             maskView
	kernels          *attentionKernels
	width            int // of a row of scores, in elements
	limited          bool
	addBytes         int
	scoreBytes       int
	qk, pv           matmul // forward: scores = Q K', out = P V
	dp, dv, dq, dk   matmul // gradient: dP = dO V', dV = P' dO, dQ = dS K, dK = dS' Q
	packBytes        [2]int
	backward         bool
}

// maskView is a mask broadcast to batches, heads, queries and keys. Distances in bytes.
type maskView struct {
	denseIn
	present, boolean       bool
	batch, head, row, step int
}

// headView is a tensor of attention: one matrix of positions x channels for each batch and head. Distances in bytes.
type headView struct {
	denseIn
	batch, head, row, step int // step: from channel to channel
}

func (h *headView) at(fr *frame, b, head int) unsafe.Pointer {
	return unsafe.Add(h.denseIn.at(fr), b*h.batch+head*h.head)
}

func (x *attentionInstr) run(fr *frame) { fr.do(x) }

// attentionPart is the state of one thread.
type attentionPart struct {
	*attentionInstr
	fr              *frame
	gemm            *gemmCall
	call            *attentionCall
	add             unsafe.Pointer
	addOf           unsafe.Pointer // the mask that add was made of
	scores, dScores unsafe.Pointer
	packs           [2]unsafe.Pointer
	b, head         int
}

func (x *attentionInstr) part(fr *frame, part, parts int) {
	lo, hi := split(x.b*x.h, part, parts)
	x.runHeads(fr, part, lo, hi)
}

// runHeads computes heads lo to hi, counted through all batches.
func (x *attentionInstr) runHeads(fr *frame, part, lo, hi int) {
	if lo == hi {
		return
	}
	p := attentionPart{attentionInstr: x, fr: fr, gemm: &fr.calls[part].gemmCall, call: &fr.calls[part].attentionCall, add: fr.scratch[part]}
	p.scores = unsafe.Add(p.add, x.addBytes)
	matrices := 1
	if x.backward {
		p.dScores = unsafe.Add(p.scores, x.scoreBytes)
		matrices = 2
	}
	p.packs[0] = unsafe.Add(p.scores, matrices*x.scoreBytes)
	p.packs[1] = unsafe.Add(p.packs[0], x.packBytes[0])
	clear(execSlice[byte](p.scores, matrices*x.scoreBytes))
	for i := lo; i < hi; i++ {
		p.b, p.head = i/x.h, i%x.h
		p.makeAdd()
		if x.backward {
			p.backwardHead()
		} else {
			p.forwardHead()
		}
	}
}

// makeAdd writes what is added to the scores: 0 where a key is visible, -inf where not and behind the keys. Causal
// attention has one row of zeros followed by one of -inf; query i starts i+1 before the end of the zeros.
func (p *attentionPart) makeAdd() {
	var from unsafe.Pointer
	if p.mask.present {
		from = unsafe.Add(p.mask.at(p.fr), p.b*p.mask.batch+p.head*p.mask.head)
	} else {
		from = unsafe.Pointer(p)
	}
	if from == p.addOf {
		return
	}
	p.addOf = from
	if p.size == 4 {
		fillAdd[float32](p, from)
	} else {
		fillAdd[float64](p, from)
	}
}

func fillAdd[T float](p *attentionPart, from unsafe.Pointer) {
	hidden := T(math.Inf(-1))
	add := execSlice[T](p.add, p.addBytes/p.size)
	if p.causal {
		clear(add[:p.width])
		for i := p.width; i < 2*p.width; i++ {
			add[i] = hidden
		}
		return
	}
	rows := 1
	if p.mask.row != 0 {
		rows = p.m
	}
	for r := range rows {
		row := add[r*p.width : (r+1)*p.width]
		for j := range row {
			switch {
			case j >= p.n:
				row[j] = hidden
			case !p.mask.present:
				row[j] = 0
			case !p.mask.boolean:
				row[j] = *(*T)(unsafe.Add(from, r*p.mask.row+j*p.mask.step))
			case *(*bool)(unsafe.Add(from, r*p.mask.row+j*p.mask.step)):
				row[j] = 0
			default:
				row[j] = hidden
			}
		}
	}
}

// strips calls f for each strip of queries r0 to r1 with the number of keys that the strip sees.
func (p *attentionPart) strips(f func(r0, r1, keys int)) {
	if !p.limited {
		f(0, p.m, p.n)
		return
	}
	mr := p.qk.kernel.mr
	for r0 := 0; r0 < p.m; r0 += mr {
		r1 := min(r0+mr, p.m)
		f(r0, r1, min(r1, p.n))
	}
}

// packed makes the right operand of a product ready in one of the two packing areas.
func (p *attentionPart) packed(g *matmul, b unsafe.Pointer, area int) unsafe.Pointer {
	if g.direct {
		return b
	}
	g.pack(p.packs[area], b, 0, g.panels())
	return p.packs[area]
}

// rows sets up a kernel call for queries r0 to r1.
func (p *attentionPart) rows(r0, r1, keys int) *attentionCall {
	c := p.call
	row := p.width * p.size
	state := ((p.b*p.h+p.head)*p.m + r0) * p.size
	c.scores = unsafe.Add(p.scores, r0*row)
	if p.backward {
		c.dScores = unsafe.Add(p.dScores, r0*row)
	}
	c.largest, c.inverse = unsafe.Add(p.largest.at(p.fr), state), unsafe.Add(p.inverse.at(p.fr), state)
	c.rows, c.width, c.rowBytes, c.scale = r1-r0, roundUp(keys, p.kernels.lanes), row, p.scale
	switch {
	case p.causal:
		c.add, c.addRow = unsafe.Add(p.add, (p.width-r0-1)*p.size), -p.size
	case p.mask.row != 0:
		c.add, c.addRow = unsafe.Add(p.add, r0*row), row
	default:
		c.add, c.addRow = p.add, 0
	}
	return c
}

func (p *attentionPart) forwardHead() {
	q, out := p.q.at(p.fr, p.b, p.head), p.out.at(p.fr, p.b, p.head)
	k := p.packed(&p.qk, p.k.at(p.fr, p.b, p.head), 0)
	v := p.packed(&p.pv, p.v.at(p.fr, p.b, p.head), 1)
	nr := p.qk.kernel.nr
	p.strips(func(r0, r1, keys int) {
		p.qk.multiply(p.gemm, q, k, p.scores, nil, area{r0, r1, 0, (keys + nr - 1) / nr, 0, p.d}, false)
		p.kernels.softmax(p.rows(r0, r1, keys))
		p.pv.multiply(p.gemm, p.scores, v, out, nil, area{r0, r1, 0, p.pv.panels(), 0, keys}, false)
	})
}

func (p *attentionPart) backwardHead() {
	q, k, v := p.q.at(p.fr, p.b, p.head), p.k.at(p.fr, p.b, p.head), p.v.at(p.fr, p.b, p.head)
	dOut := p.dOut.at(p.fr, p.b, p.head)
	nr := p.qk.kernel.nr
	keysT := p.packed(&p.qk, k, 0)
	p.strips(func(r0, r1, keys int) {
		p.qk.multiply(p.gemm, q, keysT, p.scores, nil, area{r0, r1, 0, (keys + nr - 1) / nr, 0, p.d}, false)
	})
	valuesT := p.packed(&p.dp, v, 0)
	p.strips(func(r0, r1, keys int) {
		p.dp.multiply(p.gemm, dOut, valuesT, p.dScores, nil, area{r0, r1, 0, (keys + nr - 1) / nr, 0, p.d}, false)
		p.kernels.gradient(p.rows(r0, r1, keys))
	})
	keys := p.packed(&p.dq, k, 1)
	p.strips(func(r0, r1, n int) {
		p.dq.multiply(p.gemm, p.dScores, keys, p.dQ.at(p.fr, p.b, p.head), nil, area{r0, r1, 0, p.dq.panels(), 0, n}, false)
	})
	p.overQueries(&p.dv, p.scores, dOut, p.dV.at(p.fr, p.b, p.head))
	p.overQueries(&p.dk, p.dScores, q, p.dK.at(p.fr, p.b, p.head))
}

// overQueries multiplies a transposed matrix of scores: sums over queries, which causality lets begin at the key.
func (p *attentionPart) overQueries(g *matmul, scores, right, out unsafe.Pointer) {
	b := p.packed(g, right, 1)
	if !p.limited {
		g.multiply(p.gemm, scores, b, out, nil, g.all(), false)
		return
	}
	mr := g.kernel.mr
	for r0 := 0; r0 < g.m; r0 += mr {
		g.multiply(p.gemm, scores, b, out, nil, area{r0, min(r0+mr, g.m), 0, g.panels(), r0, g.k}, false)
	}
}
