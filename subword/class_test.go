package subword

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"
)

// Every code point is in the class that Python puts it in. A Go with newer tables of Unicode fails here: ids would change.
// Caught when planted: one range of newLetters left out.
func TestClassesEqualPython(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Classes string }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for r := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(r) {
			hash.Write([]byte{"olns"[unicodeClass(r)]})
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != golden.Classes {
		t.Errorf("the classes hash to %s, Python's to %s", got, golden.Classes)
	}
}

// Every code point is in the sets of upper and lower case that Python puts it in.
// Caught when planted: marks in neither; title-case letters in both; one range of new letters left out.
func TestCasesEqualPython(t *testing.T) {
	data, err := os.ReadFile("testdata/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cased string }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for r := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(r) {
			hash.Write([]byte{'0' + byte(casedClass(r))})
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != golden.Cased {
		t.Errorf("the cases hash to %s, Python's to %s", got, golden.Cased)
	}
}

// The cache forgets what was not used lately, and never grows beyond two generations. Caught when planted: a young generation
// that is not emptied; a use that does not make young.
func TestCacheIsBounded(t *testing.T) {
	var c cache
	word := func(i int) string { return string([]byte{byte(i), byte(i >> 8), byte(i >> 16)}) }
	for i := range 5 * cachedWords {
		c.put(word(i), nil)
		if _, ok := c.get(word(0)); !ok {
			t.Fatalf("a word that is always used is forgotten after %d others", i)
		}
		if n := len(c.young) + len(c.old); n > 2*cachedWords {
			t.Fatalf("%d words are kept", n)
		}
	}
	if _, ok := c.get(word(1)); ok {
		t.Error("a word that was never used again is kept")
	}
}
