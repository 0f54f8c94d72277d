package bleu

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"unicode/utf8"
)

// Every code point is in the class that Python's regex 2026.11.15 puts it in, as this prints:
//
//	python -c 'import hashlib, regex; print(hashlib.sha256("".join(next((k for k in "PSN" if regex.match(r"\p{%s}" % k, chr(c))), ".")
//		for c in range(0x110000) if not 0xD800 <= c < 0xE000).encode()).hexdigest())'
//
// No code point is in two classes.
// Caught when planted: one range of newSymbols left out; a range of newNumbers that includes the punctuation after it.
func TestClassesEqualPython(t *testing.T) {
	const want = "5d9eb481457edfaa557280f26170e838df212f1c2b2fcd5fbc492b49f313075e"
	hash := sha256.New()
	for r := range rune(utf8.MaxRune + 1) {
		class := "."
		switch {
		case !utf8.ValidRune(r):
			continue
		case isPunctuation(r):
			class = "P"
		case isSymbol(r):
			class = "S"
		case !notNumber(r):
			class = "N"
		}
		hash.Write([]byte(class))
		if p, s, n := isPunctuation(r), isSymbol(r), !notNumber(r); p && s || p && n || s && n {
			t.Errorf("%U is in two classes", r)
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("the classes hash to %s, Python's to %s", got, want)
	}
}
