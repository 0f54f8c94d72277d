package main

// Kernels with booleans, one byte each, and conversions. Comparisons, which write booleans, need the masks of AVX-512.

// optional names the kernels that not all instruction sets have. Comparisons, which write booleans, and wider numbers need AVX-512.
func (m *x86) optional() []string {
	switch {
	case m.wide && m.single():
		return []string{"where", "boolTo", "comparisons"}
	case m.wide:
		return []string{"where", "float32To"}
	case m.single():
		return []string{"where", "boolTo"}
	}
	return []string{"where"}
}

// booleans loads those at a pointer into register 3, as elements of 0 and 1, and advances the pointer. A part changes BX, CX and R12.
func (m *x86) booleans(pointer string, part bool) {
	extend := "VPMOVZXBD"
	if !m.single() {
		extend = "VPMOVZXBQ"
	}
	switch {
	case !part:
		m.p("%s (%s), %s", extend, pointer, m.reg(3))
	case m.wide:
		m.p("VMOVDQU8.Z (%s), K1, X3", pointer)
		m.p("%s X3, %s", extend, m.reg(3))
	default: // byte by byte, from the last one: no page after it may be touched
		m.p("SHRQ $%d, CX", map[int]int{4: 2, 8: 3}[m.size])
		m.p("XORQ BX, BX")
		m.label("booleans")
		m.p("SHLQ $8, BX")
		m.p("MOVBQZX -1(%s)(CX*1), R12", pointer)
		m.p("ORQ R12, BX")
		m.p("DECQ CX")
		m.p("JNE booleans")
		m.p("VMOVQ BX, X3")
		m.p("%s X3, %s", extend, m.reg(3))
	}
	m.p("ADDQ $%d, %s", m.lanes(), pointer)
}

// mask sets the mask where register 3 is 1.
func (m *x86) mask() {
	switch {
	case !m.wide && m.single():
		m.p("VPSLLD $31, Y3, Y14")
	case !m.wide:
		m.p("VPSLLQ $63, Y3, Y14")
	case m.single():
		m.p("VPTESTMD Z3, Z3, K2")
	default:
		m.p("VPTESTMQ Z3, Z3, K2")
	}
}

// whereKernel chooses elements of DX and R8 by the booleans of SI.
func (m *x86) whereKernel() {
	m.function("where", whereArguments, whereNames, []string{"DI", "SI", "DX", "R8", "R9", "R10"})
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.booleans("SI", part)
		m.mask()
		m.load(atB, 0, part)
		m.load(atC, 1, part)
		m.choose(m.reg(2), m.reg(0), m.reg(1))
		m.store(2, atDst, part)
	})
}

// comparison is an operation whose results are booleans.
type comparison struct{ name, op, predicate string }

var comparisons = []comparison{
	{"equal", "Equal", "eq"}, {"notEqual", "NotEqual", "ne"}, {"less", "LessThan", "lt"}, {"lessEqual", "LessOrEqual", "le"},
	{"greater", "GreaterThan", "gt"}, {"greaterEqual", "GreaterOrEqual", "ge"},
}

// comparisons compares float32 and int32.
func (m *x86) comparisons() {
	integers := map[string]int{"eq": 0, "lt": 1, "le": 2, "ne": 4, "ge": 5, "gt": 6}
	for _, o := range comparisons {
		for _, kind := range []string{"", "Integers"} {
			m.begin(o.name + kind)
			m.oneRow()
			m.p("MOVQ $0x0101010101010101, BX")
			m.p("MOVQ BX, X4")
			m.p("VPBROADCASTQ X4, X4")
			m.rows(func() {}, func(part bool) {
				m.load(atA, 0, part)
				m.load(atB, 1, part)
				if kind == "" {
					m.compare(o.predicate, m.reg(0), m.reg(1))
				} else {
					m.p("VPCMPD $%d, Z1, Z0, K2", integers[o.predicate])
				}
				m.p("VMOVDQU8.Z X4, K2, X2")
				if part {
					m.p("VMOVDQU8 X2, K1, (DI)")
				} else {
					m.p("VMOVDQU8 X2, (DI)")
				}
				m.p("ADDQ $%d, DI", m.lanes())
			})
		}
	}
}

// boolKernel converts booleans to 0 and 1.
func (m *x86) boolKernel() {
	m.begin("boolTo")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.booleans("SI", part)
		m.p("VCVTDQ2PS %s, %s", m.reg(3), m.reg(0))
		m.store(0, atDst, part)
	})
}

// widenKernel converts numbers of 4 bytes to numbers of 8.
func (m *x86) widenKernel() {
	m.begin("float32To")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		if part {
			m.p("VMOVUPS.Z (SI), K1, Y0")
			m.p("VCVTPS2PD Y0, Z0")
		} else {
			m.p("VCVTPS2PD (SI), Z0")
		}
		m.p("ADDQ $%d, SI", 4*m.lanes())
		m.store(0, atDst, part)
	})
}

// bitsKernel converts random bits, uint32, for dropout. AVX2 converts signed numbers: both halves are exact, and their sum is
// rounded once.
func (m *x86) bitsKernel() {
	m.begin("uint32To")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load(atA, 0, part)
		if m.wide {
			m.p("VCVTUDQ2PS Z0, Z0")
		} else {
			m.p("VPSRLD $16, Y0, Y1")
			m.p("VCVTDQ2PS Y1, Y1")
			m.p("VPAND %s, Y0, Y0", m.constant("low16"))
			m.p("VCVTDQ2PS Y0, Y0")
			m.fma(m.reg(0), m.reg(1), m.constant("65536"))
		}
		m.store(0, atDst, part)
	})
}
