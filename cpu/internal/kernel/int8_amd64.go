package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// bestInt8 returns the fastest kernel that rounds operands to int8, or nil.
func bestInt8(level Level) *Gemm {
	if level != levelAVX512 || !cpu.X86.HasAVX512VNNI {
		return nil
	}
	g := wordsGemm("int8 avx512", gemmQuadsTable[:], oneRow{panels: [2]func(*GemmCall){gemvPanels2Quads, gemvPanels4Quads}}, rounded{packedForm: int8Packed, packLeft: packInt8Rows})
	g.pack = packInt8Panel
	return g
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
