package tags

import (
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A run's own file that got sentences with a new tag is evaluated on like any other file, and not trained with.
// Caught when planted: an error for evaluation, a new tag that is a known one, a training part that gives examples.
func TestNewTagOfTheOwnFile(t *testing.T) {
	c := Tags{Path: write(t, "own", rowsOf(numbers(300), " "))}
	v := open(t, c).Vocabularies()
	c.Path = write(t, "more", strings.ReplaceAll(rowsOf(numbers(300), " "), "I-ODD", "NEW"))
	opened, err := c.OpenWith(v)
	if err != nil {
		t.Fatal(err)
	}
	held, err := opened.HeldOut(task.TestSeed, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range held {
		for i, tag := range e.Origin.(Origin).tags {
			if isNew := tag == "NEW"; isNew != (e.Target[i] == vocab.End) {
				t.Errorf("%+v", e)
			} else if isNew {
				found++
			}
		}
	}
	_, err = task.Drawn(func() task.Example { return opened.Training(1, 0) })
	if found == 0 || err == nil || !strings.Contains(err.Error(), `the data have 1 tag that the run was not trained with, ["NEW"]`) {
		t.Errorf("%d new tags; training draws: %v", found, err)
	}
}
