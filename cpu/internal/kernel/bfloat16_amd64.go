package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// features are the bfloat16 instructions that the processor and the system support.
type features struct{ avx512, tiles bool }

func detect() features {
	return features{avx512: cpu.X86.HasAVX512BF16, tiles: cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16 && tilesPermitted()}
}

// bestRounded returns the fastest kernel that rounds operands, or nil.
func bestRounded(level Level, named bool, f features) *Gemm {
	switch {
	case level != levelAVX512 || !f.avx512:
		return nil
	case f.tiles && !named:
		return tileGemm()
	}
	return pairsGemm(vendor() == intel)
}

// tileGemm multiplies tiles of AMX.
func tileGemm() *Gemm {
	return &Gemm{Name: "bf16 amx", MR: roundedStrip, NR: roundedColumns, size: 4, lanes: 16, nearTerms: farApart, pack: packRoundedPanel, packRows: packRoundedPanels,
		rounded: &rounded{packedForm: bfloat16Packed, packLeft: packRoundedRows, run: func(call *GemmCall, rows, cols int, edge unsafe.Pointer) {
			tiles := *call
			tiles.k = call.k * 2 / roundedDepth
			done := 0
			if cols == roundedColumns && rows >= roundedStrip {
				tiles.strips = rows / roundedStrip
				gemmTiles(&tiles)
				done = tiles.strips * roundedStrip
			}
			tiles.strips, tiles.c, tiles.cRow = 1, edge, 4*roundedColumns
			for r := done; r < rows; r += roundedStrip {
				n, c := min(roundedStrip, rows-r), unsafe.Add(call.c, r*call.cRow)
				if call.add != 0 {
					copyCorner(edge, c, n, cols, tiles.cRow, call.cRow)
				}
				tiles.a = unsafe.Add(call.a, r*call.aRow)
				gemmTiles(&tiles)
				copyCorner(c, edge, n, cols, call.cRow, tiles.cRow)
			}
		}}}
}

// copyCorner copies the beginnings of rows.
func copyCorner(dst, src unsafe.Pointer, rows, cols, dstRow, srcRow int) {
	for r := range rows {
		copy(slice[float32](unsafe.Add(dst, r*dstRow), cols), slice[float32](unsafe.Add(src, r*srcRow), cols))
	}
}

// pairsGemm sums products of pairs with AVX512_BF16. If slow, as on Intel's processors, whose instruction has half the rate of AMD's
// (docs/log.md, 2026-11-30), products of many rows are widened.
func pairsGemm(slow bool) *Gemm {
	r := rounded{packedForm: bfloat16Packed, packLeft: packRoundedRows}
	if slow {
		r.widened = &widening{gemm: simdGemm[float32](gemmZ32Table[:], oneRowZ32, 16, true), left: widenRows, panel: widenPairs}
	}
	g := wordsGemm("bf16 avx512", gemmPairsTable[:], oneRow{panels: [2]func(*GemmCall){gemvPanels2Pairs, gemvPanels4Pairs}}, r)
	g.pack, g.packRows = packRoundedPanel, packRoundedPanels
	return g
}

// wordsGemm returns a kernel that uses a table of inner loops on words of rounded terms.
func wordsGemm(name string, table [][2]func(*GemmCall), one oneRow, r rounded) *Gemm {
	strip := simdGemm[float32](table, one, 16, true)
	r.run = func(call *GemmCall, rows, cols int, _ unsafe.Pointer) {
		for r := 0; r < rows; r += strip.MR {
			call.prefetch(strip.MR*call.aRow, (rows-r-1)/strip.MR)
			strip.run(call, min(strip.MR, rows-r), cols)
			if r+strip.MR < rows {
				call.a, call.c = unsafe.Add(call.a, strip.MR*call.aRow), unsafe.Add(call.c, strip.MR*call.cRow)
			}
		}
	}
	return &Gemm{Name: name, MR: strip.MR, NR: roundedColumns, size: 4, lanes: 16, nearTerms: farApart, gemvPanels: strip.gemvPanels, rounded: &r}
}

// panelRow is the distance of pairs of terms in a packed panel.
const panelRow = roundedWord * roundedColumns

// packRoundedPanel is Gemm.pack.
func packRoundedPanel(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
	blocks, done := k/roundedDepth, 0
	if cols == roundedColumns && kStride == 4 && blocks > 0 {
		roundPairsTurned(dst, b, blocks, panelRow, nStride)
		roundPairsTurned(unsafe.Add(dst, panelRow/2), unsafe.Add(b, roundedColumns/2*nStride), blocks, panelRow, nStride)
		done = blocks
	}
	for k0 := done * roundedDepth; k0 < k; k0 += roundedDepth {
		packPairs(unsafe.Add(dst, k0/2*panelRow), unsafe.Add(b, k0*kStride), min(roundedDepth, k-k0), cols, kStride, nStride)
	}
}

