package tags

import (
	"fmt"
	"strings"
	"testing"
)

// The most frequent tag of the notes is that of the training part, and a training part of one tag is refused, whatever the others have.
// Caught when planted: the most frequent of all words; tags of all words counted.
func TestTagsOfTheTrainingPart(t *testing.T) {
	var rows, same, held strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "w%d MOST\nx MOST\ny FEW\n\n", i)
		fmt.Fprintf(&same, "w%d MOST\n\n", i)
		fmt.Fprintf(&held, "v%d FEW\nz FEW\nz FEW\nz FEW\n\n", i)
	}
	path, other := write(t, "rows", rows.String()), write(t, "held", held.String())
	if notes := strings.Join(open(t, Tags{Path: path, HeldOutPath: other}).Notes(), "\n"); !strings.Contains(notes, `the most frequent, "MOST", is 0.667 of the`) {
		t.Errorf("%s", notes)
	}
	const want = `all words for training have the tag "MOST", and only those held out have others, ["FEW"]; lower task.held_out or add words: at least two tags are needed`
	if _, err := (Tags{Path: write(t, "same", same.String()), HeldOutPath: other}).Open(); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("one tag: %v", err)
	}
}

// Sentences that are nearly all identical are asked about if a part is empty. Caught when planted: an empty part without the question.
func TestIdenticalSentences(t *testing.T) {
	path := write(t, "alike", strings.Repeat("Anna B\npaid O\n\nBonn B\n\n", 100))
	if _, err := (Tags{Path: path}).Open(); err == nil || !strings.Contains(err.Error(), "different ones in 200 sentences: 2; does task.word_column choose the right column?") {
		t.Errorf("%v", err)
	}
}
