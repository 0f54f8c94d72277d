package subword

import (
	"strings"
	"unicode/utf8"
)

// In files, every byte is a printable character: those that are printable in Latin-1 are themselves, the other 68, in their order,
// are the characters from U+0100 on. A blank becomes "Ġ", a line feed "Ċ".
var (
	byteCharacter [256]rune
	characterByte = map[rune]byte{}
)

func init() {
	next := rune(256)
	for b := range rune(256) {
		if '!' <= b && b <= '~' || '¡' <= b && b <= '¬' || '®' <= b {
			byteCharacter[b] = b
		} else {
			byteCharacter[b] = next
			next++
		}
		characterByte[byteCharacter[b]] = byte(b)
	}
}

// bytesOf returns the bytes that a piece stands for. A piece with a character that is no byte stands for itself.
func bytesOf(piece string) string {
	text := make([]byte, 0, len(piece))
	for _, r := range piece {
		b, ok := characterByte[r]
		if !ok {
			return piece
		}
		text = append(text, b)
	}
	return string(text)
}

// toValidUTF8 replaces invalid UTF-8 by U+FFFD: one for every incomplete beginning of a character, and one for every byte that cannot
// begin a character. (Go's own functions insert one per byte, or one per sequence of invalid bytes.)
func toValidUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			size = incompleteLength(text)
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

// incompleteLength returns the number of bytes of the incomplete character at the start of invalid text, at least 1.
func incompleteLength(text string) int {
	n := 1
	for n < len(text) && !utf8.FullRuneInString(text[:n+1]) {
		n++
	}
	return n
}
