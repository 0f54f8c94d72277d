package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// AttentionAxes are the dimensions of the operands: B batch, H heads, M queries, N keys, D channels of a head.
type AttentionAxes struct{ B, H, M, N, D int }

// AttentionOperands are the operands and results of attention, or of its gradient, for all batches and heads.
type AttentionOperands struct {
	AttentionAxes
	Size             int // of an element
	Scale            float64
	Q, K, V, Out     HeadView
	DOut, DQ, DK, DV HeadView // gradient
	Largest, Inverse Operand  // [B, H, M], of the softmax
	Causal           bool
	Mask             MaskView
	Kernels          *kernel.Attention
	Backward         bool
}

// AttentionProducts are the matrix products of a head.
type AttentionProducts struct {
	ProductQK, ProductPV                       kernel.Matmul // scores = Q K', out = P V
	ProductDP, ProductDV, ProductDQ, ProductDK kernel.Matmul // gradient: dP = dO V', dV = P' dO, dQ = dS K, dK = dS' Q
}

// Attention is attention, or its gradient, with all scores of a head at once. Each head is computed by one thread.
type Attention struct {
	AttentionOperands
	AttentionProducts
	Width      int  // of a row of scores, in elements
	Limited    bool // a strip of queries computes only the keys that causality lets it see
	AddBytes   int
	ScoreBytes int
	PackBytes  [2]int
}

// A MaskView is a mask broadcast to batches, heads, queries and keys. Distances are in bytes.
type MaskView struct {
	Operand
	Present, Boolean       bool
	Last                   bool // elements are int32, the last visible key of each query; only of BlockAttention
	Batch, Head, Row, Step int
}

func (v *MaskView) at(fr *frame, b, head int) unsafe.Pointer {
	return unsafe.Add(v.Operand.at(fr), b*v.Batch+head*v.Head)
}

// A HeadView is a tensor of attention: one matrix of positions x channels for each batch and head. Distances are in bytes.
type HeadView struct {
	Operand
	Batch, Head, Row, Step int // step: from channel to channel
}

func (h *HeadView) at(fr *frame, b, head int) unsafe.Pointer {
	return unsafe.Add(h.Operand.at(fr), b*h.Batch+head*h.Head)
}

func (x *Attention) run(fr *frame) { fr.do(x, fr.prog.Machine.Parts()) }

// attentionPart is the state of one thread.
type attentionPart struct {
	*Attention
	fr              *frame
	gemm            *kernel.GemmCall
	call            *kernel.AttentionCall
	add             unsafe.Pointer
	addOf           unsafe.Pointer // the mask that add was computed from
	scores, dScores unsafe.Pointer
	packs           [2]unsafe.Pointer
	b, head         int
	keys            int  // keys from here on are hidden from all queries
	more            bool // another head follows
}

func (x *Attention) part(fr *frame, mine share) {
	lo, hi := mine.of(x.B * x.H)
	x.runHeads(fr, mine, lo, hi)
}

// runHeads computes heads lo to hi, counted through all batches.
func (x *Attention) runHeads(fr *frame, mine share, lo, hi int) {
	if lo == hi {
		return
	}
	p := attentionPart{Attention: x, fr: fr, gemm: &fr.calls[mine.thread].GemmCall, call: &fr.calls[mine.thread].AttentionCall, add: fr.scratch[mine.thread]}
	p.scores = unsafe.Add(p.add, x.AddBytes)
	matrices := 1
	if x.Backward {
		p.dScores = unsafe.Add(p.scores, x.ScoreBytes)
		matrices = 2
	}
	p.packs[0] = unsafe.Add(p.scores, matrices*x.ScoreBytes)
	p.packs[1] = unsafe.Add(p.packs[0], x.PackBytes[0])
	clear(slice[byte](p.scores, matrices*x.ScoreBytes))
	p.keys = x.N
	for i := lo; i < hi; i++ {
		p.b, p.head = i/x.H, i%x.H
		p.makeAdd()
		p.more = i+1 < hi
		if x.Backward {
			p.backwardHead()
		} else {
			p.forwardHead()
		}
	}
}

