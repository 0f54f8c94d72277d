package subword

import (
	"strings"
	"unicode/utf8"
)

// run returns the length of the characters of one class at the start of a text.
func run(text string, c class) int {
	n := 0
	for n < len(text) {
		next, size := classAt(text[n:])
		if next != c {
			break
		}
		n += size
	}
	return n
}

var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// firstWord returns the length of the first word of a nonempty text, by the pre-tokenizer of GPT-2, which uses the first of these
// alternatives that matches. The concatenated words are the text again.
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func firstWord(text string) int {
	if text[0] == '\'' {
		for _, c := range contractions {
			if strings.HasPrefix(text, c) {
				return len(c)
			}
		}
	}
	blank := 0
	if text[0] == ' ' && len(text) > 1 {
		blank = 1
	}
	if c, _ := classAt(text[blank:]); c != space {
		return blank + run(text[blank:], c)
	}
	n := run(text, space)
	if n == len(text) {
		return n
	}
	_, last := utf8.DecodeLastRuneInString(text[:n])
	if n == last {
		return n
	}
	return n - last // the last of several blanks begins the next word
}
