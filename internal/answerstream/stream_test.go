package answerstream

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// Subwords are written word by word. What is written is always the beginning of the whole text, even if several subwords share a character,
// and at the end the whole text: of lines that end, and of one that is cut off at its limit.
// Caught when planted: line breaks that are written, the last word left out, the second line begun where the first ended.
func TestStreamOfSubwords(t *testing.T) {
	pieces, err := subword.Choice{TokenizerSize: 262}.Pieces(slices.Values([]string{"the cat"}))
	if err != nil {
		t.Fatal(err)
	}
	v := task.OfPieces(pieces)
	answers, lines := []string{"the ☃\ncat 🙂🙂\r\n the", "", "überall"}, []string{"the ☃ cat 🙂🙂   the", "", "überall"}
	var written strings.Builder
	s := New(&written, v.TargetText, pieces.Begins, 3, func() {})
	s.Limits = []int{99, 99, 0}
	parts := 0
	for i, answer := range answers {
		ids, err := pieces.Encode(answer)
		if err != nil {
			t.Fatal(err)
		}
		if s.Limits[i] == 0 {
			s.Limits[i] = len(ids)
		} else {
			ids = append(ids, vocab.End)
		}
		for _, id := range ids {
			before := written.Len()
			s.Add(i, id)
			if written.Len() > before {
				parts++
			}
			if all := strings.Join(lines, "\n") + "\n"; !strings.HasPrefix(all, written.String()) || !utf8.ValidString(written.String()) {
				t.Fatalf("%q is written of %q", written.String(), all)
			}
		}
	}
	if err := s.Rest(); err != nil || written.String() != strings.Join(lines, "\n")+"\n" || parts < 6 {
		t.Errorf("%q in %d parts, %v", written.String(), parts, err)
	}
}

// What is converted to text grows with the number of tokens, not with its square, nor with the number of lines that wait. The text has words of
// eight tokens. Caught when planted: lines that wait are converted, words are converted from the beginning of the line.
func TestStreamConvertsLittle(t *testing.T) {
	const lines, words, length = 5, 300, 8
	converted := 0
	text := func(ids []vocab.ID) string {
		converted += len(ids)
		var b strings.Builder
		for _, id := range ids {
			b.WriteByte(" abcdefg"[id-2])
		}
		return b.String()
	}
	var written strings.Builder
	s := New(&written, text, func(id vocab.ID) bool { return id == 2 }, lines, func() {})
	for i := range s.Limits {
		s.Limits[i] = words * length
	}
	for n := range words * length {
		for line := range lines {
			s.Add(line, vocab.ID(2+n%length))
		}
	}
	want := strings.Repeat(strings.Repeat(" abcdefg", words)+"\n", lines)
	if limit := 2 * lines * words * length; s.Rest() != nil || written.String() != want || converted > limit {
		t.Errorf("%d tokens are converted, more than %d; %d bytes are written of %d", converted, limit, written.Len(), len(want))
	}
}

// A line ends before a text of Stops, and the lines after it do not wait for more of its tokens; at the end also what may be part of a word
// is written. Caught when planted: a line that waits for its End, the last word or the beginning of a text of Stops left out, a line that
// goes on where the one before was cut.
func TestStreamStops(t *testing.T) {
	text := func(ids []vocab.ID) string {
		var b strings.Builder
		for _, id := range ids {
			b.WriteByte(" \nabc"[id-2])
		}
		return b.String()
	}
	var written strings.Builder
	s := New(&written, text, func(id vocab.ID) bool { return id == 2 }, 3, func() {})
	s.Limits, s.Stops = []int{99, 99, 99}, []string{"b\n", "c c", "ba"}
	for _, add := range []struct {
		line int
		text string
		want string
	}{
		{1, "a\nc", ""}, {0, "a b\n", "a \na "}, {1, " c", "a \na "}, {2, "ca c", "a \na "},
	} {
		for i := range len(add.text) {
			s.Add(add.line, vocab.ID(2+strings.IndexByte(" \nabc", add.text[i])))
		}
		if written.String() != add.want {
			t.Errorf("after %q of line %d %q is written, want %q", add.text, add.line, written.String(), add.want)
		}
	}
	if err := s.Rest(); err != nil || written.String() != "a \na \nca c\n" {
		t.Errorf("%q, %v", written.String(), err)
	}
}
