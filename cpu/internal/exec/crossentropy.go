package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// CrossEntropy computes the log-probabilities of targets under logits z = h w' and, if Gradient is set, the gradients of
//
//	sum over rows of a ln p(target) + b sum over v of ln p(v)
//
// in blocks of rows and columns, so that all logits never exist at once:
//
//	h [Rows, Width], w [Words, Width], or [Width, Words] if ByColumn    factors of the logits
//	target [Rows] int32, a [Rows], b [Rows]                             rows with a = b = 0 are left out: their results are 0
//	truth [Rows], total [Rows]      ln p(target), and the sum over v of ln p(v)
//	correct [Rows]                  1 if the logit of the target is the first of the largest, else 0
//	dh, dw                          the gradients, like h and w
//
// The rows of a block have the logits of all words, in blocks of columns that lie one after the other. The softmax of each block of
// columns replaces its logits; what it lacks to the softmax of the row is a factor, which the gradient dz = a onehot + b - (a + V b) p
// includes. The order of all sums depends only on the dimensions.
type CrossEntropy struct {
	Rows, Width, Words    int
	ByColumn, Gradient    bool
	Height, Columns       int // of a block; Columns is a multiple of the width of a panel
	Size                  int // of an element
	H, W, Target, A, B    Operand
	Truth, Total, Correct int // slots
	DH, DW                int

	Logits   kernel.Matmul // Height x Words: states of a block of rows, w packed whole
	DStates  kernel.Matmul // Height x Width: dz of a block, w packed by blocks of columns
	DWeights kernel.Matmul // Columns x Width, or Width x Columns: transposed dz and states, or transposed states and dz

	// Slots of temporary memory, or -1 if not needed.
	Packed, PackedBack   int // w for Logits and for DStates
	Scores               int // a block of rows of logits
	States, PackedStates int // a block of rows of h
	DBlock               int // and of dh
	Kernels              *kernel.Attention
	Multiply, Add        kernel.Func // by one element a row; nil if there are no such kernels
	RowSum               kernel.Func
}

// Blocks returns the number of blocks of columns.
func (x *CrossEntropy) Blocks() int { return (x.Words + x.Columns - 1) / x.Columns }

// BackBytes returns the memory of a block of w, packed for DStates.
func (x *CrossEntropy) BackBytes() int {
	return kernel.RoundUp(x.DStates.PackedBytes(), CacheLine)
}

func (x *CrossEntropy) run(fr *frame) {
	if x.Size == 4 {
		runCrossEntropy[float32](x, fr)
		return
	}
	runCrossEntropy[float64](x, fr)
}

func runCrossEntropy[T kernel.Float](x *CrossEntropy, fr *frame) {
	p := newEntropyPass[T](x, fr)
	fr.do(partFunc(p.packWeights), fr.prog.Machine.Threads)
	for p.first = 0; p.first < len(p.active); p.first += x.Height {
		p.rows = min(x.Height, len(p.active)-p.first)
		fr.do(partFunc(p.gatherRows), fr.prog.Machine.Threads)
		fr.do(partFunc(p.blocks), fr.prog.Machine.Parts())
		fr.do(partFunc(p.combine), fr.prog.Machine.Threads)
		if x.Gradient {
			fr.do(partFunc(p.weightGradient), fr.prog.Machine.Parts())
			fr.do(partFunc(p.stateGradient), fr.prog.Machine.Parts())
		}
	}
}

// partFunc is a task.
type partFunc func(share)

func (f partFunc) part(_ *frame, mine share) { f(mine) }

// entropyPass is the state of one execution.
type entropyPass[T kernel.Float] struct {
	*CrossEntropy
	fr          *frame
	active      []int32 // rows that count
	targets     []int32
	a, b        []T
	first, rows int // the current block of rows: active[first:first+rows]

	// One element for each row, and in the lists of the third line for each block of columns and row.
	own, shift                     []T    // logit of the target; b
	beaten                         []bool // an earlier word of the same block of columns has a logit as large
	largest, inverse, sums, factor []T    // of the softmax, and see combine
	add                            []T    // summands of the logits of a block of columns, and of the last one
	anyB                           bool   // some b is not 0
}

func newEntropyPass[T kernel.Float](x *CrossEntropy, fr *frame) *entropyPass[T] {
	p := &entropyPass[T]{CrossEntropy: x, fr: fr, active: make([]int32, 0, x.Rows)}
	p.targets, p.a, p.b = slice[int32](x.Target.at(fr), x.Rows), slice[T](x.A.at(fr), x.Rows), slice[T](x.B.at(fr), x.Rows)
	for r := range x.Rows {
		if p.a[r] == 0 && p.b[r] == 0 {
			p.clearRow(r)
			continue
		}
		p.active = append(p.active, int32(r))
		p.anyB = p.anyB || p.b[r] != 0
	}
	if x.Gradient && len(p.active) == 0 {
		clear(slice[byte](fr.ptrs[x.DW], x.Words*x.Width*x.Size))
	}
	n := x.Blocks() * x.Height
	all := make([]T, 4*n+2*x.Height+2*x.Columns)
	take := func(n int) []T {
		s := all[:n]
		all = all[n:]
		return s
	}
	p.largest, p.inverse, p.sums, p.factor, p.own, p.shift = take(n), take(n), take(n), take(n), take(x.Height), take(x.Height)
	p.beaten = make([]bool, x.Height)
	p.add = take(2 * x.Columns)
	for i := p.width(x.Blocks() - 1); i < x.Columns; i++ { // after the last column
		p.add[x.Columns+i] = T(negativeInfinity)
	}
	return p
}

