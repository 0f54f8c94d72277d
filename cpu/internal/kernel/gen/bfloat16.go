package main

import (
	"bytes"
	"fmt"
	"strings"
)

// Instructions of AVX512_BF16 and AMX, which Go's assembler does not know, as bytes.

// evex is an instruction of 512 bits on three registers, in map 0F38: dst is changed, first is the middle operand of the manual.
func evex(prefix, opcode byte, dst, first, second int) []byte {
	not := func(register, bit int) byte { return byte(^register>>bit) & 1 }
	return []byte{
		0x62,
		not(dst, 3)<<7 | not(second, 4)<<6 | not(second, 3)<<5 | not(dst, 4)<<4 | 2,
		byte(^first&15)<<3 | 4 | prefix,
		0x40 | not(first, 4)<<3,
		opcode, 0xC0 | byte(dst&7)<<3 | byte(second&7),
	}
}

// vex is an instruction of map 0F38 without a memory operand: tile is changed.
func vex(prefix, opcode byte, tile, first, second int) []byte {
	return []byte{0xC4, 0xE2, byte(^first&15)<<3 | prefix, opcode, 0xC0 | byte(tile)<<3 | byte(second)}
}

// register numbers of the processor.
var registers = map[string]byte{"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SI": 6, "DI": 7, "R8": 8, "R9": 9, "R10": 10, "R11": 11, "R13": 13}

// tileMemory moves a tile whose rows lie stride bytes apart, the first one offset bytes from base.
func tileMemory(prefix byte, tile int, base, stride string, offset byte) []byte {
	b, s := registers[base], registers[stride]
	return []byte{0xC4, 0x80 | (s>>3^1)<<6 | (b>>3^1)<<5 | 2, 0x78 | prefix, 0x4B, 0x44 | byte(tile)<<3, (s&7)<<3 | b&7, offset}
}

const (
	prefix66 = 1
	prefixF3 = 2
	prefixF2 = 3
)

// encoded is a line of assembly for bytes, with what they mean.
func encoded(code []byte, format string, args ...any) string {
	var line strings.Builder
	for _, b := range code {
		fmt.Fprintf(&line, "BYTE $0x%02X; ", b)
	}
	return strings.TrimSuffix(line.String(), "; ") + " // " + fmt.Sprintf(format, args...)
}

// dotPairs adds to each sum the products of two pairs of bfloat16.
func dotPairs(first, second, sum int) string {
	return encoded(evex(prefixF3, 0x52, sum, first, second), "VDPBF16PS Z%d, Z%d, Z%d", second, first, sum)
}

// round makes 32 bfloat16 of 16 numbers of low and 16 of high.
func round(low, high, dst int) string {
	return encoded(evex(prefixF2, 0x72, dst, high, low), "VCVTNE2PS2BF16 Z%d, Z%d, Z%d", low, high, dst)
}

func loadTile(tile int, base, stride string, offset byte) string {
	return encoded(tileMemory(prefixF2, tile, base, stride, offset), "TILELOADD %d(%s)(%s*1), T%d", offset, base, stride, tile)
}

func storeTile(tile int, base, stride string, offset byte) string {
	return encoded(tileMemory(prefixF3, tile, base, stride, offset), "TILESTORED T%d, %d(%s)(%s*1)", tile, offset, base, stride)
}

// assembly collects functions.
type assembly struct{ bytes.Buffer }

func (w *assembly) p(lines ...string) {
	for _, line := range lines {
		if !strings.HasSuffix(line, ":") {
			line = "\t" + line
		}
		fmt.Fprintln(w, line)
	}
}

