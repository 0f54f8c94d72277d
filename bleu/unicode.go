package bleu

import "unicode"

// The tokenizer intl uses Unicode's classes P, S and N, as in Python's regex.

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.Is(newPunctuation, r) }
func isSymbol(r rune) bool      { return unicode.IsSymbol(r) || unicode.Is(newSymbols, r) }
func notNumber(r rune) bool     { return !unicode.IsNumber(r) && !unicode.Is(newNumbers, r) }

// Characters of these classes in regex 2026.11.15, the newest for sacreBLEU 2.6.0, that are missing in Unicode 15.0, whose tables Go
// 1.26 has.
var (
	newPunctuation = &unicode.RangeTable{
		R16: []unicode.Range16{
			{Lo: 0x1b4e, Hi: 0x1b4f, Stride: 1}, {Lo: 0x1b7f, Hi: 0x1b7f, Stride: 1}, {Lo: 0x2e60, Hi: 0x2e63, Stride: 1},
		},
		R32: []unicode.Range32{
			{Lo: 0x10d6e, Hi: 0x10d6e, Stride: 1}, {Lo: 0x10ed0, Hi: 0x10ed0, Stride: 1}, {Lo: 0x113d4, Hi: 0x113d5, Stride: 1},
			{Lo: 0x113d7, Hi: 0x113d8, Stride: 1}, {Lo: 0x11be1, Hi: 0x11be1, Stride: 1}, {Lo: 0x16d6d, Hi: 0x16d6f, Stride: 1},
			{Lo: 0x1e5ff, Hi: 0x1e5ff, Stride: 1},
		},
	}
	newSymbols = &unicode.RangeTable{
		R16: []unicode.Range16{
			{Lo: 0x20c1, Hi: 0x20c4, Stride: 1}, {Lo: 0x2427, Hi: 0x2429, Stride: 1}, {Lo: 0x2b96, Hi: 0x2b96, Stride: 1},
			{Lo: 0x2ffc, Hi: 0x2fff, Stride: 1}, {Lo: 0x31e4, Hi: 0x31e5, Stride: 1}, {Lo: 0x31ef, Hi: 0x31ef, Stride: 1},
			{Lo: 0xfbc3, Hi: 0xfbd2, Stride: 1}, {Lo: 0xfd90, Hi: 0xfd91, Stride: 1}, {Lo: 0xfdc8, Hi: 0xfdce, Stride: 1},
		},
		R32: []unicode.Range32{
			{Lo: 0x10d8e, Hi: 0x10d8f, Stride: 1}, {Lo: 0x10ec9, Hi: 0x10eca, Stride: 1}, {Lo: 0x10ed1, Hi: 0x10ed8, Stride: 1},
			{Lo: 0x1cc00, Hi: 0x1ccef, Stride: 1}, {Lo: 0x1ccfa, Hi: 0x1ccfc, Stride: 1}, {Lo: 0x1cd00, Hi: 0x1ceb3, Stride: 1},
			{Lo: 0x1ceba, Hi: 0x1ced0, Stride: 1}, {Lo: 0x1ced2, Hi: 0x1ced4, Stride: 1}, {Lo: 0x1cedd, Hi: 0x1cefd, Stride: 1},
			{Lo: 0x1d1eb, Hi: 0x1d1ff, Stride: 1}, {Lo: 0x1d253, Hi: 0x1d25a, Stride: 1}, {Lo: 0x1d25d, Hi: 0x1d25e, Stride: 1},
			{Lo: 0x1d260, Hi: 0x1d27f, Stride: 1}, {Lo: 0x1db00, Hi: 0x1db1c, Stride: 1}, {Lo: 0x1f1ae, Hi: 0x1f1ae, Stride: 1},
			{Lo: 0x1f6d8, Hi: 0x1f6d9, Stride: 1}, {Lo: 0x1f777, Hi: 0x1f77a, Stride: 1}, {Lo: 0x1f7da, Hi: 0x1f7db, Stride: 1},
			{Lo: 0x1f7f1, Hi: 0x1f7ff, Stride: 1}, {Lo: 0x1f8b2, Hi: 0x1f8bb, Stride: 1}, {Lo: 0x1f8c0, Hi: 0x1f8c1, Stride: 1},
			{Lo: 0x1f8d0, Hi: 0x1f8d8, Stride: 1}, {Lo: 0x1fa54, Hi: 0x1fa57, Stride: 1}, {Lo: 0x1fa89, Hi: 0x1fa8f, Stride: 1},
			{Lo: 0x1fabe, Hi: 0x1fabe, Stride: 1}, {Lo: 0x1fac6, Hi: 0x1fac6, Stride: 1}, {Lo: 0x1fac8, Hi: 0x1fac8, Stride: 1},
			{Lo: 0x1facc, Hi: 0x1facd, Stride: 1}, {Lo: 0x1fadc, Hi: 0x1fadd, Stride: 1}, {Lo: 0x1fadf, Hi: 0x1fadf, Stride: 1},
			{Lo: 0x1fae9, Hi: 0x1faeb, Stride: 1}, {Lo: 0x1faef, Hi: 0x1faef, Stride: 1}, {Lo: 0x1faf9, Hi: 0x1fafa, Stride: 1},
			{Lo: 0x1fbcb, Hi: 0x1fbef, Stride: 1}, {Lo: 0x1fbfa, Hi: 0x1fbfa, Stride: 1},
		},
	}
	newNumbers = &unicode.RangeTable{
		R32: []unicode.Range32{
			{Lo: 0x10d40, Hi: 0x10d49, Stride: 1}, {Lo: 0x116d0, Hi: 0x116e3, Stride: 1}, {Lo: 0x11bf0, Hi: 0x11bf9, Stride: 1},
			{Lo: 0x11de0, Hi: 0x11de9, Stride: 1}, {Lo: 0x1246f, Hi: 0x1246f, Stride: 1}, {Lo: 0x12475, Hi: 0x1247f, Stride: 1},
			{Lo: 0x12550, Hi: 0x12686, Stride: 1}, {Lo: 0x16130, Hi: 0x16139, Stride: 1}, {Lo: 0x16d70, Hi: 0x16d79, Stride: 1},
			{Lo: 0x16ff4, Hi: 0x16ff6, Stride: 1}, {Lo: 0x1ccf0, Hi: 0x1ccf9, Stride: 1}, {Lo: 0x1e5f1, Hi: 0x1e5fa, Stride: 1},
		},
	}
)