// clearRow sets the results of a row to 0.
func (p *entropyPass[T]) clearRow(r int) {
	for _, slot := range []int{p.Truth, p.Total, p.Correct} {
		slice[T](p.fr.ptrs[slot], p.Rows)[r] = 0
	}
	if p.Gradient {
		clear(slice[T](p.fr.ptrs[p.DH], p.Rows*p.Width)[r*p.Width : (r+1)*p.Width])
	}
}

// width returns the number of columns of a block.
func (p *entropyPass[T]) width(block int) int { return min(p.Columns, p.Words-block*p.Columns) }

// stride returns the number of columns of a block in memory, whole panels.
func (p *entropyPass[T]) stride(block int) int {
	return kernel.RoundUp(p.width(block), p.Logits.Kernel.NR)
}

// scores returns the address of a block.
func (p *entropyPass[T]) scores(block int) unsafe.Pointer {
	return unsafe.Add(p.fr.ptrs[p.Scores], block*p.Height*p.Columns*p.Size)
}

// ofBlock returns the elements of a block in one of the lists of all blocks.
func (p *entropyPass[T]) ofBlock(list []T, block int) []T { return list[block*p.Height:][:p.rows] }

// words returns the address of the weights of a block of columns, in w or dw.
func (p *entropyPass[T]) words(base unsafe.Pointer, block int) unsafe.Pointer {
	if p.ByColumn {
		return unsafe.Add(base, block*p.Columns*p.Size)
	}
	return unsafe.Add(base, block*p.Columns*p.Width*p.Size)
}

// packWeights packs w for the logits and, by blocks of columns, for the gradient of the states.
func (p *entropyPass[T]) packWeights(mine share) {
	w := p.W.at(p.fr)
	lo, hi := mine.of(p.Logits.Panels())
	p.Logits.Pack(p.fr.ptrs[p.Packed], w, lo, hi)
	if !p.Gradient {
		return
	}
	for block, hi := mine.of(p.Blocks()); block < hi; block++ {
		g := p.DStates
		g.K = p.width(block)
		g.Pack(p.back(block), p.words(w, block), 0, g.Panels())
	}
}

// back returns the address of a block of w, packed for DStates.
func (p *entropyPass[T]) back(block int) unsafe.Pointer {
	return unsafe.Add(p.fr.ptrs[p.PackedBack], block*p.BackBytes())
}

// gatherRows copies the states of the block.
func (p *entropyPass[T]) gatherRows(mine share) {
	row := p.Width * p.Size
	h, states := p.H.at(p.fr), p.fr.ptrs[p.States]
	for i, hi := mine.of(p.rows); i < hi; i++ {
		copyBytes(unsafe.Add(states, i*row), unsafe.Add(h, int(p.active[p.first+i])*row), row)
	}
}

// blocks computes the softmax of the part's blocks of columns, each by itself.
func (p *entropyPass[T]) blocks(mine share) {
	if p.PackedStates >= 0 {
		g := p.DWeights
		g.K = p.rows
		lo, hi := mine.of(g.Panels())
		g.Pack(p.fr.ptrs[p.PackedStates], p.fr.ptrs[p.States], lo, hi)
	}
	for block, hi := mine.of(p.Blocks()); block < hi; block++ {
		p.multiply(mine, block)
		p.readTargets(block)
		p.softmax(mine, block)
	}
}

// multiply computes the logits of a block.
func (p *entropyPass[T]) multiply(mine share, block int) {
	g, first, z := p.Logits, block*p.Columns, p.scores(block)
	g.M, g.CRow = p.rows, p.stride(block)*p.Size
	panel := first / g.Kernel.NR
	area := kernel.Area{R0: 0, R1: p.rows, P0: panel, P1: panel + p.stride(block)/g.Kernel.NR, K0: 0, K1: g.K, Alone: true}
	g.Multiply(&p.fr.calls[mine.thread].GemmCall, p.fr.ptrs[p.States], p.fr.ptrs[p.Packed], z, p.fr.scratch[mine.thread], area, false)
	if width, stride := p.width(block), p.stride(block); width < stride {
		for r := range p.rows {
			clear(slice[T](z, p.rows*stride)[r*stride+width : (r+1)*stride])
		}
	}
}

// readTargets records the logits of the targets in a block, and whether another before it there is as large.
func (p *entropyPass[T]) readTargets(block int) {
	stride, first, width := p.stride(block), block*p.Columns, p.width(block)
	for r := range p.rows {
		t := int(p.targets[p.active[p.first+r]]) - first
		if t < 0 || t >= width {
			continue
		}
		row := slice[T](unsafe.Add(p.scores(block), r*stride*p.Size), t+1)
		p.own[r], p.beaten[r] = row[t], false
		for _, z := range row[:t] {
			if z >= row[t] {
				p.beaten[r] = true
				break
			}
		}
	}
}

// softmax replaces the logits of a block by its softmax, and records their sums.
func (p *entropyPass[T]) softmax(mine share, block int) {
	z, stride := p.scores(block), p.stride(block)
	if p.anyB {
		p.RowSum(unsafe.Pointer(&p.ofBlock(p.sums, block)[0]), z, nil, nil, p.rows, stride)
	}
	c := &p.fr.calls[mine.thread].AttentionCall
	add := p.add
	if block == p.Blocks()-1 {
		add = p.add[p.Columns:]
	}
	*c = kernel.AttentionCall{Scores: z, Add: unsafe.Pointer(&add[0]), Rows: p.rows, Width: stride, RowBytes: stride * p.Size, Scale: 1,
		Largest: unsafe.Pointer(&p.ofBlock(p.largest, block)[0]), Inverse: unsafe.Pointer(&p.ofBlock(p.inverse, block)[0])}
	p.Kernels.Softmax(c)
}
