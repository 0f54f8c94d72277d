package main

import "fmt"

// quadScales is the distance of the scales of a panel's columns from the end of its terms, behind what their sums start with.
const quadScales = 128

// scaled makes a number of a sum: times the scale of its column, then times that of its row.
func scaled(sum, column, row string) []string {
	return []string{fmt.Sprintf("VCVTDQ2PS %s, %[1]s", sum), fmt.Sprintf("VMULPS %s, %s, %[2]s", column, sum), fmt.Sprintf("VMULPS %s, %s, %[2]s", row, sum)}
}

// dotQuads adds to each sum, a word of 32 bits, the products of four bytes in memory with four in the first register, without AVX512_VNNI. The
// sums of two products must fit into 16 bits, so the bytes in memory have at most 63 of magnitude. ones is a register of ones of 16 bits.
func dotQuads(memory string, first, products, ones, sum int) []string {
	return []string{
		fmt.Sprintf("VPMADDUBSW %s, Y%d, Y%d", memory, first, products),
		fmt.Sprintf("VPMADDWD Y%d, Y%d, Y%[2]d", ones, products),
		fmt.Sprintf("VPADDD Y%d, Y%d, Y%[2]d", products, sum),
	}
}

// int8s writes int8_amd64.s: what rounds the left operand.
//
// Registers: DI SI row of the result and of the source, CX whole vectors of a row, R10 terms behind them, whose mask is K1, R11 terms of a
// packed row, DX rows, R8 R9 distances of rows, AX BX within them, R12 vectors left.
func int8s() map[string][]byte {
	w := &assembly{}
	w.WriteString(header + "#include \"textflag.h\"\n")
	w.begin("quantizeRows", "dst, src unsafe.Pointer, terms, dstStride, srcStride, rows int", 48)
	w.p("MOVQ dst+0(FP), DI", "MOVQ src+8(FP), SI", "MOVQ terms+16(FP), CX", "MOVQ dstStride+24(FP), R8", "MOVQ srcStride+32(FP), R9", "MOVQ rows+40(FP), DX",
		"LEAQ 31(CX), R11", "ANDQ $-32, R11",
		"MOVQ CX, R10", "ANDQ $15, R10", "SHRQ $4, CX",
		"MOVQ CX, R13", "MOVQ R10, CX", "MOVL $1, BX", "SHLL CX, BX", "DECL BX", "KMOVW BX, K1", "MOVQ R13, CX",
		"MOVL $0x7FFFFFFF, BX", "VPBROADCASTD BX, Z31 // the magnitude of a number",
		"MOVL $0x42FE0000, BX", "VMOVD BX, X30 // 127",
		"MOVL $0x3C010204, BX", "VMOVD BX, X29 // 1/127",
		"MOVL $128, BX", "VPBROADCASTD BX, Z28",
		"row:", "VPXORD Z0, Z0, Z0", "MOVQ SI, AX", "MOVQ CX, R12",
		"TESTQ R12, R12", "JE largestOfRest",
		"largest:", "VPANDD (AX), Z31, Z1", "VPMAXUD Z1, Z0, Z0", "ADDQ $64, AX", "DECQ R12", "JNE largest",
		"largestOfRest:", "TESTQ R10, R10", "JE reduce",
		"VMOVUPS.Z (AX), K1, Z1", "VPANDD Z1, Z31, Z1", "VPMAXUD Z1, Z0, Z0",
		"reduce:", "VEXTRACTI64X4 $1, Z0, Y1", "VPMAXUD Y1, Y0, Y0", "VEXTRACTI128 $1, Y0, X1", "VPMAXUD X1, X0, X0",
		"VPSHUFD $0x4E, X0, X1", "VPMAXUD X1, X0, X0", "VPSHUFD $0xB1, X0, X1", "VPMAXUD X1, X0, X0",
		"VMULSS X29, X0, X1", "VMOVSS X1, (DI)(R11*1)", "VDIVSS X0, X30, X2", "VBROADCASTSS X2, Z2",
		"MOVQ SI, AX", "MOVQ DI, BX", "MOVQ CX, R12", "TESTQ R12, R12", "JE rest",
		"vector:", "VMULPS (AX), Z2, Z1", "VCVTPS2DQ Z1, Z1", "VPADDD Z28, Z1, Z1", "VPMOVDB Z1, (BX)",
		"ADDQ $64, AX", "ADDQ $16, BX", "DECQ R12", "JNE vector",
		"rest:", "TESTQ R10, R10", "JE next",
		"VMOVUPS.Z (AX), K1, Z1", "VMULPS Z2, Z1, Z1", "VCVTPS2DQ Z1, Z1", "VPADDD Z28, Z1, Z1", "VPMOVDB Z1, (BX)",
		"next:", "ADDQ R8, DI", "ADDQ R9, SI", "DECQ DX", "JNE row", "VZEROUPPER", "RET")
	quantizeRowsY(w)
	return map[string][]byte{"int8_amd64.s": w.Bytes()}
}

