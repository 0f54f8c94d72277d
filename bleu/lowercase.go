package bleu

import (
	"strings"
	"unicode"
)

// lower is Python's lower-casing: Unicode's full mapping, independent of language. Unlike in Go, a capital I with dot becomes two
// code points, and a capital sigma at the end of a word the final small one.
func lower(line string) string {
	if !strings.ContainsAny(line, "İΣ") {
		return strings.ToLower(line)
	}
	var b strings.Builder
	runes := []rune(line)
	for i, r := range runes {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && wordEnds(runes, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// wordEnds is the condition Final_Sigma of the Unicode standard, section 3.13: a cased rune precedes the i-th rune and none follows
// it, ignoring, in both directions, case-ignorable runes.
func wordEnds(line []rune, i int) bool {
	before, after := i-1, i+1
	for before >= 0 && caseIgnores(line[before]) {
		before--
	}
	for after < len(line) && caseIgnores(line[after]) {
		after++
	}
	return before >= 0 && cased(line[before]) && (after == len(line) || !cased(line[after]))
}

// cased reports Unicode's property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// caseIgnores reports Unicode's property Case_Ignorable: marks, format characters, modifiers, and punctuation within words
// (Word_Break MidLetter, MidNumLet and Single_Quote of Unicode Standard Annex 29).
func caseIgnores(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:·‘’․‧\u0387\u055f\u05f4\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r)
}