func (w *assembly) begin(name, arguments string, bytes int) {
	fmt.Fprintf(w, "\n// func %s(%s)\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, arguments, name, bytes)
}

// bfloat16 writes bfloat16_amd64.s: what rounds and packs operands, and the inner loop on tiles.
func bfloat16() map[string][]byte {
	w := &assembly{}
	w.WriteString(header + "#include \"textflag.h\"\n")
	w.data()
	w.tiles()
	w.roundRows()
	w.roundPairs()
	w.widenRows()
	w.widenPairs()
	w.turn("roundRowsTurned", 2*32, (*assembly).pairsOfRows)
	w.turn("roundPairsTurned", 16, (*assembly).rowsAlongK)
	return map[string][]byte{"bfloat16_amd64.s": w.Bytes()}
}

// data writes the tiles' configuration, eight of 16 rows of 64 bytes, and the order that VPERMW makes pairs in.
func (w *assembly) data() {
	config := make([]byte, 64)
	config[0] = 1 // palette
	for t := range 8 {
		config[16+2*t], config[48+t] = 64, 16
	}
	order := make([]byte, 64)
	for i := range 32 {
		order[2*i] = byte(i/2 + i%2*16)
	}
	for _, d := range []struct {
		name string
		data []byte
	}{{"tileConfig", config}, {"pairOrder", order}} {
		fmt.Fprintln(w)
		for i := 0; i < len(d.data); i += 8 {
			var v uint64
			for j, b := range d.data[i : i+8] {
				v |= uint64(b) << (8 * j)
			}
			fmt.Fprintf(w, "DATA %s<>+%d(SB)/8, $0x%016X\n", d.name, i, v)
		}
		fmt.Fprintf(w, "GLOBL %s<>(SB), RODATA|NOPTR, $64\n", d.name)
	}
}

// tiles writes the inner loop of strips of 32 rows, one below the other, by a panel of 32 columns: sums in tiles 0 to 3, two
// tiles of the left operand in 4 and 5, of the right one in 6 and 7, which are 32 terms deep. Go does not interrupt it, so
// tiles are in use nowhere else.
//
// Registers: DI call, R9 blocks of k, AX BX halves of a strip, R8 distance of its rows, SI panel, R10 distance of its rows, DX R13
// halves of c, R12 distance of its rows, in R11 for tiles.
func (w *assembly) tiles() {
	w.begin("gemmTiles", "call *GemmCall", 8)
	w.p("MOVQ call+0(FP), DI",
		"LEAQ tileConfig<>(SB), AX",
		encoded([]byte{0xC4, 0xE2, 0x78, 0x49, 0x00}, "LDTILECFG (AX)"),
		"MOVQ 16(DI), R8", "MOVQ 48(DI), R11", "MOVQ 40(DI), DX", "MOVQ $128, R10",
		"MOVQ 96(DI), R12 // strips",
		"MOVQ 8(DI), R14",
		"strip:",
		"MOVQ R14, AX", "MOVQ R8, BX", "SHLQ $4, BX", "LEAQ (R14)(BX*2), R14", "ADDQ AX, BX",
		"MOVQ R11, R13", "SHLQ $4, R13", "ADDQ DX, R13",
		"MOVQ 32(DI), SI", "MOVQ 0(DI), CX",
		"CMPQ 72(DI), $0", "JE zero")
	sums := func(f func(tile int, base, stride string, offset byte) string) {
		w.p(f(0, "DX", "R11", 0), f(1, "DX", "R11", 64), f(2, "R13", "R11", 0), f(3, "R13", "R11", 64))
	}
	sums(loadTile)
	w.p("JMP terms", "zero:")
	for t := range 4 {
		w.p(encoded(vex(prefixF2, 0x49, t, 0, 0), "TILEZERO T%d", t))
	}
	w.p("terms:",
		loadTile(4, "AX", "R8", 0), loadTile(6, "SI", "R10", 0), loadTile(7, "SI", "R10", 64), loadTile(5, "BX", "R8", 0))
	for t := range 4 {
		left, right := 4+t/2, 6+t%2
		w.p(encoded(vex(prefixF3, 0x5C, t, right, left), "TDPBF16PS T%d, T%d, T%d", right, left, t))
	}
	w.p("ADDQ $64, AX", "ADDQ $64, BX", "ADDQ $2048, SI", "DECQ CX", "JNE terms")
	sums(storeTile)
	w.p("MOVQ R11, R13", "SHLQ $5, R13", "ADDQ R13, DX", "DECQ R12", "JNE strip",
		encoded([]byte{0xC4, 0xE2, 0x78, 0x49, 0xC0}, "TILERELEASE"), "RET")
}

// arguments of the functions that pack; bytes on the frame.
const packArguments = "dst, src unsafe.Pointer, blocks, dstStride, srcStride int"

func (w *assembly) beginPack(name string) {
	w.begin(name, packArguments, 40)
	w.loadPack()
}

// loadPack loads the arguments.
func (w *assembly) loadPack() {
	w.p("MOVQ dst+0(FP), DI", "MOVQ src+8(FP), SI", "MOVQ blocks+16(FP), CX", "MOVQ dstStride+24(FP), R8", "MOVQ srcStride+32(FP), R9")
}

// roundRows writes the rounding of rows whose terms follow each other.
func (w *assembly) roundRows() {
	w.begin("roundRows", packArguments+", rows int", 48)
	w.loadPack()
	w.p("MOVQ rows+40(FP), DX", "row:", "MOVQ DI, AX", "MOVQ SI, BX", "MOVQ CX, R10",
		"block:", "VMOVUPS (BX), Z0", "VMOVUPS 64(BX), Z1", round(0, 1, 2), "VMOVUPS Z2, (AX)",
		"ADDQ $64, AX", "ADDQ $128, BX", "DECQ R10", "JNE block",
		"ADDQ R8, DI", "ADDQ R9, SI", "DECQ DX", "JNE row", "VZEROUPPER", "RET")
}

// widenRows writes the function that makes float32 of rows of bfloat16.
func (w *assembly) widenRows() {
	w.begin("widenRows", packArguments+", rows int", 48)
	w.loadPack()
	w.p("MOVQ rows+40(FP), DX", "row:", "MOVQ DI, AX", "MOVQ SI, BX", "MOVQ CX, R10",
		"block:", "VPMOVZXWD (BX), Z0", "VPMOVZXWD 32(BX), Z1", "VPSLLD $16, Z0, Z0", "VPSLLD $16, Z1, Z1", "VMOVUPS Z0, (AX)", "VMOVUPS Z1, 64(AX)",
		"ADDQ $128, AX", "ADDQ $64, BX", "DECQ R10", "JNE block",
		"ADDQ R8, DI", "ADDQ R9, SI", "DECQ DX", "JNE row", "VZEROUPPER", "RET")
}

// widenPairs writes the function that makes two rows of float32 of each row of pairs of a panel.
func (w *assembly) widenPairs() {
	w.begin("widenPairs", "dst, src unsafe.Pointer, pairs int", 24)
	w.p("MOVQ dst+0(FP), DI", "MOVQ src+8(FP), SI", "MOVQ pairs+16(FP), CX", "VPTERNLOGD $255, Z5, Z5, Z5", "VPSLLD $16, Z5, Z5",
		"pair:", "VMOVUPS (SI), Z0", "VMOVUPS 64(SI), Z1", "VPSLLD $16, Z0, Z2", "VPSLLD $16, Z1, Z3", "VPANDD Z5, Z0, Z0", "VPANDD Z5, Z1, Z1",
		"VMOVUPS Z2, (DI)", "VMOVUPS Z3, 64(DI)", "VMOVUPS Z0, 128(DI)", "VMOVUPS Z1, 192(DI)",
		"ADDQ $128, SI", "ADDQ $256, DI", "DECQ CX", "JNE pair", "VZEROUPPER", "RET")
}

// roundPairs writes the rounding of 32 columns that follow each other: a pair of terms of each, side by side.
func (w *assembly) roundPairs() {
	w.beginPack("roundPairs")
	w.p("VMOVDQU64 pairOrder<>(SB), Z31", "SHLQ $4, CX", "LEAQ (SI)(R9*1), BX", "ADDQ R9, R9",
		"pair:", "VMOVUPS (SI), Z0", "VMOVUPS 64(SI), Z1", "VMOVUPS (BX), Z2", "VMOVUPS 64(BX), Z3",
		round(0, 2, 4), round(1, 3, 5), "VPERMW Z4, Z31, Z4", "VPERMW Z5, Z31, Z5",
		"VMOVUPS Z4, (DI)", "VMOVUPS Z5, 64(DI)",
		"ADDQ R8, DI", "ADDQ R9, SI", "ADDQ R9, BX", "DECQ CX", "JNE pair", "VZEROUPPER", "RET")
}

// turn writes a function that rounds blocks of 16 x 32 to 16 vectors of 16 pairs, transposes them as pairs, and stores them
// dstStride apart.
func (w *assembly) turn(name string, next int, load func(*assembly)) {
	w.beginPack(name)
	w.p("block:", "MOVQ SI, BX")
	load(w)
	w.transpose()
	w.p("MOVQ DI, AX")
	for i := range 16 {
		w.p(fmt.Sprintf("VMOVUPS Z%d, (AX)", i), "ADDQ R8, AX")
	}
	if next == 16 { // the next 16 rows of a panel
		w.p("MOVQ AX, DI", "ADDQ $128, SI")
	} else {
		w.p("ADDQ $64, DI", "MOVQ BX, SI")
	}
	w.p("DECQ CX", "JNE block", "VZEROUPPER", "RET")
}

// pairsOfRows loads 32 terms of 16 columns that follow each other.
func (w *assembly) pairsOfRows() {
	w.p("VMOVDQU64 pairOrder<>(SB), Z31")
	for i := range 16 {
		w.p("VMOVUPS (BX), Z16", "VMOVUPS (BX)(R9*1), Z17", "LEAQ (BX)(R9*2), BX", round(16, 17, i), fmt.Sprintf("VPERMW Z%d, Z31, Z%d", i, i))
	}
}

// rowsAlongK loads 32 terms that follow each other of 16 columns.
func (w *assembly) rowsAlongK() {
	for i := range 16 {
		w.p("VMOVUPS (BX), Z16", "VMOVUPS 64(BX), Z17", "ADDQ R9, BX", round(16, 17, i))
	}
}

// transpose makes vector i of elements i of vectors 0 to 15.
func (w *assembly) transpose() {
	three := func(name string, second, first, dst int) {
		w.p(fmt.Sprintf("%s Z%d, Z%d, Z%d", name, second, first, dst))
	}
	for i := 0; i < 16; i += 2 {
		three("VPUNPCKLDQ", i+1, i, 16+i)
		three("VPUNPCKHDQ", i+1, i, 17+i)
	}
	for g := 0; g < 16; g += 4 {
		three("VPUNPCKLQDQ", 18+g, 16+g, g)
		three("VPUNPCKHQDQ", 18+g, 16+g, g+1)
		three("VPUNPCKLQDQ", 19+g, 17+g, g+2)
		three("VPUNPCKHQDQ", 19+g, 17+g, g+3)
	}
	lanes := func(order, second, first, dst int) {
		w.p(fmt.Sprintf("VSHUFF32X4 $0x%02X, Z%d, Z%d, Z%d", order, second, first, dst))
	}
	for c := range 4 {
		lanes(0x88, 4+c, c, 16+c)
		lanes(0x88, 12+c, 8+c, 20+c)
		lanes(0xDD, 4+c, c, 24+c)
		lanes(0xDD, 12+c, 8+c, 28+c)
	}
	for c := range 4 {
		lanes(0x88, 20+c, 16+c, c)
		lanes(0x88, 28+c, 24+c, 4+c)
		lanes(0xDD, 20+c, 16+c, 8+c)
		lanes(0xDD, 28+c, 24+c, 12+c)
	}
}
