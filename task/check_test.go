package task_test

import (
	"errors"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Each kind of task accepts its examples, and refuses others with the reason. The vocabularies have the ids 1 to 5 and 1 to 3; id 1 is End.
// Caught when planted: a bound of Size; no check of sources; an End of a segment required; a class for every id instead of every position.
func TestCheck(t *testing.T) {
	newVocabulary := func(tokens string) *vocab.Vocabulary {
		v, err := vocab.New(strings.Split(tokens, ""))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	pairs := task.Vocabularies{Source: newVocabulary("abcd"), Target: newVocabulary("xy")}
	stories := pairs
	stories.TokensPerPosition = 2
	text := task.Vocabularies{Target: pairs.Target}
	for _, c := range []struct {
		v              task.Vocabularies
		kind           task.Kind
		source, target []vocab.ID
		says           string // "": valid
	}{
		{pairs, task.Transduction, []vocab.ID{2, 5}, []vocab.ID{3, 2, 1}, ""},
		{pairs, task.Transduction, []vocab.ID{2, 1}, []vocab.ID{1}, ""}, // a source with End, an empty answer
		{pairs, task.Transduction, []vocab.ID{6}, []vocab.ID{1}, "source id 6 at 0 is outside 1..5"},
		{pairs, task.Transduction, []vocab.ID{2, -3}, []vocab.ID{1}, "source id -3 at 1"},
		{pairs, task.Transduction, []vocab.ID{0, 2}, []vocab.ID{1}, "source id 0 at 0"},
		{pairs, task.Transduction, []vocab.ID{2}, []vocab.ID{2, 4, 1}, "target id 4 at 1 is outside 1..3"},
		{pairs, task.Transduction, []vocab.ID{2}, []vocab.ID{0, 1}, "target id 0 at 0"},
		{pairs, task.Transduction, []vocab.ID{2}, []vocab.ID{2}, "does not end with End, id 1"},
		{pairs, task.Transduction, []vocab.ID{2}, []vocab.ID{1, 2, 1}, "has an End before its end"},
		{pairs, task.Transduction, []vocab.ID{2}, nil, "the target is empty"},
		{pairs, task.Classification, []vocab.ID{2}, []vocab.ID{3}, ""},
		{pairs, task.Classification, []vocab.ID{2}, []vocab.ID{3, 1}, "is not one class"},
		{pairs, task.Tagging, []vocab.ID{2, 3}, []vocab.ID{3, 3}, ""},
		{pairs, task.Tagging, []vocab.ID{2, 3}, []vocab.ID{3}, "does not have a class for each position"},
		{pairs, task.Tagging, []vocab.ID{2, 3}, []vocab.ID{3, 1}, "does not have a class for each position"},
		{stories, task.Tagging, []vocab.ID{2, 3, 4, 0}, []vocab.ID{3, 2}, ""},
		{stories, task.Tagging, []vocab.ID{2, 3, 4, 0}, []vocab.ID{3, 2, 2, 2}, "does not have a class for each position"},
		{stories, task.Classification, []vocab.ID{2, 3, 4}, []vocab.ID{2}, "source of 3 ids does not consist of whole positions of 2 ids"},
		{stories, task.Classification, []vocab.ID{0, 0}, []vocab.ID{2}, "source id 0 at 0"},
		{stories, task.Classification, []vocab.ID{2, 0, 0, 3}, []vocab.ID{2}, "source id 3 at 3 comes after padding of its position"},
		{text, task.LanguageModeling, nil, []vocab.ID{2, 3}, ""}, // a segment
		{text, task.LanguageModeling, nil, []vocab.ID{2, 1}, ""},
		{text, task.LanguageModeling, nil, []vocab.ID{1, 2}, "has an End before its end"},
		{text, task.LanguageModeling, []vocab.ID{2}, []vocab.ID{2}, "source [2] is not empty"},
	} {
		e := task.Example{Source: c.source, Target: c.target}
		err := c.v.Check(c.kind, e)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v to %v: %v, want %q", c.kind, c.source, c.target, err, c.says)
		}
		if all := c.v.CheckAll(c.kind, []task.Example{e, e}); err != nil && all.Error() != "example 1: "+err.Error() || err == nil && all != nil {
			t.Errorf("%v: of two: %v", c.kind, all)
		}
	}
}

// An ExampleError is returned; other panics go on. Caught when planted: every panic returned; none.
func TestDrawn(t *testing.T) {
	want := &task.ExampleError{Err: errors.New("no such word")}
	if _, err := task.Drawn(func() task.Example { panic(want) }); !errors.Is(err, want) || err.Error() != "no such word" || !errors.Is(err, want.Err) {
		t.Errorf("%v", err)
	}
	if e, err := task.Drawn(func() task.Example { return task.Example{Target: []vocab.ID{1}} }); err != nil || len(e.Target) != 1 {
		t.Errorf("%v, %v", e, err)
	}
	mistake := errors.New("a mistake")
	defer func() {
		if got := recover(); got != mistake {
			t.Errorf("recovered %v", got)
		}
	}()
	_, err := task.Drawn(func() task.Example { panic(mistake) })
	t.Errorf("no panic, but %v", err)
}
