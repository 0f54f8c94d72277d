package subword

import (
	"strings"
	"unicode/utf8"
)

// A splitter returns the length of the first word of a nonempty text. The words of a text, in order, are the text again.
type splitter func(text string) int

// The patterns of published pre-tokenizers, and what they have in common. Each is a list of alternatives, of which the first that matches
// counts.
const (
	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	ending       = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	digit        = `\p{N}`
	threeDigits  = `\p{N}{1,3}`
	prefix       = `[^\r\n\p{L}\p{N}]?`
	upperSet     = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowerSet     = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	endsInLower  = prefix + upperSet + `*` + lowerSet + `+`
	beginsInCaps = prefix + upperSet + `+` + lowerSet + `*`
	blanks       = `|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// splitters maps the patterns to functions that find their matches in linear time:
//
//   - GPT-2;
//   - GPT-4 and Llama 3, and with single digits Qwen 2 and 3;
//   - GPT-4o, gpt-oss and Llama 4, and without endings and with single digits Mistral Nemo.
var splitters = func() map[string]splitter {
	all := map[string]splitter{gpt2Pattern: firstWord}
	for digits, maxDigits := range map[string]int{digit: 1, threeDigits: 3} {
		all[ending+`|`+prefix+`\p{L}+|`+digits+`| ?[^\s\p{L}\p{N}]+[\r\n]*`+blanks] = modern{digits: maxDigits, after: "\r\n", word: anyCase}.first
		for end, ends := range map[string]bool{"": false, ending + `?`: true} {
			all[endsInLower+end+`|`+beginsInCaps+end+`|`+digits+`| ?[^\s\p{L}\p{N}]+[\r\n/]*`+blanks] =
				modern{digits: maxDigits, after: "\r\n/", word: caseWord(ends)}.first
		}
	}
	return all
}()

// A modern pattern has words with their endings, groups of digits, runs of other characters with line ends, and white space.
type modern struct {
	digits int                   // maximum number of digits of a group
	after  string                // characters that may follow a run of other characters
	word   func(text string) int // length of the word at the start of a text, with one character before it; 0 if there is none
}

func (m modern) first(text string) int {
	if n := m.word(text); n > 0 {
		return n
	}
	c, size := classAt(text)
	switch {
	case c == number:
		return m.group(text)
	case c == other:
		return m.others(text)
	case text[0] == ' ' && len(text) > size:
		if next, _ := classAt(text[1:]); next == other {
			return 1 + m.others(text[1:])
		}
	}
	return whiteSpace(text)
}

// group returns the length of up to m.digits digits.
func (m modern) group(text string) (n int) {
	for range m.digits {
		if n == len(text) {
			break
		}
		c, size := classAt(text[n:])
		if c != number {
			break
		}
		n += size
	}
	return n
}

// others returns the length of characters that are neither letters nor numbers nor white space, and of m.after.
func (m modern) others(text string) int {
	n := run(text, other)
	return len(text) - len(strings.TrimLeft(text[n:], m.after))
}

// whiteSpace returns the length of white space up to the last line end in it, or else all of it, but without the last character if
// something else follows and it is not the only one.
//
//	\s*[\r\n]+|\s+(?!\S)|\s+
func whiteSpace(text string) int {
	n := run(text, space)
	if last := strings.LastIndexAny(text[:n], "\r\n"); last >= 0 {
		return last + 1
	}
	if n == len(text) {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(text[:n]); last < n {
		return n - last
	}
	return n
}

// anyCase returns the length of an ending or of letters.
func anyCase(text string) int {
	if n := endingLength(text); n > 0 {
		return n
	}
	before := prefixLength(text)
	if n := run(text[before:], letter); n > 0 {
		return before + n
	}
	return 0
}

// caseWord returns a function that returns the length of letters and marks of which upper-case ones come first, with an ending if ends is
// true.
func caseWord(ends bool) func(text string) int {
	return func(text string) int {
		n := 0
		for _, of := range []func(string) int{lowerEnd, upperStart} {
			if before := prefixLength(text); before > 0 {
				if n = of(text[before:]); n > 0 {
					n += before
				}
			}
			if n == 0 {
				n = of(text)
			}
			if n > 0 {
				break
			}
		}
		if n > 0 && ends {
			n += endingLength(text[n:])
		}
		return n
	}
}

// prefixLength returns the length of the first character if it may come before a word: it is neither letter, nor number, nor line end.
func prefixLength(text string) int {
	c, size := classAt(text)
	if c == letter || c == number || text[0] == '\r' || text[0] == '\n' {
		return 0
	}
	return size
}

// lowerEnd returns the length of the match of
//
//	[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
//
// A run of the first set is followed by one of the second. If none follows, the first gives back characters until the next is of both.
func lowerEnd(text string) int {
	n, both := 0, 0 // length of the run of the first set, and up to its last character that is of both
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		set := casedClass(r)
		if set&upper == 0 {
			break
		}
		if n += size; set&lower != 0 {
			both = n
		}
	}
	if rest := runOf(text[n:], lower); rest > 0 {
		return n + rest
	}
	return both
}

// upperStart returns the length of the match of
//
//	[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*
//
// where lowerEnd has found nothing, so that no character of the second set follows.
func upperStart(text string) int { return runOf(text, upper) }

// runOf returns the length of the characters of a set at the start of a text.
func runOf(text string, set cased) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if casedClass(r)&set == 0 {
			break
		}
		n += size
	}
	return n
}

// endingLength returns the length of an ending such as 've, in any case, at the start of a text. A long s is an s.
func endingLength(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	if strings.HasPrefix(text[1:], "ſ") {
		return len("'ſ")
	}
	for _, c := range contractions {
		if len(text) >= len(c) && strings.EqualFold(text[:len(c)], c) {
			return len(c)
		}
	}
	return 0
}
