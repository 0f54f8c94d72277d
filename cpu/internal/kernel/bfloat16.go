package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// Products of float32 whose operands are rounded to bfloat16, to nearest, ties to even, while the sums stay float32. Subnormal
// numbers count as zero. Both operands are packed in the same way for all kernels; see rounded.

// bfloat16Packed is how operands are packed.
var bfloat16Packed = packedForm{termBytes: 2}

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
		Name: "bf16", MR: roundedStrip, NR: roundedColumns, size: 4, lanes: 1, nearTerms: farApart,
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
			packedForm: bfloat16Packed,
			packLeft: func(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
				for r := range rows {
					d := slice[uint16](unsafe.Add(dst, r*bfloat16Packed.row(k)), RoundUp(k, roundedDepth))
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
