package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// Products of float32 whose operands are rounded to int8, each row of the left one and each column of the right one, in blocks of BlockK terms,
// with a scale of its own: the largest magnitude is 127. The sums of a block are exact; they are multiplied by the scale of the column, then by
// that of the row, and blocks are added in float32. A row or column that is not finite gives results that are not finite; one whose numbers are
// all smaller than about 2^-121 counts as zero, and the sum times the scale of the column must be finite.
//
// The instructions multiply bytes without sign by bytes with a sign. Terms of the left operand therefore have 128 added, and the sums of a column
// start at -128 times the sum of its terms.
//
// Without AVX512_VNNI, the products of two bytes are added up in 16 bits. The largest magnitude of a column is then 63, so that they always fit.

const (
	int8Largest = 127 // magnitude of a row, and of a column with AVX512_VNNI
	int7Largest = 63  // magnitude of a column without
	int8Shift   = 128 // what is added to terms of the left operand
	int8Starts  = 4 * roundedColumns
	int8Group   = roundedWord // terms of a word
)

// int8Packed is how operands are packed: a row has its scale behind its terms, a panel the starts of its columns' sums and then their scales.
var int8Packed = packedForm{termBytes: 1, tail: 2 * int8Starts}

// WithInt8 returns the kernels with products by parameters that round their operands to int8, with AVX512_VNNI or AVX2. Plain loops are allowed if
// the configuration names them.
func (s *Set) WithInt8(named bool) (*Set, error) {
	products := bestInt8(s.Level)
	if s.Level == LevelScalar && named {
		products = portableInt8(int8Largest)
	}
	if products == nil {
		return nil, fmt.Errorf("products=int8 needs a processor with AVX2 and its %s or %s kernels: without it, products are float32", levelAVX512, levelAVX2)
	}
	out := *s
	out.ByParameter = products
	return &out, nil
}

// scaleOf returns the scale of numbers with a largest magnitude, and the factor that makes integers of them, the largest of which is whole.
func scaleOf(largest, whole float32) (scale, factor float32) {
	return largest * (1 / whole), whole / largest
}

// toInt8 rounds to nearest, ties to even; 0 if the factor is not finite.
func toInt8(x, factor float32) int8 {
	v := float64(x * factor)
	if !(math.Abs(v) <= int8Largest+1) {
		return 0
	}
	return int8(math.RoundToEven(v))
}

// magnitude returns the bits of |x|. They order numbers, with infinity and then NaN behind all others.
func magnitude(x float32) uint32 { return math.Float32bits(x) &^ (1 << 31) }

// int8Packer returns Gemm.pack for columns with a largest magnitude. It reads b row by row.
func int8Packer(whole float32) func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
	return func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
		packInt8Panel(dst, b, k, cols, kStride, nStride, whole)
	}
}

func packInt8Panel(dst, b unsafe.Pointer, k, cols, kStride, nStride int, whole float32) {
	bytes := int8Packed.termsBytes(k) * roundedColumns
	terms := slice[[roundedColumns][int8Group]int8](dst, bytes/(roundedColumns*int8Group))
	starts := slice[int32](unsafe.Add(dst, bytes), roundedColumns)
	scales := slice[float32](unsafe.Add(dst, bytes+int8Starts), roundedColumns)
	at := func(i, j int) float32 { return *(*float32)(unsafe.Add(b, i*kStride+j*nStride)) }
	clear(terms)
	clear(starts)
	clear(scales)
	var largest [roundedColumns]uint32
	for i := range k {
		for j := range cols {
			largest[j] = max(largest[j], magnitude(at(i, j)))
		}
	}
	var factors [roundedColumns]float32
	for j := range cols {
		scales[j], factors[j] = scaleOf(math.Float32frombits(largest[j]), whole)
	}
	for i := range k {
		row := &terms[i/int8Group]
		for j := range cols {
			q := toInt8(at(i, j), factors[j])
			row[j][i%int8Group] = q
			starts[j] -= int8Shift * int32(q)
		}
	}
}

// portableInt8 is the kernel in plain loops for columns with a largest magnitude, the reference in tests of the others.
func portableInt8(whole float32) *Gemm {
	return &Gemm{
		Name: "int8", MR: roundedStrip, NR: roundedColumns, size: 4, lanes: 1, nearTerms: farApart, pack: int8Packer(whole),
		rounded: &rounded{
			packedForm: int8Packed,
			packLeft: func(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
				for r := range rows {
					to, from := unsafe.Add(dst, r*int8Packed.row(k)), unsafe.Add(a, r*rowStride)
					terms := slice[uint8](to, int8Packed.termsBytes(k))
					var largest uint32
					for i := range k {
						largest = max(largest, magnitude(*(*float32)(unsafe.Add(from, i*kStride))))
					}
					scale, factor := scaleOf(math.Float32frombits(largest), int8Largest)
					for i := range k {
						terms[i] = uint8(int(toInt8(*(*float32)(unsafe.Add(from, i*kStride)), factor)) + int8Shift)
					}
					*(*float32)(unsafe.Add(to, len(terms))) = scale
				}
			},
			run: func(call *GemmCall, rows, cols int, _ unsafe.Pointer) {
				terms := slice[[roundedColumns][int8Group]int8](call.panel, call.k)
				tail := unsafe.Add(call.panel, call.k*roundedColumns*int8Group)
				starts, scales := slice[int32](tail, cols), slice[float32](unsafe.Add(tail, int8Starts), cols)
				for r := range rows {
					from := unsafe.Add(call.a, r*call.aRow)
					left := slice[uint8](from, call.k*int8Group)
					scale := *(*float32)(unsafe.Add(from, len(left)))
					row := slice[float32](unsafe.Add(call.c, r*call.cRow), cols)
					for j := range row {
						sum := starts[j]
						for i, x := range left {
							sum += int32(x) * int32(terms[i/int8Group][j][i%int8Group])
						}
						product := float32(float32(float32(sum)*scales[j]) * scale)
						if call.add != 0 {
							product += row[j]
						}
						row[j] = product
					}
				}
			},
		},
	}
}
