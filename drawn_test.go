package ut_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	ut "universal-transformer"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/generated"
	"universal-transformer/universal"
)

// broken is a task that changes some of its examples.
type broken struct {
	generated.Task
	training, heldOut func(e *task.Example)
}

func (b broken) Open() (task.Task, error) {
	opened, err := b.Task.Open()
	return brokenExamples{opened, b}, err
}

type brokenExamples struct {
	task.Task
	broken broken
}

func (b brokenExamples) Training(seed uint64, i int64) task.Example {
	e := b.Task.Training(seed, i)
	if i == 9 {
		b.broken.training(&e)
	}
	return e
}

func (b brokenExamples) HeldOut(seed uint64, s task.Selection) ([]task.Example, error) {
	list, err := b.Task.HeldOut(seed, s)
	if len(list) > 4 {
		b.broken.heldOut(&list[4])
	}
	return list, err
}

// Ids that are not in the vocabularies, of an own task's training, validation and test examples, are errors that name the example.
// Caught when planted: no check of training examples, of validation examples, of those of an evaluation.
func TestIdsOutOfRange(t *testing.T) {
	none := func(*task.Example) {}
	wrong := func(e *task.Example) { e.Target[0] = 50 }
	for want, definition := range map[string]broken{
		"example 9: target id 50 at 0 is outside 1..5":            {reversal(), wrong, none},
		"validation example 5: target id 50 at 0 is outside 1..5": {reversal(), none, wrong},
	} {
		r := briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2})
		r.Task.Value = definition
		if _, err := ut.Train(t.Context(), r, t.TempDir()+"/run", ut.TrainOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r, dir, fine := briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2}), t.TempDir()+"/run", broken{reversal(), none, none}
	r.Task.Value = fine
	if _, err := ut.Train(t.Context(), r, dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	m, err := ut.Load(dir, ut.LoadOptions{Extensions: ut.Extensions{Tasks: []task.Definition{broken{reversal(), none, wrong}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Evaluate(t.Context(), ut.EvaluateOptions{Selection: task.Selection{Count: 20}}); err == nil || !strings.Contains(err.Error(), "example 5: target id 50") {
		t.Errorf("evaluation: %v", err)
	}
}

// A mistake of a user's function that shows in a later example is an error of training and evaluation, not a panic.
// Caught when planted: a panic with an error of another type in Training; one in HeldOut.
func TestLaterMistakeOfDraw(t *testing.T) {
	for inTraining, want := range map[bool]string{true: `update 1: batch: example 0: task reversal: a target that Draw returned: unknown token "z"`, false: `task reversal: a target`} {
		wrong := false
		own := reversal()
		draw := own.Draw
		own.Draw = func(rng *rand.Rand, length int) (source, target []string) {
			if source, target = draw(rng, length); wrong {
				target[0] = "z"
			}
			return source, target
		}
		r := briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2})
		r.Task.Value = watched{own, func(training bool) { wrong = training == inTraining }}
		if _, err := ut.Train(t.Context(), r, t.TempDir()+"/run", ut.TrainOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("in training %v: %v", inTraining, err)
		}
	}
}

// watched says which examples will be drawn.
type watched struct {
	generated.Task
	before func(training bool)
}

func (w watched) Open() (task.Task, error) {
	opened, err := w.Task.Open()
	return watchedExamples{opened, w.before}, err
}

type watchedExamples struct {
	task.Task
	before func(training bool)
}

func (w watchedExamples) Training(seed uint64, i int64) task.Example {
	w.before(true)
	return w.Task.Training(seed, i)
}

func (w watchedExamples) HeldOut(seed uint64, s task.Selection) ([]task.Example, error) {
	w.before(false)
	return w.Task.HeldOut(seed, s)
}
