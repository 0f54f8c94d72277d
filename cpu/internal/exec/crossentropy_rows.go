package exec

import (
	"math"
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

var negativeInfinity = math.Inf(-1)

// combine computes the results of the part's rows from those of the blocks of columns, and the factors of the gradient.
func (p *entropyPass[T]) combine(mine share) {
	truth, total, correct := slice[T](p.fr.ptrs[p.Truth], p.Rows), slice[T](p.fr.ptrs[p.Total], p.Rows), slice[T](p.fr.ptrs[p.Correct], p.Rows)
	words := float64(p.Words)
	for i, hi := mine.of(p.rows); i < hi; i++ {
		r := p.active[p.first+i]
		largest := p.largest[i]
		for block := 1; block < p.Blocks(); block++ {
			largest = max(largest, p.largest[block*p.Height+i])
		}
		sum, logits := p.sumRow(i, float64(largest))
		logSum := math.Log(sum)
		truth[r] = T(p.above(i, largest) - logSum)
		total[r] = T(logits - words*(float64(largest)+logSum))
		correct[r] = 0
		if p.isBest(i, largest) {
			correct[r] = 1
		}
		p.shift[i] = p.b[r]
		p.scaleRow(i, float64(largest), -(float64(p.a[r])+words*float64(p.b[r]))/sum)
	}
}

// sumRow returns the sum of exp(z - largest) of row i of the block, and the sum of z if it was recorded.
func (p *entropyPass[T]) sumRow(i int, largest float64) (sum, logits float64) {
	for at := i; at < len(p.largest); at += p.Height {
		if p.inverse[at] != 0 { // otherwise all logits are -inf
			sum += math.Exp(float64(p.largest[at])-largest) / float64(p.inverse[at])
		}
		logits += float64(p.sums[at])
	}
	return sum, logits
}

// scaleRow sets the factors that turn the softmax of each block of columns of row i into scale exp(z - largest).
func (p *entropyPass[T]) scaleRow(i int, largest, scale float64) {
	for at := i; at < len(p.largest); at += p.Height {
		p.factor[at] = 0
		if p.inverse[at] != 0 {
			p.factor[at] = T(scale * math.Exp(float64(p.largest[at])-largest) / float64(p.inverse[at]))
		}
	}
}

// target returns the target of row i of the block, and whether it is one of the words.
func (p *entropyPass[T]) target(i int) (t int, ok bool) {
	t = int(p.targets[p.active[p.first+i]])
	return t, t >= 0 && t < p.Words
}

// above returns the logit of the target of row i minus the largest, 0 if the target is none of the words.
func (p *entropyPass[T]) above(i int, largest T) float64 {
	if _, ok := p.target(i); !ok {
		return 0
	}
	return float64(p.own[i] - largest)
}

// isBest reports whether the target of row i is the first word with the largest logit.
func (p *entropyPass[T]) isBest(i int, largest T) bool {
	t, ok := p.target(i)
	if !ok || p.own[i] != largest || p.beaten[i] {
		return false
	}
	for block := range t / p.Columns {
		if p.largest[block*p.Height+i] >= largest {
			return false
		}
	}
	return true
}

// gradientRows is the number of rows whose gradient is computed at once, in the L1 cache.
const gradientRows = 8

// weightGradient computes dz of the part's blocks of columns, and from it their part of dw.
func (p *entropyPass[T]) weightGradient(mine share) {
	for block, hi := mine.of(p.Blocks()); block < hi; block++ {
		p.logitGradient(block)
		p.multiplyWeights(mine, block)
	}
}

// logitGradient replaces the softmax of a block by dz = a onehot + b - (a + V b) p.
func (p *entropyPass[T]) logitGradient(block int) {
	stride, first, width := p.stride(block), block*p.Columns, p.width(block)
	factor := p.ofBlock(p.factor, block)
	for r0 := 0; r0 < p.rows; r0 += gradientRows {
		r1 := min(r0+gradientRows, p.rows)
		z := unsafe.Add(p.scores(block), r0*stride*p.Size)
		p.scaleSoftmax(z, factor[r0:r1], p.shift[r0:r1], stride)
		for r := r0; r < r1; r++ {
			if t, _ := p.target(r); t >= first && t < first+width {
				slice[T](z, (r1-r0)*stride)[(r-r0)*stride+t-first] += p.a[p.active[p.first+r]]
			}
		}
	}
}

// scaleSoftmax multiplies rows by their factors and adds b. Plain loops do it where there are no kernels for it.
func (p *entropyPass[T]) scaleSoftmax(z unsafe.Pointer, factor, shift []T, stride int) {
	if p.Multiply == nil || p.Add == nil {
		for r := range factor {
			row := slice[T](unsafe.Add(z, r*stride*p.Size), stride)
			for j := range row {
				row[j] = row[j]*factor[r] + shift[r]
			}
		}
		return
	}
	p.Multiply(z, z, unsafe.Pointer(&factor[0]), nil, len(factor), stride)
	if p.anyB {
		p.Add(z, z, unsafe.Pointer(&shift[0]), nil, len(factor), stride)
	}
}

// multiplyWeights adds the product of dz of a block and the states to dw.
func (p *entropyPass[T]) multiplyWeights(mine share, block int) {
	g, z, stride := p.DWeights, p.scores(block), p.stride(block)*p.Size
	g.K = p.rows
	strips := p.fr.scratch[mine.thread]
	var left, right unsafe.Pointer
	if p.ByColumn {
		g.N, g.BK = p.width(block), stride
		left, right = p.fr.ptrs[p.States], unsafe.Add(strips, kernel.RoundUp(p.DWeights.StripBytes(), CacheLine))
		g.Pack(right, z, 0, g.Panels())
	} else {
		g.M, g.AK = p.width(block), stride
		left, right = z, p.fr.ptrs[p.PackedStates]
	}
	g.Multiply(&p.fr.calls[mine.thread].GemmCall, left, right, p.words(p.fr.ptrs[p.DW], block), strips, g.All(), p.first > 0)
}

// stateGradient computes the part's rows of dh, from dz of all blocks.
func (p *entropyPass[T]) stateGradient(mine share) {
	mr := p.DStates.Kernel.MR
	lo, hi := mine.of((p.rows + mr - 1) / mr)
	lo, hi = lo*mr, min(hi*mr, p.rows)
	if lo >= hi {
		return
	}
	row := p.Width * p.Size
	out := unsafe.Add(p.fr.ptrs[p.DBlock], lo*row)
	for block := range p.Blocks() {
		g := p.DStates
		g.M, g.K, g.ARow = hi-lo, p.width(block), p.stride(block)*p.Size
		z := unsafe.Add(p.scores(block), lo*g.ARow)
		g.Multiply(&p.fr.calls[mine.thread].GemmCall, z, p.back(block), out, p.fr.scratch[mine.thread], g.All(), block > 0)
	}
	dh := p.fr.ptrs[p.DH]
	for i := lo; i < hi; i++ {
		copyBytes(unsafe.Add(dh, int(p.active[p.first+i])*row), unsafe.Add(out, (i-lo)*row), row)
	}
}
