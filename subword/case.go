package subword

import "unicode"

// A cased says in which of two overlapping sets a character is: those before a lower-case letter, and those after an upper-case one.
// Letters without case and marks are in both.
type cased uint8

const (
	upper cased = 1 << iota // Lu, Lt, Lm, Lo, M
	lower                   // Ll, Lm, Lo, M
)

// casedClass returns the sets of a character in Unicode 16; 0 if it is neither letter nor mark.
func casedClass(r rune) cased {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case r < 0x80:
		return 0
	case unicode.Is(unicode.Ll, r) || unicode.Is(newLower, r):
		return lower
	case unicode.Is(unicode.Lu, r) || unicode.Is(unicode.Lt, r) || unicode.Is(newUpper, r):
		return upper
	case unicodeClass(r) == letter || unicode.IsMark(r) || unicode.Is(newMarks, r):
		return upper | lower
	}
	return 0
}

// Upper-case and lower-case letters and marks that Unicode 15.1 and 16 added to 15.0. The other new letters have no case.
var (
	newUpper = &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x1c89, Hi: 0x1c89, Stride: 1}, {Lo: 0xa7cb, Hi: 0xa7cc, Stride: 1}, {Lo: 0xa7da, Hi: 0xa7dc, Stride: 2}},
		R32: []unicode.Range32{{Lo: 0x10d50, Hi: 0x10d65, Stride: 1}},
	}
	newLower = &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x1c8a, Hi: 0x1c8a, Stride: 1}, {Lo: 0xa7cd, Hi: 0xa7cd, Stride: 1}, {Lo: 0xa7db, Hi: 0xa7db, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x10d70, Hi: 0x10d85, Stride: 1}},
	}
	newMarks = &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x897, Hi: 0x897, Stride: 1}},
		R32: []unicode.Range32{
			{Lo: 0x10d69, Hi: 0x10d6d, Stride: 1}, {Lo: 0x10efc, Hi: 0x10efc, Stride: 1}, {Lo: 0x113b8, Hi: 0x113c0, Stride: 1},
			{Lo: 0x113c2, Hi: 0x113c2, Stride: 1}, {Lo: 0x113c5, Hi: 0x113c5, Stride: 1}, {Lo: 0x113c7, Hi: 0x113ca, Stride: 1},
			{Lo: 0x113cc, Hi: 0x113d0, Stride: 1}, {Lo: 0x113d2, Hi: 0x113d2, Stride: 1}, {Lo: 0x113e1, Hi: 0x113e2, Stride: 1},
			{Lo: 0x11f5a, Hi: 0x11f5a, Stride: 1}, {Lo: 0x1611e, Hi: 0x1612f, Stride: 1}, {Lo: 0x1e5ee, Hi: 0x1e5ef, Stride: 1},
		},
	}
)