// packRoundedPanels is Gemm.packRows. It reads b in order, some rows at a time.
func packRoundedPanels(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int) {
	for k0 := 0; k0 < k; k0 += roundedDepth {
		to, from := unsafe.Add(dst, k0/2*panelRow), unsafe.Add(b, k0*kStride)
		for p := range panels {
			packPairs(unsafe.Add(to, p*panelBytes), unsafe.Add(from, p*4*roundedColumns), min(roundedDepth, k-k0), roundedColumns, kStride, 4)
		}
	}
}

// packPairs packs at most 32 terms of at most 32 columns. Incomplete blocks are copied to complete ones first.
func packPairs(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
	if k == roundedDepth && cols == roundedColumns && nStride == 4 {
		roundPairs(dst, b, 1, panelRow, kStride)
		return
	}
	var block [roundedDepth * roundedColumns]float32
	gatherBlock(block[:], b, roundedColumns, k, cols, kStride, nStride)
	roundPairs(dst, unsafe.Pointer(&block), 1, panelRow, 4*roundedColumns)
}

// tileRows are the rows of a tile, which are packed together.
const tileRows = 16

// packRoundedRows is rounded.packLeft.
func packRoundedRows(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
	stride := bfloat16Packed.row(k)
	whole, blocks := rows/tileRows*tileRows, k/roundedDepth
	switch {
	case kStride == 4 && blocks > 0:
		roundRows(dst, a, blocks, stride, rowStride, rows)
		whole = rows
	case rowStride == 4 && whole > 0: // reads a in order, some of its columns at a time; the last tile of rows may overlap another one
		for i := range blocks {
			to, from := unsafe.Add(dst, i*2*roundedDepth), unsafe.Add(a, i*roundedDepth*kStride)
			for r := 0; r < rows; r += tileRows {
				r := min(r, rows-tileRows)
				roundRowsTurned(unsafe.Add(to, r*stride), unsafe.Add(from, r*4), 1, stride, kStride)
			}
		}
		whole = rows
	default:
		whole = 0
	}
	for r := 0; r < rows; r += tileRows {
		k0 := 0
		if r < whole {
			k0 = blocks * roundedDepth
		}
		for ; k0 < k; k0 += roundedDepth {
			var block [tileRows * roundedDepth]float32
			gatherBlock(block[:], unsafe.Add(a, r*rowStride+k0*kStride), roundedDepth, min(tileRows, rows-r), min(roundedDepth, k-k0), rowStride, kStride)
			roundRows(unsafe.Add(dst, r*stride+k0*bfloat16Packed.termBytes), unsafe.Pointer(&block), 1, stride, 4*roundedDepth, tileRows)
		}
	}
}

// gatherBlock copies rows x cols elements to rows of width elements. Strides in bytes.
func gatherBlock(dst []float32, src unsafe.Pointer, width, rows, cols, rowStride, colStride int) {
	for r := range rows {
		row, from := dst[r*width:][:cols], unsafe.Add(src, r*rowStride)
		if colStride == 4 {
			copy(row, slice[float32](from, cols))
			continue
		}
		for j := range row {
			row[j] = *(*float32)(unsafe.Add(from, j*colStride))
		}
	}
}

// The functions that pack take whole blocks of roundedDepth terms, at least one; strides in bytes.

// roundRows rounds rows whose terms follow each other, at least one.
//
//go:noescape
func roundRows(dst, src unsafe.Pointer, blocks, dstStride, srcStride, rows int)

// roundRowsTurned rounds 16 rows that are stored as columns: each term of all rows side by side.
//
//go:noescape
func roundRowsTurned(dst, src unsafe.Pointer, blocks, dstStride, srcStride int)

// roundPairs rounds 32 columns that are stored row by row.
//
//go:noescape
func roundPairs(dst, src unsafe.Pointer, blocks, dstStride, srcStride int)

// roundPairsTurned rounds 16 columns whose terms follow each other.
//
//go:noescape
func roundPairsTurned(dst, src unsafe.Pointer, blocks, dstStride, srcStride int)

// widenRows makes float32 of rows of bfloat16, at least one.
//
//go:noescape
func widenRows(dst, src unsafe.Pointer, blocks, dstStride, srcStride, rows int)

// widenPairs makes two rows of 32 columns of float32 of each row of pairs, at least one.
//
//go:noescape
func widenPairs(dst, src unsafe.Pointer, pairs int)

// gemmTiles multiplies call.strips strips of 32 rows, one below the other, by a panel: call.k tiles deep.
//
//go:noescape
func gemmTiles(call *GemmCall)
