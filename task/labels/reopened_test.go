package labels

import (
	"errors"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A run's own file that got rows with a new label is evaluated on like any other file, in which such rows count as wrong, and not trained
// with.
// Caught when planted: an error for evaluation, a new label that is a known one, a training part that gives examples.
func TestNewLabelOfTheOwnFile(t *testing.T) {
	c := Labels{Path: write(t, numbers(400)...), Tokenizer: vocab.Whitespace}
	v := open(t, c).Vocabularies()
	rows := numbers(400)
	for i := range rows {
		rows[i][1] = "new"
	}
	c.Path = write(t, append(rows, []string{"known", "none"})...)
	opened, err := c.OpenWith(v)
	if err != nil {
		t.Fatal(err)
	}
	held, err := opened.HeldOut(task.TestSeed, task.Selection{})
	if err != nil || len(held) == 0 {
		t.Fatalf("%d examples, %v", len(held), err)
	}
	for _, e := range held {
		if o := e.Origin.(Origin); o.label == "new" && e.Target[0] != vocab.End {
			t.Errorf("%+v", e)
		}
	}
	_, err = task.Drawn(func() task.Example { return opened.Training(1, 0) })
	var refused *task.ExampleError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), `the data have 1 label that the run was not trained with, ["new"]: leave these rows out`) {
		t.Errorf("training draws: %v", err)
	}
}
