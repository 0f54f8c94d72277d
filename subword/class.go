package subword

import (
	"unicode"
	"unicode/utf8"
)

// A class of characters. Every character is in one class.
type class uint8

const (
	other class = iota
	letter
	number
	space
)

var asciiClass = func() (classes [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = unicodeClass(r)
	}
	return classes
}()

// unicodeClass returns the class of a character in Unicode 16, which other libraries use.
func unicodeClass(r rune) class {
	switch {
	case unicode.IsLetter(r) || unicode.Is(newLetters, r):
		return letter
	case unicode.IsNumber(r) || unicode.Is(newNumbers, r):
		return number
	case unicode.Is(unicode.White_Space, r):
		return space
	}
	return other
}

// classAt returns the class of the first character of a nonempty text, and the character's size.
func classAt(text string) (class, int) {
	if text[0] < utf8.RuneSelf {
		return asciiClass[text[0]], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return unicodeClass(r), size
}

// Letters and numbers that Unicode 15.1 and 16 added to 15.0, whose tables Go has.
var (
	newLetters = &unicode.RangeTable{
		R16: []unicode.Range16{
			{Lo: 0x1c89, Hi: 0x1c8a, Stride: 1}, {Lo: 0xa7cb, Hi: 0xa7cd, Stride: 1}, {Lo: 0xa7da, Hi: 0xa7dc, Stride: 1},
		},
		R32: []unicode.Range32{
			{Lo: 0x105c0, Hi: 0x105f3, Stride: 1}, {Lo: 0x10d4a, Hi: 0x10d65, Stride: 1}, {Lo: 0x10d6f, Hi: 0x10d85, Stride: 1},
			{Lo: 0x10ec2, Hi: 0x10ec4, Stride: 1}, {Lo: 0x11380, Hi: 0x11389, Stride: 1}, {Lo: 0x1138b, Hi: 0x1138b, Stride: 1},
			{Lo: 0x1138e, Hi: 0x1138e, Stride: 1}, {Lo: 0x11390, Hi: 0x113b5, Stride: 1}, {Lo: 0x113b7, Hi: 0x113b7, Stride: 1},
			{Lo: 0x113d1, Hi: 0x113d1, Stride: 1}, {Lo: 0x113d3, Hi: 0x113d3, Stride: 1}, {Lo: 0x11bc0, Hi: 0x11be0, Stride: 1},
			{Lo: 0x13460, Hi: 0x143fa, Stride: 1}, {Lo: 0x16100, Hi: 0x1611d, Stride: 1}, {Lo: 0x16d40, Hi: 0x16d6c, Stride: 1},
			{Lo: 0x18cff, Hi: 0x18cff, Stride: 1}, {Lo: 0x1e5d0, Hi: 0x1e5ed, Stride: 1}, {Lo: 0x1e5f0, Hi: 0x1e5f0, Stride: 1},
			{Lo: 0x2ebf0, Hi: 0x2ee5d, Stride: 1},
		},
	}
	newNumbers = &unicode.RangeTable{R32: []unicode.Range32{
		{Lo: 0x10d40, Hi: 0x10d49, Stride: 1}, {Lo: 0x116d0, Hi: 0x116e3, Stride: 1}, {Lo: 0x11bf0, Hi: 0x11bf9, Stride: 1},
		{Lo: 0x16130, Hi: 0x16139, Stride: 1}, {Lo: 0x16d70, Hi: 0x16d79, Stride: 1}, {Lo: 0x1ccf0, Hi: 0x1ccf9, Stride: 1},
		{Lo: 0x1e5f1, Hi: 0x1e5fa, Stride: 1},
	}}
)
