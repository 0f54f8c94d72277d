package kernel

import "unsafe"

// A Gemm multiplies a strip of at most MR rows by a panel of at most NR columns: the register block.
type Gemm struct {
	Name         string // of kernels that round their operands
	MR, NR, size int
	lanes        int // columns that are loaded at once, even if fewer are needed
	directRows   int // maximum number of rows of a product for which reading b in place costs less than packing it
	nearTerms    int // maximum distance of terms, in bytes, at which reading a transposed a in place costs less than copying it
	lateRows     int // maximum number of rows of a product with a transposed a whose panels Multiply packs, one after the other

	// pack copies k x cols elements (cols <= nr), strided in bytes, to [k][nr], with zeros after cols.
	pack func(dst, b unsafe.Pointer, k, cols, kStride, nStride int)

	// packRows copies k rows of whole panels, which are adjacent in b, to panels at a distance of panelBytes. It is nil if pack is as
	// fast.
	packRows func(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int)

	// packStrip copies k terms of at most MR rows, which are adjacent and which the mask has, to [k][MR], with zeros for the other rows. It may write
	// up to 16 bytes more. It is nil if packStrips has nothing faster than Go's loops.
	packStrip func(dst, a unsafe.Pointer, k, kStride int, mask uintptr)

	// run computes c[r, j] (+)= sum over i of a[r, i] * panel[i, j], each sum in the order of i.
	run func(call *GemmCall, rows, cols int)

	// runStrips is run for call.strips strips of MR rows, call.strip bytes apart. It leaves a, c and next of the call at the last one. It is
	// nil if run is as fast.
	runStrips func(call *GemmCall, cols int)

	// gemv computes one row of c in gemvBytes of columns, which are adjacent in the right operand, and does not add to c. It is nil
	// if run is as fast.
	gemv func(call *GemmCall)

	// gemvSplitK computes one row of c in splitKBytes of columns, in twice as many and so on, which are adjacent, each from several partial
	// sums. It is empty if run is as fast.
	gemvSplitK []func(call *GemmCall)

	// gemvPanels computes one row of c in the columns of two whole panels, which are packed, and of four, each sum in the order of i. They
	// are nil if run is as fast.
	gemvPanels [2]func(call *GemmCall)

	// gemvDots computes one row of c in call.strips times DotsColumns columns, if the terms of a sum are adjacent in both operands
	// and fill whole vectors of dotsBytes, each from several partial sums. It is nil if run is as fast.
	gemvDots func(call *GemmCall)

	rounded *rounded // if not nil, operands are rounded, and only the packing functions above are set
}

// Rounds reports whether operands are rounded, to bfloat16 or int8.
func (kr *Gemm) Rounds() bool { return kr.rounded != nil }

// panelBytes returns the memory of k rows of a packed panel.
func (kr *Gemm) panelBytes(k int) int {
	if kr.rounded != nil {
		return kr.rounded.panelBytes(k)
	}
	return k * kr.NR * kr.size
}

// DotsColumns is the number of columns that Gemm.gemvDots computes at once.
const DotsColumns = 8

// PartialSums is the number of sums of which Gemm.gemvSplitK makes one: sum i of every PartialSums-th term from term i on, and sum 0 also of
// the terms after the last whole number of them.
const PartialSums = 4

const (
	gemvBytes   = 256 // width of the columns of Gemm.gemv
	splitKBytes = 64  // width of the columns of Gemm.gemvSplitK
	dotsBytes   = 32
)

// GemmCall holds the arguments of an inner loop: c[r, j] (+)= sum over i < k of a[r*aRow + i*aK] * panel[i*panelRow + j].
// Distances are in bytes. gen/gemm.go knows its layout.
type GemmCall struct {
	k     int
	a     unsafe.Pointer
	aRow  int
	aK    int
	panel unsafe.Pointer
	c     unsafe.Pointer
	cRow  int

	// Masks of the columns to load and store, for the first and second vector of a row: bits, or the address of a mask vector. Of
	// masks with addresses only the last of a row is read, as all other vectors are whole.
	masks    [2]uintptr
	add      int // if not 0, add to c
	panelRow int

	next   uintptr // start of the next call's a, which is prefetched, 64 bytes for each k, and never read
	strips int     // number of strips of gemmTiles and Gemm.runStrips, or of column groups of gemvDots

	following uintptr // of the next panel, or 0; never read, and the inner loops do not know it
	panels    int     // distance of the panels of gemvPanels
	strip     int     // distance of the strips of Gemm.runStrips
}

// prefetch sets what a call prefetches: the strip after its own or, in the calls of the last two strips of a panel, one half each of the
// next panel, which comes from beyond the second cache if the right operand is large.
func (c *GemmCall) prefetch(strip, left int) {
	c.next = uintptr(c.a) + uintptr(strip)
	if c.following != 0 && left < 2 {
		c.next = c.following + uintptr(left*c.k*64)
	}
}