// makeAdd writes the summand of the scores: 0 if a key is visible, -inf if it is not, and after the keys. Causal attention has one
// row of zeros followed by one of -inf; query i starts i+1 before the end of the zeros.
func (p *attentionPart) makeAdd() {
	var from unsafe.Pointer
	if p.Mask.Present {
		from = p.Mask.at(p.fr, p.b, p.head)
	} else {
		from = unsafe.Pointer(p)
	}
	if from == p.addOf {
		return
	}
	p.addOf = from
	if p.Size == 4 {
		fillAdd[float32](p, from)
	} else {
		fillAdd[float64](p, from)
	}
}

// prefetchNext asks for the first page of the visible keys or values of the next head, which come from beyond the second cache if there are
// many rows. The processor follows reads in order by itself.
func (p *attentionPart) prefetchNext(v *HeadView) {
	bytes := (p.keys-1)*v.Row + (p.D-1)*v.Step + p.Size
	if p.more && bytes < 2*p.keys*p.D*p.Size { // one after the other
		next := p.b*p.H + p.head + 1
		kernel.Prefetch(v.at(p.fr, next/p.H, next%p.H), min(bytes, 4<<10))
	}
}

func fillAdd[T kernel.Float](p *attentionPart, from unsafe.Pointer) {
	hidden := T(negativeInfinity)
	add := slice[T](p.add, p.AddBytes/p.Size)
	if p.Causal {
		clear(add[:p.Width])
		for i := p.Width; i < 2*p.Width; i++ {
			add[i] = hidden
		}
		return
	}
	rows := 1
	if p.Mask.Row != 0 {
		rows = p.M
	}
	for r := range rows {
		maskRow(&p.Mask, add[r*p.Width:(r+1)*p.Width], unsafe.Add(from, r*p.Mask.Row), p.N)
	}
	if p.Mask.Row == 0 && !p.Backward {
		p.keys = visibleKeys(add[:p.N])
	}
}

// visibleKeys returns the number of keys up to the last visible one; with none, all of them. It is a multiple of the number of partial sums
// of a product, so that every term stays in its sum.
func visibleKeys[T kernel.Float](add []T) int {
	for j := len(add); j > 0; j-- {
		if add[j-1] != T(negativeInfinity) {
			return min(kernel.RoundUp(j, kernel.PartialSums), len(add))
		}
	}
	return len(add)
}

// maskRow writes the summands of the scores of one query and n keys, and -inf after them.
func maskRow[T kernel.Float](mask *MaskView, row []T, from unsafe.Pointer, n int) {
	hidden := T(negativeInfinity)
	for j := range row {
		switch {
		case j >= n:
			row[j] = hidden
		case !mask.Present:
			row[j] = 0
		case !mask.Boolean:
			row[j] = *(*T)(unsafe.Add(from, j*mask.Step))
		case *(*bool)(unsafe.Add(from, j*mask.Step)):
			row[j] = 0
		default:
			row[j] = hidden
		}
	}
}

// strips calls f for each strip of queries r0 to r1 with the number of keys that the strip sees.
func (p *attentionPart) strips(f func(r0, r1, keys int)) {
	if !p.Limited {
		f(0, p.M, p.keys)
		return
	}
	mr := p.ProductQK.Kernel.MR
	for r0 := 0; r0 < p.M; r0 += mr {
		r1 := min(r0+mr, p.M)
		f(r0, r1, min(r1, p.N))
	}
}

// packed returns the right operand of a product, packed into one of the two packing areas if necessary.
func (p *attentionPart) packed(g *kernel.Matmul, b unsafe.Pointer, area int) unsafe.Pointer {
	if g.Direct() {
		return b
	}
	g.Pack(p.packs[area], b, 0, g.Panels())
	return p.packs[area]
}

// rows returns a kernel call for queries r0 to r1.
func (p *attentionPart) rows(r0, r1, keys int) *kernel.AttentionCall {
	c := p.call
	row := p.Width * p.Size
	state := ((p.b*p.H+p.head)*p.M + r0) * p.Size
	c.Scores = unsafe.Add(p.scores, r0*row)
	if p.Backward {
		c.DScores = unsafe.Add(p.dScores, r0*row)
	}
	c.Largest, c.Inverse = unsafe.Add(p.Largest.at(p.fr), state), unsafe.Add(p.Inverse.at(p.fr), state)
	c.Rows, c.Width, c.RowBytes, c.Scale = r1-r0, kernel.RoundUp(keys, p.Kernels.Lanes), row, p.Scale
	switch {
	case p.Causal:
		c.Add, c.AddRow = unsafe.Add(p.add, (p.Width-r0-1)*p.Size), -p.Size
	case p.Mask.Row != 0:
		c.Add, c.AddRow = unsafe.Add(p.add, r0*row), row
	default:
		c.Add, c.AddRow = p.add, 0
	}
	return c
}

