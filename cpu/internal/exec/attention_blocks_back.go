package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// backwardHead computes the gradients of one head: a block of queries after the other, each with all blocks of keys that it sees. With
// weights w of dropout, P the probabilities and dot the product of a row of dO and of the result:
//
//	dP = dO V'    dS = scale P (w dP - dot)    dQ = dS K    dK = dS' Q    dV = (w P)' dO
func (p *blockPart[T]) backwardHead() {
	dk, dv := p.DK.at(p.fr, p.b, p.head), p.DV.at(p.fr, p.b, p.head)
	p.clearRows(dk, p.DK.Row, p.N)
	p.clearRows(dv, p.DV.Row, p.N)
	for r0 := 0; r0 < p.M; r0 += p.Height {
		s := p.startStrip(r0)
		if !p.eachBlock(r0, func(k block, first bool) { p.backwardBlock(k, s, dk, dv, first) }) {
			p.clearRows(s.dq, p.DQ.Row, s.n)
		}
	}
}

// clearRows sets n rows of a head to 0.
func (p *blockPart[T]) clearRows(at unsafe.Pointer, row, n int) {
	for i := range n {
		clear(slice[T](unsafe.Add(at, i*row), p.D))
	}
}

// A strip is a block of queries of the gradient: where their rows of the operands are.
type strip struct {
	n                    int
	q, dOut, dq          unsafe.Pointer
	rightQ, rightGradOut unsafe.Pointer // as right operands, packed if necessary
}

// startStrip prepares the queries from r0 on: their operands, and the products of rows of dO and of the result.
func (p *blockPart[T]) startStrip(r0 int) strip {
	s := strip{n: min(p.Height, p.M-r0), q: p.Q.at(p.fr, p.b, p.head), dOut: p.DOut.at(p.fr, p.b, p.head)}
	s.dq = unsafe.Add(p.DQ.at(p.fr, p.b, p.head), r0*p.DQ.Row)
	s.rightQ = p.packQueries(&p.ProductDK, unsafe.Add(s.q, r0*p.Q.Row), 0, s.n)
	s.rightGradOut = p.packQueries(&p.ProductDV, unsafe.Add(s.dOut, r0*p.DOut.Row), 1, s.n)
	p.summands.startStrip(r0, r0+s.n)
	out := unsafe.Add(p.Out.at(p.fr, p.b, p.head), r0*p.Out.Row)
	for r := range s.n {
		p.Multiply(unsafe.Pointer(&p.out[r*p.D]), unsafe.Add(out, r*p.Out.Row), unsafe.Add(s.dOut, (r0+r)*p.DOut.Row), nil, 1, p.D)
	}
	p.RowSum(unsafe.Pointer(&p.perRow[0]), unsafe.Pointer(&p.out[0]), nil, nil, s.n, p.D)
	return s
}

// packQueries returns the right operand of a product that sums over n queries.
func (p *blockPart[T]) packQueries(g *kernel.Matmul, right unsafe.Pointer, area, n int) unsafe.Pointer {
	if g.Direct() {
		return right
	}
	of := *g
	of.K = n
	of.Pack(p.packedQueries[area], right, 0, of.Panels())
	return p.packedQueries[area]
}

// backwardBlock adds what a block contributes to the gradients.
func (p *blockPart[T]) backwardBlock(k block, s strip, dk, dv unsafe.Pointer, first bool) {
	p.scoresOf(&p.ProductQK, s.q, p.packedKeys, p.scores, k)
	p.scoresOf(&p.ProductDP, s.dOut, p.packedValues, p.dScores, k)
	if p.Dropout != nil {
		p.makeWeights(k)
		p.weigh(p.dScores, s.n)
	}
	p.Kernels.BlockGradient(p.ofKernel(k))
	if p.Dropout != nil {
		p.weigh(p.scores, s.n)
	}
	g := p.ProductDQ
	g.M, g.K = s.n, k.c1-k.c0
	g.Multiply(p.gemm, unsafe.Pointer(&p.dScores[0]), p.ofBlock(k.c0), s.dq, nil, g.All(), !first)
	p.overQueries(p.ProductDV, p.scores, s.rightGradOut, unsafe.Add(dv, k.c0*p.DV.Row), k)
	p.overQueries(p.ProductDK, p.dScores, s.rightQ, unsafe.Add(dk, k.c0*p.DK.Row), k)
}

// overQueries adds the product of a transposed block of scores and rows of queries.
func (p *blockPart[T]) overQueries(g kernel.Matmul, scores []T, right, out unsafe.Pointer, k block) {
	g.M, g.K = k.c1-k.c0, k.r1-k.r0
	g.Multiply(p.gemm, unsafe.Pointer(&scores[0]), right, out, nil, g.All(), true)
}
