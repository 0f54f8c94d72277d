package pipeline

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// Sub-words are written word by word: at no time is there anything that the whole text does not begin with, also where a character is
// cut into several sub-words, and in the end it is all there, of lines that end and of one that is cut off, without the line breaks that a
// model may answer with.
// Caught when planted: line breaks that are written, the last word left out, the second line begun where the first ended.
func TestStreamOfSubwords(t *testing.T) {
	pieces, err := subword.Choice{TokenizerSize: 262}.Pieces(slices.Values([]string{"the cat"}))
	if err != nil {
		t.Fatal(err)
	}
	v := task.OfPieces(pieces)
	answers, lines := []string{"the ☃\ncat 🙂🙂\r\n the", "", "überall"}, []string{"the ☃ cat 🙂🙂   the", "", "überall"}
	var written strings.Builder
	s := stream{w: &written, text: (&Model{Vocabularies: v}).text, whole: true, found: make([][]vocab.ID, 3), limits: []int{99, 99, 0}, failed: make([]bool, 3), cancel: func() {}}
	parts := 0
	for i, answer := range answers {
		ids, err := pieces.Encode(answer)
		if err != nil {
			t.Fatal(err)
		}
		if s.limits[i] == 0 {
			s.limits[i] = len(ids)
		} else {
			ids = append(ids, vocab.End)
		}
		for _, id := range ids {
			before := written.Len()
			s.chosen(i, id)
			if written.Len() > before {
				parts++
			}
			if all := strings.Join(lines, "\n") + "\n"; !strings.HasPrefix(all, written.String()) || !utf8.ValidString(written.String()) {
				t.Fatalf("%q is written of %q", written.String(), all)
			}
		}
	}
	if err := s.rest(); err != nil || written.String() != strings.Join(lines, "\n")+"\n" || parts < 6 {
		t.Errorf("%q in %d parts, %v", written.String(), parts, err)
	}
}
