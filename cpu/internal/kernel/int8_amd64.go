package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// bestInt8 returns the fastest kernel that rounds operands to int8, or nil.
func bestInt8(level Level) *Gemm {
	switch {
	case level == levelAVX512 && cpu.X86.HasAVX512VNNI:
		one := oneRow{panels: [2]func(*GemmCall){gemvPanels2Quads, gemvPanels4Quads}}
		g := wordsGemm("int8 avx512", gemmQuadsTable[:], one, rounded{packedForm: int8Packed, packLeft: packInt8Rows})
		g.pack = int8Packer(int8Largest)
		return g
	case level == levelAVX512 || level == levelAVX2:
		return quadsYGemm()
	}
	return nil
}

// quadsYGemm multiplies bytes with AVX2: half a panel at a time.
func quadsYGemm() *Gemm {
	const half = roundedColumns / 2
	strip := simdGemm[float32](gemmQuadsYTable[:], oneRow{}, half/2, false)
	return &Gemm{
		Name: "int8 avx2", MR: strip.MR, NR: roundedColumns, size: 4, lanes: half / 2, nearTerms: farApart, pack: int8Packer(int7Largest),
		gemvPanels: [2]func(*GemmCall){gemvPanels2QuadsY},
		rounded: &rounded{packedForm: int8Packed, packLeft: packInt8RowsY, run: func(call *GemmCall, rows, cols int, _ unsafe.Pointer) {
			for r := 0; r < rows; r += strip.MR {
				call.prefetch(strip.MR*call.aRow, (rows-r-1)/strip.MR)
				n, right := min(strip.MR, rows-r), *call
				strip.run(call, n, min(half, cols))
				if cols > half {
					right.panel, right.c = unsafe.Add(call.panel, half*roundedWord), unsafe.Add(call.c, half*4)
					strip.run(&right, n, cols-half)
				}
				if r+strip.MR < rows {
					call.a, call.c = unsafe.Add(call.a, strip.MR*call.aRow), unsafe.Add(call.c, strip.MR*call.cRow)
				}
			}
		}},
	}
}

// ones16 are terms that add up neighbouring sums of 16 bits.
//
//lint:ignore U1000 the kernels in assembly read it
var ones16 = [16]int16{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// packedWords tells where VPACKUSDW and VPACKUSWB leave the words of four vectors.
//
//lint:ignore U1000 the kernels in assembly read it
var packedWords = [8]int32{0, 4, 1, 5, 2, 6, 3, 7}

// packInt8RowsY is rounded.packLeft for AVX2. A row that does not consist of whole groups of terms, or whose terms are not adjacent, is copied first.
func packInt8RowsY(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
	groups := int8Packed.termsBytes(k) / roundedDepth
	if kStride == 4 && k%roundedDepth == 0 {
		quantizeRowsY(dst, a, groups, int8Packed.row(k), rowStride, rows)
		return
	}
	var row [BlockK]float32
	for r := range rows {
		gatherBlock(row[:], unsafe.Add(a, r*rowStride), k, 1, k, rowStride, kStride)
		quantizeRowsY(unsafe.Add(dst, r*int8Packed.row(k)), unsafe.Pointer(&row), groups, 0, 0, 1)
	}
}

// packInt8Rows is rounded.packLeft.
func packInt8Rows(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
	if kStride == 4 {
		quantizeRows(dst, a, k, int8Packed.row(k), rowStride, rows)
		return
	}
	var row [BlockK]float32
	for r := range rows {
		gatherBlock(row[:], unsafe.Add(a, r*rowStride), k, 1, k, rowStride, kStride)
		quantizeRows(unsafe.Add(dst, r*int8Packed.row(k)), unsafe.Pointer(&row), k, 0, 0, 1)
	}
}

// quantizeRows rounds rows, at least one, whose terms follow each other, at least one. Strides in bytes.
//
//go:noescape
func quantizeRows(dst, src unsafe.Pointer, terms, dstStride, srcStride, rows int)

// quantizeRowsY rounds rows, at least one, of groups of 32 adjacent terms, at least one. Strides in bytes.
//
//go:noescape
func quantizeRowsY(dst, src unsafe.Pointer, groups, dstStride, srcStride, rows int)
