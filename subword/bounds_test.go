package subword

import (
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

// Invalid UTF-8, replaced as in the Unicode standard, section 3.9, "U+FFFD substitution of maximal subparts", whose tables 3-8 to 3-11
// are the first four cases. "?" stands for U+FFFD in the result.
// Caught when planted: one U+FFFD per byte; U+FFFD in the text taken for an invalid byte; surrogates and characters above U+10FFFF that
// begin a character.
func TestToValidUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41":        "????????A",
		"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41":        "????????A",
		"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42":        "?????A??B",
		"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41":        "????A",
		"\xF3\xBF\xBFx\xF4\x8F\xBFx\xF0\x90\x80":      "?x?x?",
		"\xEF\xBF\xBDa\xFF":                           "?a?", // U+FFFD itself is valid
		"\xEF\xBFa\xEE\x80":                           "?a?",
		"\xDFa\xC2":                                   "?a?",
		"\xE0\xA0a\xE0\x9F":                           "?a??",
		"\xED\x9Fa\xED\xA0":                           "?a??",
		"\xF0\x8Fa\xF5\x80":                           "??a??",
		"\xF4\x90\x80a":                               "???a",
		"é\xE2\x82€\xF0\x9F\x99\xF0\x9F\x99\x82\x82ö": "é?€?🙂?ö",
		"valid": "valid",
		"":      "",
	} {
		if got := strings.ReplaceAll(toValidUTF8(text), "\uFFFD", "?"); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// The smallest subword vocabulary has one piece besides padding and end, and the longest piece has 1000 bytes.
// Caught when planted: a fourth line needed; another limit.
func TestBoundsOfT2T(t *testing.T) {
	const begin = "'<pad>_'\n'<EOS>_'\n"
	for piece, want := range map[string]bool{"'a_'\n": true, "": false, strings.Repeat("a", 1000) + "\n": true, strings.Repeat("a", 1001) + "\n": false} {
		if read, err := readT2T([]byte(begin + piece)); (err == nil) != want || want && read.Size() != 3 {
			t.Errorf("a piece of %d bytes: %v", len(piece), err)
		}
	}
}

// Sizes and counts at their bounds are valid, those beyond are not.
func TestBoundsOfTrainer(t *testing.T) {
	for _, c := range []struct {
		trainer Trainer
		want    string
	}{
		{Trainer{Size: 258}, ""}, {Trainer{Size: 1 << 24}, ""}, {Trainer{}, ""}, {Trainer{MinCount: 1}, ""},
		{Trainer{Size: 257}, "size is 257: it must be at least 258"}, {Trainer{Size: -1}, "size is -1: it must be at least 258"},
		{Trainer{Size: 1<<24 + 1}, "size is 16777217: it can be at most 16777216"}, {Trainer{MinCount: -1}, "min-count is -1"},
	} {
		switch err := c.trainer.Validate(); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("size %d, min count %d: %v, want %q", c.trainer.Size, c.trainer.MinCount, err, c.want)
		}
	}
}

// Text ends before the first end, and leaves out ids that the tokenizer does not have, and padding.
// Caught when planted: the first id after the vocabulary decoded; an end in the first place ignored.
func TestTextIgnoresInvalidIDs(t *testing.T) {
	p, err := ReadPieces([]byte("'<pad>_'\n'<EOS>_'\n'a_'\n'b_'\n"))
	if err != nil {
		t.Fatal(err)
	}
	for want, ids := range map[string][]vocab.ID{
		"a b": {2, 4, 3, -1}, "b": {3, vocab.End, 2}, "": {vocab.End, 2}, "b a": {vocab.Padding, 3, vocab.Padding, 2, 1000, vocab.End},
	} {
		if got := p.Text(ids); got != want {
			t.Errorf("%v is %q, want %q", ids, got, want)
		}
	}
	if p.HasMerges() || (*Pieces)(nil).Digest() != "" {
		t.Error("a list of subwords has merges, or no pieces have a digest")
	}
}

// Messages count from 1 and name the last valid id. Caught when planted: counts from 0 or 2.
func TestMessagesCount(t *testing.T) {
	v := vocabulary{"<pad>": 0, "<end>": 1, "a": 2, "b": 3, "ab": 4}
	special := []addedToken{{ID: 0, Content: "<pad>", Special: true}, {ID: 1, Content: "<end>", Special: true}}
	pieces, isSpecial, err := (&model{Vocabulary: v}).pieces(special)
	if err != nil || len(pieces) != 5 || !isSpecial[1] || isSpecial[2] {
		t.Fatalf("%q, %v, %v", pieces, isSpecial, err)
	}
	for want, pairs := range map[string][]pair{
		`merge 2 of "a" and "b" is given twice`: {{2, 3}, {2, 3}}, `merge 1 makes "aa", which is not in the vocabulary`: {{2, 2}}, `merge 2 makes "ba", which is not in the vocabulary`: {{2, 3}, {3, 2}},
	} {
		if _, err := newBPE(form{}, pieces, isSpecial, pairs, unknown{id: none}); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, err := range map[string]error{
		"id 5 at position 2 (counted from 1) does not exist: ids go from 0 to 4": checkIDs([]vocab.ID{4, 5}, 5), "id -1 at position 1 (counted from 1) does not exist: ids go from 0 to 4": checkIDs([]vocab.ID{-1}, 5),
		"not valid UTF-8 at byte 1": CheckText("\xffa"), "not valid UTF-8 at byte 4": CheckText("aö\xff"), "not valid UTF-8 at byte 3": CheckText("ö\xc3"),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := checkIDs([]vocab.ID{0, 4}, 5); err != nil {
		t.Error(err)
	}
}
