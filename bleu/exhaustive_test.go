package bleu

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every code point is in the classes of mteval-v13a and of chrF++ that their regular expressions, or lists, put it in. White space is
// that of Python 3's str.isspace.
// Caught when planted: each bound of a class moved by one.
func TestASCIIClasses(t *testing.T) {
	symbol, mark := regexp.MustCompile("^[{-~\\[-` -&(-+:-@/]$"), regexp.MustCompile(`^[[:punct:]]$`)
	spaces := []rune{0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000}
	for r := range rune(0x3100) {
		text := string(r)
		for name, class := range map[string][2]bool{
			"symbol": {asciiSymbol(r), symbol.MatchString(text)}, "white space": {isSpace(r), slices.Contains(spaces, r)}, "digit": {digit(r), strings.Contains("0123456789", text)},
			"no digit": {notDigit(r), !strings.Contains("0123456789", text)}, "point or comma": {pointOrComma(r), text == "." || text == ","}, "hyphen": {hyphen(r), text == "-"},
		} {
			if class[0] != class[1] {
				t.Errorf("%U is %s: %v", r, name, class[0])
			}
		}
		if r < utf8.RuneSelf && asciiPunctuation(byte(r)) != mark.MatchString(text) {
			t.Errorf("%U is punctuation: %v", r, asciiPunctuation(byte(r)))
		}
	}
	for b := utf8.RuneSelf; b < 256; b++ {
		if asciiPunctuation(byte(b)) {
			t.Errorf("byte %#x is ASCII punctuation", b)
		}
	}
}

// Lower-case letters as Python 3 gives them, 'ΑΣ'.lower(): a sigma is final after a letter and before none, marks and full stops ignored.
// Caught when planted: the first or the last letter of a line not looked at.
func TestFinalSigma(t *testing.T) {
	for text, want := range map[string]string{
		"Σ": "σ", "ΑΣ": "ας", "ΑΣΑ": "ασα", "Α.Σ": "α.ς", "ΑΣ.Α": "ασ.α", "ΑΣ.": "ας.", "1Σ": "1σ", "ΑΣ1": "ας1", ".Σ": ".σ", "ΑΣ Α": "ας α", "Α Σ": "α σ", "ΣΣ": "σς",
		"İΣ": "i\u0307ς", "aΣ\u0301": "aς\u0301", "aΣ\u0301b": "aσ\u0301b", "\u0301Σ": "\u0301σ", "A\u0301Σ": "a\u0301ς",
	} {
		if got := lower(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Scores of very short lines by hand, and a perfect one, which rounding must not raise above 100.
// Caught when planted: words of order 1 left out; a ratio of one token left out; 101.
func TestShortLines(t *testing.T) {
	perfect, err := Config{}.Sentence("a b c d e f g", "a b c d e f g")
	if err != nil || perfect.Value > 100 || perfect.Value < 100-1e-9 {
		t.Errorf("%v, %v", perfect.Value, err)
	}
	two, err := Config{Smoothing: Unsmoothed}.Sentence("a b", "a")
	if err != nil || !strings.HasSuffix(two.String(), "(BP = 1.000 ratio = 2.000 hyp_len = 2 ref_len = 1)") {
		t.Errorf("%v, %v", two, err)
	}
	// Characters "ab c" without blanks: orders 1 to 3. Of "abd" the matches are a, b; ab; none.
	words, err := ChrF{WordOrder: 1}.Sentence("ab c", "ab d")
	p := (2./3 + 1./2 + 0 + 1./2) / 4 // the last is of words
	if err != nil || math.Abs(words.Value-100*p) > 1e-9 || words.Name != "chrF2+" {
		t.Errorf("%+v, %v, want %v", words, err, 100*p)
	}
	for line, want := range map[string][]string{
		"(hi)": {"(hi", ")"}, "(hi": {"(", "hi"}, "hi!": {"hi", "!"}, ")": {")"}, "é": {"é"}, "é!": {"é", "!"}, "a b,": {"a", "b", ","}, "!?": {"!", "?"}, "": nil,
	} {
		if got := wordsOf(line); !slices.Equal(got, want) {
			t.Errorf("%q has the words %q, want %q", line, got, want)
		}
	}
	for lengths, want := range map[[3]int]bool{{4, 6, 5}: true, {6, 4, 5}: false, {5, 7, 5}: true, {7, 5, 5}: false, {9, 4, 5}: false, {4, 9, 5}: true, {4, 4, 5}: false} {
		if got := nearer(lengths[0], lengths[1], lengths[2]); got != want {
			t.Errorf("%d is nearer than %d to %d: %v", lengths[0], lengths[1], lengths[2], got)
		}
	}
}