func (p *attentionPart) forwardHead() {
	q, out := p.Q.at(p.fr, p.b, p.head), p.Out.at(p.fr, p.b, p.head)
	k := p.packed(&p.ProductQK, p.K.at(p.fr, p.b, p.head), 0)
	v := p.packed(&p.ProductPV, p.V.at(p.fr, p.b, p.head), 1)
	nr := p.ProductQK.Kernel.NR
	p.prefetchNext(&p.K)
	p.strips(func(r0, r1, keys int) {
		if p.ProductQK.Reading == kernel.Dots {
			p.dots(q, k, keys)
		} else {
			p.ProductQK.Multiply(p.gemm, q, k, p.scores, nil, kernel.Area{R0: r0, R1: r1, P0: 0, P1: (keys + nr - 1) / nr, K0: 0, K1: p.D}, false)
		}
		p.Kernels.Softmax(p.rows(r0, r1, keys))
		if r0 == 0 {
			p.prefetchNext(&p.V) // not at once: too many requests block what is computed meanwhile
		}
		p.ProductPV.Multiply(p.gemm, p.scores, v, out, nil, kernel.Area{R0: r0, R1: r1, P0: 0, P1: p.ProductPV.Panels(), K0: 0, K1: keys}, false)
	})
}

// dots computes the scores of a single query. Behind them, up to whole vectors, are weights of an earlier row, which are finite and hidden.
func (p *attentionPart) dots(q, k unsafe.Pointer, keys int) {
	g := p.ProductQK
	g.N = kernel.RoundUp(keys, kernel.DotsColumns)
	g.Multiply(p.gemm, q, k, p.scores, nil, g.All(), false)
}

func (p *attentionPart) backwardHead() {
	q, k, v := p.Q.at(p.fr, p.b, p.head), p.K.at(p.fr, p.b, p.head), p.V.at(p.fr, p.b, p.head)
	dOut := p.DOut.at(p.fr, p.b, p.head)
	nr := p.ProductQK.Kernel.NR
	keysT := p.packed(&p.ProductQK, k, 0)
	p.strips(func(r0, r1, keys int) {
		p.ProductQK.Multiply(p.gemm, q, keysT, p.scores, nil, kernel.Area{R0: r0, R1: r1, P0: 0, P1: (keys + nr - 1) / nr, K0: 0, K1: p.D}, false)
	})
	valuesT := p.packed(&p.ProductDP, v, 0)
	p.strips(func(r0, r1, keys int) {
		p.ProductDP.Multiply(p.gemm, dOut, valuesT, p.dScores, nil, kernel.Area{R0: r0, R1: r1, P0: 0, P1: (keys + nr - 1) / nr, K0: 0, K1: p.D}, false)
		p.Kernels.Gradient(p.rows(r0, r1, keys))
	})
	keys := p.packed(&p.ProductDQ, k, 1)
	p.strips(func(r0, r1, n int) {
		p.ProductDQ.Multiply(p.gemm, p.dScores, keys, p.DQ.at(p.fr, p.b, p.head), nil, kernel.Area{R0: r0, R1: r1, P0: 0, P1: p.ProductDQ.Panels(), K0: 0, K1: n}, false)
	})
	p.overQueries(&p.ProductDV, p.scores, dOut, p.DV.at(p.fr, p.b, p.head))
	p.overQueries(&p.ProductDK, p.dScores, q, p.DK.at(p.fr, p.b, p.head))
}

// overQueries multiplies a transposed matrix of scores: sums over queries, which start at the key with causality.
func (p *attentionPart) overQueries(g *kernel.Matmul, scores, right, out unsafe.Pointer) {
	b := p.packed(g, right, 1)
	if !p.Limited {
		g.Multiply(p.gemm, scores, b, out, nil, g.All(), false)
		return
	}
	mr := g.Kernel.MR
	for r0 := 0; r0 < g.M; r0 += mr {
		g.Multiply(p.gemm, scores, b, out, nil, kernel.Area{R0: r0, R1: min(r0+mr, g.M), P0: 0, P1: g.Panels(), K0: r0, K1: g.K}, false)
	}
}
