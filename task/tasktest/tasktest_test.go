package tasktest

import (
	"errors"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// spoilt is a good task with some of its answers changed.
type spoilt struct {
	task.Task
	training func(good task.Task, seed uint64, i int64) task.Example
	heldOut  func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error)
}

func (s spoilt) Training(seed uint64, i int64) task.Example {
	if s.training == nil {
		return s.Task.Training(seed, i)
	}
	return s.training(s.Task, seed, i)
}

func (s spoilt) HeldOut(seed uint64, sel task.Selection) ([]task.Example, error) {
	if s.heldOut == nil {
		return s.Task.HeldOut(seed, sel)
	}
	return s.heldOut(s.Task, seed, sel)
}

var (
	calls int64
	kept  = map[int64]task.Example{}
)

// Every rule, broken in one way or another, is seen by the check it belongs to.
func TestChecksSeeBrokenTasks(t *testing.T) {
	for name, c := range map[string]struct {
		check string
		task  spoilt
	}{
		"no end": {"examples are valid", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			e := good.Training(seed, i)
			e.Target = e.Target[:len(e.Target)-1]
			return e
		}}},
		"an end too early": {"examples are valid", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			e := good.Training(seed, i)
			e.Target[0] = vocab.End
			return e
		}}},
		"an id too large": {"examples are valid", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			e := good.Training(seed, i)
			if i == 50 {
				e.Source[0] = vocab.ID(good.Vocabularies().Source.Size())
			}
			return e
		}}},
		"too long": {"examples are valid", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			e := good.Training(seed, i)
			for range 40 {
				e.Source = append(e.Source, 2)
			}
			return e
		}}},
		"depends on what came before": {"training is a function of seed and index", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			calls++
			return good.Training(seed, calls)
		}}},
		"hands out what it keeps": {"the caller owns an example", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			if _, ok := kept[i]; !ok {
				kept[i] = good.Training(seed, i)
			}
			return kept[i]
		}}},
		"ignores the seed": {"seeds differ", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example { return good.Training(7, i) }}},
		"padding in held-out": {"held-out is valid and deterministic", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			held, err := good.HeldOut(seed, s)
			held[3].Source[0] = vocab.Padding
			return held, err
		}}},
		"another held-out set every time": {"held-out is valid and deterministic", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			calls++
			return good.HeldOut(uint64(calls), s)
		}}},
		"evaluates on training data": {"held-out is not the training stream", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			var held []task.Example
			for i := range int64(s.Count) {
				held = append(held, good.Training(seed, i))
			}
			return held, nil
		}}},
		"count changes the examples": {"a smaller count is a prefix", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			return good.HeldOut(seed+uint64(s.Count), s)
		}}},
		"takes any selection": {"bad selections are refused", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			return good.HeldOut(seed, task.Selection{Count: 1})
		}}},
		"a hard case without an end": {"hard cases, or a refusal", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			held, err := good.HeldOut(seed, s)
			if s.Hard {
				held[5].Target = held[5].Target[:0]
			}
			return held, err
		}}},
		"no hard cases": {"hard cases, or a refusal", spoilt{heldOut: func(task.Task, uint64, task.Selection) ([]task.Example, error) { return nil, nil }}},
		"a refusal that names no field": {"hard cases, or a refusal", spoilt{heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			return nil, errors.New("no hard cases")
		}}},
		"an unreadable source": {"text round trip", spoilt{training: func(good task.Task, seed uint64, i int64) task.Example {
			e := good.Training(seed, i)
			e.Source[len(e.Source)-1] = 99
			return e
		}}},
	} {
		c.task.Task, _ = algorithmic.Copy{}.Open()
		found := false
		for _, rule := range checks {
			if rule.name == c.check {
				found = true
				if err := rule.check(c.task); err == nil {
					t.Errorf("%s: %q does not see it", name, c.check)
				}
			}
		}
		if !found {
			t.Errorf("there is no check %q", c.check)
		}
	}
}

// What is wrong with a selection that a task accepts is in the message: String of {Count: -1} is that of the default, which is valid.
// Caught when planted: the selection's String.
func TestAcceptedSelectionIsShownByItsFields(t *testing.T) {
	good, err := algorithmic.Copy{}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for want, bad := range map[string]func(task.Selection) bool{
		"Count:-1":        func(s task.Selection) bool { return s.Count < 0 },
		"Length:-1":       func(s task.Selection) bool { return s.Length < 0 },
		"Length:3 Mix:3 ": func(s task.Selection) bool { return s.Length > 0 && s.Mix > 0 },
	} {
		accepts := spoilt{Task: good, heldOut: func(good task.Task, seed uint64, s task.Selection) ([]task.Example, error) {
			if bad(s) {
				return nil, nil
			}
			return good.HeldOut(seed, s)
		}}
		if err := badSelections(accepts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want the field %s", err, want)
		}
	}
}
