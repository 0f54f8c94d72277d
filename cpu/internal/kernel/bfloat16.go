package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// Products of float32 whose operands are rounded to bfloat16, to nearest, ties to even, while the sums stay float32. Subnormal
// numbers count as zero. Both operands are packed in the same way for all kernels: rows of the left one, roundedRow(k) bytes each,
// and panels of the right one that hold terms k and k+1 of a column next to each other. Packed memory is filled with zeros up to a
// multiple of roundedDepth terms.
const (
	roundedDepth   = 32 // terms of a tile of AMX
	roundedColumns = 32 // columns of a panel
	roundedStrip   = 32 // minimum number of packed rows: those of two tiles
	roundedBytes   = 2
	roundedBlockM  = 768 // rows of the left operand that are multiplied with one panel after the other
)

// roundedRow returns the distance of rows of the left operand. It is a cache line longer than necessary, so that the rows of a tile
// map to different sets of the L1 cache.
func roundedRow(k int) int { return RoundUp(k, roundedDepth)*roundedBytes + 64 }

// roundedEdge is the memory of a block of results of which only a part is written.
const roundedEdge = roundedStrip * roundedColumns * 4

// rounded holds the functions of a Gemm that rounds its operands.
type rounded struct {
	// packLeft rounds rows of k terms, strides in bytes, to rows of roundedRow(k) bytes. It may write up to 15 rows more.
	packLeft func(dst, a unsafe.Pointer, k, rows, rowStride, kStride int)

	// run computes rows x cols of c, both up to any number of rows and one panel, from rows of pairs of terms: call has
	// everything but masks; it may change a and c. edge is room for roundedEdge bytes.
	run func(call *GemmCall, rows, cols int, edge unsafe.Pointer)
}

// WithBFloat16 returns the kernels with products that round their operands to bfloat16: with tiles of AMX if processor and system
// support them, otherwise with AVX-512. If the configuration names the level, only its own instructions are used, and plain loops are
// allowed.
func (s *Set) WithBFloat16(named bool) (*Set, error) { return s.withBFloat16(named, detect()) }

func (s *Set) withBFloat16(named bool, f features) (*Set, error) {
	products := bestRounded(s.Level, named, f)
	if s.Level == LevelScalar && named {
		products = portableRounded()
	}
	if products == nil {
		return nil, fmt.Errorf("products=bf16 needs a processor with AVX512_BF16 and its %s kernels: without it, products are float32", levelAVX512)
	}
	out := *s
	out.Rounded = products
	return &out, nil
}

// multiplyRounded is Multiply for kernels that round.
func (g *Matmul) multiplyRounded(call *GemmCall, a, b, c, strips unsafe.Pointer, w Area) {
	kr := g.Kernel
	edge := unsafe.Add(strips, g.StripBytes()-roundedEdge)
	call.panelRow = kr.NR * 2 * roundedBytes
	add := call.add
	row, panel := w.origin()
	for k0 := w.K0; k0 < w.K1; k0 += BlockK {
		kn := min(BlockK, g.K-k0)
		call.k = RoundUp(kn, roundedDepth) / 2
		call.aRow, call.aK = roundedRow(kn), 2*roundedBytes
		for m0 := w.R0; m0 < w.R1; m0 += roundedBlockM {
			m1 := min(m0+roundedBlockM, w.R1)
			kr.rounded.packLeft(strips, unsafe.Add(a, m0*g.ARow+k0*g.AK), kn, m1-m0, g.ARow, g.AK)
			first := w.P0
			if m1-m0 == 1 {
				call.a, call.add = strips, add
				first = g.gemvPanels(call, b, unsafe.Add(c, (m0-row)*g.CRow+(w.P0-panel)*kr.NR*kr.size), w.P0, w.P1, k0, kn)
			}
			for p := first; p < w.P1; p++ {
				call.a, call.panel, call.add = strips, g.panel(b, k0, kn, p), add
				call.c = unsafe.Add(c, (m0-row)*g.CRow+(p-panel)*kr.NR*kr.size)
				call.following = 0
				if p+1 < w.P1 {
					call.following = uintptr(g.panel(b, k0, kn, p+1))
				}
				kr.rounded.run(call, m1-m0, min(kr.NR, g.N-p*kr.NR), edge)
			}
		}
		add = 1
	}
}

// toBFloat16 rounds to nearest, ties to even. NaN stays NaN.
func toBFloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	switch exponent := bits >> 23 & 255; {
	case x != x:
		return uint16(bits>>16) | 1<<6
	case exponent == 0:
		return uint16(bits>>16) & (1 << 15)
	}
	return uint16((bits + 1<<15 - 1 + bits>>16&1) >> 16)
}

func fromBFloat16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// portableRounded is the kernel in plain loops, the reference in tests of the others.
func portableRounded() *Gemm {
	return &Gemm{
		Name: "bf16", MR: roundedStrip, NR: roundedColumns, size: 4, lanes: 1,
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			d := slice[uint16](dst, RoundUp(k, roundedDepth)*roundedColumns)
			clear(d)
			for i := range k {
				for j := range cols {
					d[i/2*2*roundedColumns+2*j+i%2] = toBFloat16(*(*float32)(unsafe.Add(b, i*kStride+j*nStride)))
				}
			}
		},
		rounded: &rounded{
			packLeft: func(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
				for r := range rows {
					d := slice[uint16](unsafe.Add(dst, r*roundedRow(k)), RoundUp(k, roundedDepth))
					clear(d)
					for i := range k {
						d[i] = toBFloat16(*(*float32)(unsafe.Add(a, r*rowStride+i*kStride)))
					}
				}
			},
			run: func(call *GemmCall, rows, cols int, _ unsafe.Pointer) {
				for r := range rows {
					row, left := slice[float32](unsafe.Add(call.c, r*call.cRow), cols), slice[uint16](unsafe.Add(call.a, r*call.aRow), 2*call.k)
					right := slice[uint16](call.panel, 2*call.k*roundedColumns)
					for j := range row {
						var sum float32
						for i, x := range left {
							sum += fromBFloat16(x) * fromBFloat16(right[i/2*2*roundedColumns+2*j+i%2])
						}
						if call.add != 0 {
							sum += row[j]
						}
						row[j] = sum
					}
				}
			},
		},
	}
}
