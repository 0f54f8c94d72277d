package task_test

import (
	"slices"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/tasktest"
)

// A task with End behind its sources is a task by all rules, and its examples are those without, longer by End; what people write gets
// End, too. Caught when planted: End left out of held-out examples, or of what is read; a length that counts it.
func TestWithSourceEnd(t *testing.T) {
	plain, err := algorithmic.Addition{Digits: algorithmic.Digits{Base: 10, MaxLength: 20}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	ended := task.WithSourceEnd(plain)
	tasktest.Run(t, ended)
	source, target := plain.MaxLengths()
	if m, n := ended.MaxLengths(); m != source+1 || n != target {
		t.Errorf("longest %d and %d, want %d and %d", m, n, source+1, target)
	}
	same := func(what string, with, without task.Example) {
		t.Helper()
		if !slices.Equal(with.Source, append(slices.Clone(without.Source), vocab.End)) || !slices.Equal(with.Target, without.Target) {
			t.Errorf("%s: %v, want %v and End", what, with, without)
		}
	}
	for i := range int64(50) {
		same("training", ended.Training(3, i), plain.Training(3, i))
	}
	held := func(t2 task.Task) []task.Example {
		examples, err := t2.HeldOut(3, task.Selection{Length: 15, Count: 20})
		if err != nil {
			t.Fatal(err)
		}
		return examples
	}
	with, without := held(ended), held(plain)
	for i := range without {
		if len(without[i].Source) != 15 {
			t.Fatalf("a source of length 15 is %v", without[i].Source)
		}
		same("held out", with[i], without[i])
	}
	definition := algorithmic.Addition{}
	in, err := task.ReaderWithSourceEnd(definition.Reader(ended.Vocabularies())).Read("12+9")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := definition.Reader(plain.Vocabularies()).Read("12+9")
	if err != nil {
		t.Fatal(err)
	}
	same("read", task.Example{Source: in.Source}, task.Example{Source: wanted.Source})
	if len(in.Labels) != len(in.Source) || in.Labels[4] != vocab.EndToken {
		t.Errorf("labels %q", in.Labels)
	}
	if got := task.WithoutEnd(in.Source); !slices.Equal(got, wanted.Source) {
		t.Errorf("without End: %v", got)
	}
}