// quantizeRowsY writes the same for AVX2 and whole groups of 32 terms, whose number is in CX.
//
// Registers: DI SI row of the result and of the source, R11 terms of a row, DX rows, R8 R9 distances of rows, AX BX within them, R12 groups left.
// Vectors: 15 mask of a magnitude, 14 13 127 and its inverse, 12 what is added to terms, 11 the low byte of a word, 10 the order of packed words.
func quantizeRowsY(w *assembly) {
	w.begin("quantizeRowsY", "dst, src unsafe.Pointer, groups, dstStride, srcStride, rows int", 48)
	w.p("MOVQ dst+0(FP), DI", "MOVQ src+8(FP), SI", "MOVQ groups+16(FP), CX", "MOVQ dstStride+24(FP), R8", "MOVQ srcStride+32(FP), R9", "MOVQ rows+40(FP), DX",
		"MOVQ CX, R11", "SHLQ $5, R11")
	for _, c := range []struct {
		value    uint32
		register int
	}{{0x7FFFFFFF, 15}, {0x42FE0000, 14}, {0x3C010204, 13}, {128, 12}, {0xFF, 11}} {
		w.p(fmt.Sprintf("MOVL $0x%X, BX", c.value), fmt.Sprintf("VMOVD BX, X%d", c.register), fmt.Sprintf("VPBROADCASTD X%d, Y%[1]d", c.register))
	}
	w.p("VMOVDQU ·packedWords(SB), Y10",
		"row:", "VPXOR Y0, Y0, Y0", "MOVQ SI, AX", "MOVQ CX, R12",
		"largest:")
	for i := range 4 {
		w.p(fmt.Sprintf("VPAND %d(AX), Y15, Y1", 32*i), "VPMAXUD Y1, Y0, Y0")
	}
	w.p("ADDQ $128, AX", "DECQ R12", "JNE largest",
		"VEXTRACTI128 $1, Y0, X1", "VPMAXUD X1, X0, X0",
		"VPSHUFD $0x4E, X0, X1", "VPMAXUD X1, X0, X0", "VPSHUFD $0xB1, X0, X1", "VPMAXUD X1, X0, X0",
		"VMULSS X13, X0, X1", "VMOVSS X1, (DI)(R11*1)", "VDIVSS X0, X14, X2", "VBROADCASTSS X2, Y2",
		"MOVQ SI, AX", "MOVQ DI, BX", "MOVQ CX, R12",
		"group:")
	for i := range 4 {
		w.p(fmt.Sprintf("VMULPS %d(AX), Y2, Y%d", 32*i, 4+i), fmt.Sprintf("VCVTPS2DQ Y%d, Y%[1]d", 4+i),
			fmt.Sprintf("VPADDD Y12, Y%d, Y%[1]d", 4+i), fmt.Sprintf("VPAND Y11, Y%d, Y%[1]d", 4+i))
	}
	w.p("VPACKUSDW Y5, Y4, Y4", "VPACKUSDW Y7, Y6, Y6", "VPACKUSWB Y6, Y4, Y4", "VPERMD Y4, Y10, Y4", "VMOVDQU Y4, (BX)",
		"ADDQ $128, AX", "ADDQ $32, BX", "DECQ R12", "JNE group",
		"ADDQ R8, DI", "ADDQ R9, SI", "DECQ DX", "JNE row", "VZEROUPPER", "RET")
}
