package babi_test

import (
	"strings"
	"testing"

	"universal-transformer/task/babi"
)

// The paper's stories are stories, of as many facts as were counted on paper, and short enough for their task.
func TestPrintedStories(t *testing.T) {
	for i, want := range []struct{ figure, facts int }{{5, 4}, {6, 4}, {7, 8}, {8, 38}} {
		s := babi.Stories[i]
		q, err := babi.Story(s.Text)
		if err != nil || s.Figure != want.figure || len(q.Facts) != want.facts {
			t.Errorf("figure %d has %d facts, %v, want %d", s.Figure, len(q.Facts), err, want.facts)
		}
		if !strings.Contains(strings.Join(q.Facts, " "), s.Answer) {
			t.Errorf("figure %d: the answer %s is not in the story", s.Figure, s.Answer)
		}
	}
}
