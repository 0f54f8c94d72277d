package exec

import (
	"slices"
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// BlockAttention is attention, or its gradient, in blocks of queries and keys, so that the scores of a head never exist as a whole. The
// softmax of a row has a running maximum: a block that raises it scales what earlier blocks contributed. The gradient computes the
// probabilities again from the maximum and the sum of each row.
//
// Memory grows with the number of queries and keys, not with their product. A block of the scores lies in a core's first caches. The order
// of all sums depends only on the dimensions.
type BlockAttention struct {
	AttentionOperands
	AttentionProducts // K of PV and DQ, and M of DV and DK, are keys of a block; M of PV and DQ, and K of DV and DK, queries
	Dropout           *AttentionDropout
	Height, Columns   int // queries and keys of a block; Columns is a multiple of BlockLanes
	Stride            int // elements from row to row of a block

	Multiply      kernel.Func // element by element
	MultiplyRow   kernel.Func // by one element a row; nil if there is no such kernel
	RowSum        kernel.Func
	Packed        [2]int // bytes of all keys packed for QK, and of all values for DP
	PackedBlock   int    // bytes of a block of values packed for PV, or of keys for DQ
	PackedQueries int    // bytes of a block of queries packed for DK, or of DOut for DV
}

// AttentionDropout multiplies the probabilities by weights that are computed from keys whenever they are needed: see
// kernel.Attention.Dropout.
type AttentionDropout struct {
	Rows    Operand // [B, M, 2]
	Columns Operand // [3, H, N]
	Numbers Operand // [4]
}

// Blocks returns the number of blocks of keys.
func (x *BlockAttention) Blocks() int { return (x.N + x.Columns - 1) / x.Columns }

// strips returns the number of blocks of queries.
func (x *BlockAttention) strips() int { return (x.M + x.Height - 1) / x.Height }

func (x *BlockAttention) run(fr *frame) { fr.do(x, fr.prog.Machine.Parts()) }

func (x *BlockAttention) part(fr *frame, mine share) {
	if x.Size == 4 {
		runBlockAttention[float32](x, fr, mine)
		return
	}
	runBlockAttention[float64](x, fr, mine)
}

// runBlockAttention computes the part's share of the heads and, of the forward pass, of the blocks of queries.
func runBlockAttention[T kernel.Float](x *BlockAttention, fr *frame, mine share) {
	each := x.strips()
	if x.Backward {
		each = 1
	}
	lo, hi := mine.of(x.B * x.H * each)
	if lo == hi {
		return
	}
	p := newBlockPart[T](x, fr, mine)
	for i := lo; i < hi; i++ {
		if i == lo || i%each == 0 {
			p.startHead(i / each)
		}
		if x.Backward {
			p.backwardHead()
		} else {
			p.forwardStrip(i % each * x.Height)
		}
	}
}

// blockPart is the state of one thread.
type blockPart[T kernel.Float] struct {
	*BlockAttention
	fr      *frame
	gemm    *kernel.GemmCall
	call    *kernel.AttentionCall
	b, head int

	summands                 blockMask[T]
	scores, dScores, weights []T            // blocks
	columnKeys               []T            // of dropout, of a block
	out                      []T            // a block of queries of the result, before the sums are known
	perRow                   []T            // factors of BlockSoftmax, dots of BlockGradient
	packedKeys, packedValues unsafe.Pointer // of a head, for QK and DP
	packedBlocks             unsafe.Pointer // of a head, for PV or DQ
	packedQueries            [2]unsafe.Pointer
}

// ScratchBytes returns the memory of a thread.
func (x *BlockAttention) ScratchBytes() int {
	elements := x.maskElements() + x.Height*(2*x.Stride+x.D+2)
	if x.Dropout != nil {
		elements += (x.Height + 3) * x.Stride
	}
	return elements*x.Size + x.Packed[0] + x.Packed[1] + x.Blocks()*x.PackedBlock + 2*x.PackedQueries + 16*CacheLine
}

func newBlockPart[T kernel.Float](x *BlockAttention, fr *frame, mine share) *blockPart[T] {
	p := &blockPart[T]{BlockAttention: x, fr: fr, gemm: &fr.calls[mine.thread].GemmCall, call: &fr.calls[mine.thread].AttentionCall}
	next := fr.scratch[mine.thread]
	bytes := func(n int) unsafe.Pointer {
		at := next
		next = unsafe.Add(next, kernel.RoundUp(n, CacheLine))
		return at
	}
	take := func(n int) []T { return slice[T](bytes(n*x.Size), n) }
	p.summands.init(x, take)
	p.scores, p.dScores = take(x.Height*x.Stride), take(x.Height*x.Stride)
	p.out, p.perRow = take(x.Height*x.D), take(x.Height)
	clear(p.scores) // kernels also read behind the columns of a row
	clear(p.dScores)
	if x.Dropout != nil {
		p.weights, p.columnKeys = take(x.Height*x.Stride), take(3*x.Stride)
		clear(p.columnKeys)
	}
	p.packedKeys, p.packedValues, p.packedBlocks = bytes(x.Packed[0]), bytes(x.Packed[1]), bytes(x.Blocks()*x.PackedBlock)
	p.packedQueries = [2]unsafe.Pointer{bytes(x.PackedQueries), bytes(x.PackedQueries)}
	return p
}

// startHead prepares a head, counted through all batches.
func (p *blockPart[T]) startHead(i int) {
	p.b, p.head = i/p.H, i%p.H
	p.summands.startHead(p.fr, p.b, p.head)
	k, v := p.K.at(p.fr, p.b, p.head), p.V.at(p.fr, p.b, p.head)
	p.ProductQK.Pack(p.packedKeys, k, 0, p.ProductQK.Panels())
	if p.Backward {
		p.ProductDP.Pack(p.packedValues, v, 0, p.ProductDP.Panels())
		p.packBlocks(&p.ProductDQ, k, p.K.Row)
		return
	}
	p.packBlocks(&p.ProductPV, v, p.V.Row)
}

// packBlocks packs the right operand of a product that sums over keys, a block after the other. Rows that could be read in place are
// copied: in the operand, which has the rows of all heads, they lie far apart, in few lines of the first cache and in many pages.
func (p *blockPart[T]) packBlocks(g *kernel.Matmul, right unsafe.Pointer, row int) {
	if g.Direct() {
		for r := range p.N {
			copyBytes(unsafe.Add(p.packedBlocks, r*g.BK), unsafe.Add(right, r*row), g.BK)
		}
		return
	}
	for c0 := 0; c0 < p.N; c0 += p.Columns {
		of := *g
		of.K = min(p.Columns, p.N-c0)
		of.Pack(unsafe.Add(p.packedBlocks, c0/p.Columns*p.PackedBlock), unsafe.Add(right, c0*row), 0, of.Panels())
	}
}

// ofBlock returns the right operand, from key c0 on, of a product that sums over keys.
func (p *blockPart[T]) ofBlock(c0 int) unsafe.Pointer {
	return unsafe.Add(p.packedBlocks, c0/p.Columns*p.PackedBlock)
}

// A block is a block of scores: queries r0 to r1 and keys c0 to c1.
type block struct{ r0, r1, c0, c1 int }

// scoresOf computes the products of rows of a left operand and all columns of a block, with packed right operand. Between the columns and
// the end of whole vectors there are zeros.
func (p *blockPart[T]) scoresOf(g *kernel.Matmul, left, right unsafe.Pointer, to []T, k block) {
	nr := g.Kernel.NR
	area := kernel.Area{R0: k.r0, R1: k.r1, P0: k.c0 / nr, P1: (k.c1 + nr - 1) / nr, K0: 0, K1: g.K, Alone: true}
	g.Multiply(p.gemm, left, right, unsafe.Pointer(&to[0]), nil, area, false)
	width := k.c1 - k.c0
	if whole := p.width(k); width < whole {
		for r := range k.r1 - k.r0 {
			clear(to[r*p.Stride+width : r*p.Stride+whole])
		}
	}
}

// width returns the number of columns of a block in whole vectors.
func (p *blockPart[T]) width(k block) int { return kernel.RoundUp(k.c1-k.c0, p.Kernels.BlockLanes) }

// ofKernel returns a kernel call for a block.
func (p *blockPart[T]) ofKernel(k block) *kernel.AttentionCall {
	c := p.call
	state := p.state(k.r0)
	*c = kernel.AttentionCall{Scores: unsafe.Pointer(&p.scores[0]), DScores: unsafe.Pointer(&p.dScores[0]), PerRow: unsafe.Pointer(&p.perRow[0]),
		Largest: unsafe.Add(p.Largest.at(p.fr), state), Inverse: unsafe.Add(p.Inverse.at(p.fr), state),
		Rows: k.r1 - k.r0, Width: p.width(k), RowBytes: p.Stride * p.Size, Scale: p.Scale}
	var add []T
	add, c.AddRow = p.summands.add(k)
	c.Add = unsafe.Pointer(&add[0])
	c.AddRow *= p.Size
	return c
}

// state returns the offset of a query in Largest and Inverse.
func (p *blockPart[T]) state(r int) int { return ((p.b*p.H+p.head)*p.M + r) * p.Size }

// eachBlock calls f for the blocks of queries from r0 on that have visible keys, and reports whether there are some.
func (p *blockPart[T]) eachBlock(r0 int, f func(k block, first bool)) bool {
	r1, some := min(r0+p.Height, p.M), false
	for c0 := 0; c0 < p.N; c0 += p.Columns {
		if k := (block{r0, r1, c0, min(c0+p.Columns, p.N)}); p.summands.sees(k) {
			f(p.summands.trim(k), !some)
			some = true
		}
	}
	return some
}

// forwardStrip computes the results of the queries from r0 on.
func (p *blockPart[T]) forwardStrip(r0 int) {
	n := min(p.Height, p.M-r0)
	largest, sums := slice[T](unsafe.Add(p.Largest.at(p.fr), p.state(r0)), n), slice[T](unsafe.Add(p.Inverse.at(p.fr), p.state(r0)), n)
	for r := range largest {
		largest[r], sums[r] = T(negativeInfinity), 0
	}
	p.summands.startStrip(r0, r0+n)
	q, v := p.Q.at(p.fr, p.b, p.head), p.V.at(p.fr, p.b, p.head)
	if !p.eachBlock(r0, func(k block, first bool) { p.forwardBlock(k, q, v, first) }) {
		clear(p.out[:n*p.D])
	}
	for r := range largest {
		if largest[r] == T(negativeInfinity) {
			largest[r] = 0
		}
		if sums[r] != 0 {
			sums[r] = 1 / sums[r]
		}
	}
	p.scaleOut(sums)
	out := unsafe.Add(p.Out.at(p.fr, p.b, p.head), r0*p.Out.Row)
	for r := range n {
		copyBytes(unsafe.Add(out, r*p.Out.Row), unsafe.Pointer(&p.out[r*p.D]), p.D*p.Size)
	}
}

// forwardBlock adds what the keys of a block contribute.
func (p *blockPart[T]) forwardBlock(k block, q, v unsafe.Pointer, first bool) {
	n := k.r1 - k.r0
	p.scoresOf(&p.ProductQK, q, p.packedKeys, p.scores, k)
	p.Kernels.BlockSoftmax(p.ofKernel(k))
	if p.Dropout != nil {
		p.makeWeights(k)
		p.weigh(p.scores, n)
	}
	if !first {
		p.scaleOut(p.perRow[:n])
	}
	g := p.ProductPV
	g.M, g.K = n, k.c1-k.c0
	g.Multiply(p.gemm, unsafe.Pointer(&p.scores[0]), p.ofBlock(k.c0), unsafe.Pointer(&p.out[0]), nil, g.All(), !first)
}

// scaleOut multiplies the rows of the result by factors, in plain loops where there are no kernels for it.
func (p *blockPart[T]) scaleOut(factors []T) {
	if !slices.ContainsFunc(factors, func(x T) bool { return x != 1 }) {
		return
	}
	if p.MultiplyRow != nil {
		p.MultiplyRow(unsafe.Pointer(&p.out[0]), unsafe.Pointer(&p.out[0]), unsafe.Pointer(&factors[0]), nil, len(factors), p.D)
		return
	}
	for r, factor := range factors {
		row := p.out[r*p.D : (r+1)*p.D]
		for i := range row {
			row[i] *= factor
		}
	}
}

// makeWeights computes the weights of dropout of a block.
func (p *blockPart[T]) makeWeights(k block) {
	for i := range 3 {
		from := unsafe.Add(p.Dropout.Columns.at(p.fr), ((i*p.H+p.head)*p.N+k.c0)*p.Size)
		copy(p.columnKeys[i*p.Stride:], slice[T](from, k.c1-k.c0))
	}
	rows := unsafe.Add(p.Dropout.Rows.at(p.fr), (p.b*p.M+k.r0)*2*p.Size)
	p.Kernels.Dropout(unsafe.Pointer(&p.weights[0]), rows, unsafe.Pointer(&p.columnKeys[0]), p.Dropout.Numbers.at(p.fr), k.r1-k.r0, p.Stride)
}

// weigh multiplies n rows of a block by the weights of dropout.
func (p *blockPart[T]) weigh(x []T, n int) {
	p.Multiply(unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&p.weights[0]), nil, n, p.Stride)
}
