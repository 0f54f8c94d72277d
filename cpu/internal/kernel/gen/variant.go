package main

// variant is one combination of registers and element type.
type variant struct {
	name           string // of the functions
	reg            byte   // Z or Y
	rows           int    // at most
	width          int    // bytes of a register
	suffix         string // PS or PD
	broadcast      string
	masked         bool // with mask registers; else with VMASKMOV
	maskLoad, move string
	terms          int // terms of a sum that are multiplied at once: 1, 2 of bfloat16, or 4 of int8
}

var variants = []variant{
	{"gemmZ32", 'Z', 12, 64, "PS", "VBROADCASTSS", true, "", "VMOVUPS", 1},
	{"gemmZ64", 'Z', 12, 64, "PD", "VBROADCASTSD", true, "", "VMOVUPD", 1},
	{"gemmPairs", 'Z', 12, 64, "PS", "VBROADCASTSS", true, "", "VMOVUPS", 2},
	{"gemmQuads", 'Z', 12, 64, "PS", "VBROADCASTSS", true, "", "VMOVUPS", 4},
	{"gemmQuadsY", 'Y', 6, 32, "PS", "VBROADCASTSS", false, "VMASKMOVPS", "VMOVUPS", 4},
	{"gemmY32", 'Y', 6, 32, "PS", "VBROADCASTSS", false, "VMASKMOVPS", "VMOVUPS", 1},
	{"gemmY64", 'Y', 6, 32, "PD", "VBROADCASTSD", false, "VMASKMOVPD", "VMOVUPD", 1},
}

// splitLines lists the widths of gemvSplitK in cache lines: the sums of more do not fit into the registers.
func (v *variant) splitLines() []int {
	switch {
	case v.terms > 1:
		return nil
	case v.masked:
		return []int{1, 2, 3, 4}
	}
	return []int{1}
}

// panelsAtOnce lists the numbers of panels of gemvPanels: the sums of more do not fit into the registers.
func (v *variant) panelsAtOnce() []int {
	if v.panelVectors() == 4 {
		return []int{2}
	}
	return []int{2, 4}
}

// quadsY reports whether four terms of int8 are multiplied without AVX512_VNNI.
func (v *variant) quadsY() bool { return v.terms == 4 && v.reg == 'Y' }

// wordMove moves a vector of words.
func (v *variant) wordMove() string {
	if v.masked {
		return "VMOVDQU32"
	}
	return "VMOVDQU"
}

// panelVectors is the number of vectors of a row of a panel.
func (v *variant) panelVectors() int {
	if v.quadsY() {
		return 4 // half a panel of AVX-512 is a block of gemm
	}
	return 2
}
