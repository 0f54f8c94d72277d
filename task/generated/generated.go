// Package generated makes tasks of functions that draw examples:
//
//	generated.Task{
//		Name:       "sort",
//		Vocabulary: strings.Split("0123456789", ""),
//		MaxLength:  20,
//		Draw: func(rng *rand.Rand, length int) (source, target []string) {
//			for range length {
//				source = append(source, strconv.Itoa(rng.IntN(10)))
//			}
//			return source, slices.Sorted(slices.Values(source))
//		},
//	}
//
// Validation and test sources never occur in training, as far as there are enough sources of a length: a hash of the source decides which
// part it belongs to, and Draw is called until one belongs to the part that is wanted.
package generated

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/table"
)

// Task is a task whose examples are drawn by a function. A run directory records it under "go:" and its name, with the fields that have JSON
// names; to load the model, pass the task in Extensions.Tasks.
type Task struct {
	Name       string   `json:"-"`
	Vocabulary []string `json:"vocabulary"`           // tokens of sources and targets
	MaxLength  int      `json:"max_length"`           // longest source in training, in tokens; lengths are uniform from 1
	MaxTarget  int      `json:"max_target,omitempty"` // longest target in training; 0: MaxLength

	// Draw draws a source of exactly length tokens, and its target. It depends on its arguments only, and must be safe for concurrent use.
	Draw func(rng *rand.Rand, length int) (source, target []string) `json:"-"`
}

// ExtensionName returns the name, under which a run directory records the task.
func (t Task) ExtensionName() string { return t.Name }

// String returns the name.
func (t Task) String() string { return t.Name }

// Kind returns task.Transduction.
func (t Task) Kind() task.Kind { return task.Transduction }

// Validate returns an error that names the first missing or invalid field.
func (t Task) Validate() error {
	switch {
	case t.Name == "":
		return errors.New("name is empty: give the task a name")
	case len(t.Vocabulary) == 0:
		return errors.New("vocabulary is empty: list the tokens of sources and targets")
	case t.MaxLength < 1:
		return fmt.Errorf("max_length is %d: it must be at least 1", t.MaxLength)
	case t.MaxTarget < 0:
		return fmt.Errorf("max_target is %d: it must be positive, or 0 for max_length", t.MaxTarget)
	case t.Draw == nil:
		return errors.New("draw is missing: set the function that draws an example")
	}
	if _, err := vocab.New(t.Vocabulary); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	return nil
}

// Reader reads lines, and files of tab-separated pairs.
func (t Task) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Source, FileOf: table.Reader(v)}
}

// Measure decodes and compares tokens and sequences. It notes how many sources occur in training too.
func (t Task) Measure(task.Vocabularies) task.Measure {
	return task.DecodedAccuracy{Accuracy: task.Accuracy{Notes: func(examples []task.Example) []string {
		n := 0
		for _, e := range examples {
			if task.SplitOf(task.WithoutEnd(e.Source)) == task.ForTraining {
				n++
			}
		}
		if n == 0 {
			return nil
		}
		return []string{fmt.Sprintf("%d of %d sources may occur in training: too few of their lengths could be drawn", n, len(examples))}
	}}}
}

// Open returns the task. It is an error if one of the first examples that Draw returns is not of the wanted length or has unknown tokens. If a
// later one is so, training and evaluation end with that error. The digest of the first examples stands for the function, so that training does
// not continue unnoticed with another one.
func (t Task) Open() (task.Task, error) {
	v, err := vocab.New(t.Vocabulary)
	if err != nil {
		return nil, err
	}
	tokenizer := vocab.Characters
	if slices.ContainsFunc(t.Vocabulary, func(token string) bool { return utf8.RuneCountInString(token) > 1 }) {
		tokenizer = vocab.Whitespace
	}
	o := opened{Task: t, ids: task.Vocabularies{Tokenizer: tokenizer, Source: v, Target: v}}
	var first []task.Example
	for i := range int64(checked) {
		length := t.MaxLength
		if i < int64(t.MaxLength) {
			length = int(i) + 1
		}
		e, err := o.encode(seed.Rand(0, t.Name+"/check", i), length, true)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", t.Name, err)
		}
		first = append(first, e)
	}
	o.digest = task.DigestExamples(first)
	return o, nil
}

// checked is the number of examples that Open draws.
const checked = 100

// opened is a Task with the ids of its tokens.
type opened struct {
	Task
	ids    task.Vocabularies
	digest string // of the examples that Open has drawn
}

// Digests returns the digest of the first examples that Draw returns. Every part of the data is drawn by Draw.
func (o opened) Digests() task.Digests { return task.Digests{Training: o.digest} }

// Name returns the task's name.
func (o opened) Name() string { return o.Task.Name }

// Vocabularies returns the vocabulary, the same on both sides.
func (o opened) Vocabularies() task.Vocabularies { return o.ids }

// MaxLengths returns the longest source and target in training, including End.
func (o opened) MaxLengths() (source, target int) {
	return o.MaxLength, cmp.Or(o.MaxTarget, o.MaxLength) + 1
}

// Notes returns nil.
func (o opened) Notes() []string { return nil }

// Training returns the i-th example of the seed's training stream.
func (o opened) Training(seedValue uint64, i int64) task.Example {
	e, err := o.draw(seed.Rand(seedValue, o.Task.Name+"/training", i), o.MaxLength, false, task.ForTraining)
	if err != nil {
		panic(&task.ExampleError{Err: err})
	}
	return e
}

// HeldOut draws s.Count examples, 10,000 if that is 0.
func (o opened) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := cmp.Or(s.Validate(), s.RejectHard()); err != nil {
		return nil, err
	}
	length := cmp.Or(s.Length, s.Mix, o.MaxLength)
	examples := make([]task.Example, cmp.Or(s.Count, 10_000))
	if err := task.ValidateSize(len(examples), length); err != nil {
		return nil, err
	}
	name, split := o.Task.Name+"/test", task.ForTest
	if s.Validation {
		name, split = o.Task.Name+"/validation", task.ForValidation
	}
	for i := range examples {
		rng, want, exact := seed.Rand(seedValue, name, int64(i)), length, s.Length > 0
		if s.From > 0 {
			want, exact = s.From+rng.IntN(length-s.From+1), true
		}
		var err error
		if examples[i], err = o.draw(rng, want, exact, split); err != nil {
			return nil, err
		}
	}
	return examples, nil
}

// attempts bounds the draws of one example. One source of twenty belongs to a held-out split: where there are many sources, all attempts
// miss it with a probability of 0.95^1000 < 10^-22.
const attempts = 1000

// draw returns an example of a split, of exactly length source tokens or of 1 to length. If all attempts miss the split, because there are
// few sources of that length, it returns the last one.
func (o opened) draw(rng *rand.Rand, length int, exact bool, split task.Split) (e task.Example, err error) {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	for range attempts {
		if e, err = o.encode(rng, length, length <= o.MaxLength); err != nil {
			return e, fmt.Errorf("task %s: %w", o.Task.Name, err)
		}
		if task.SplitOf(e.Source) == split {
			break
		}
	}
	return e, nil
}

// encode draws an example and converts it to ids. Targets are bounded where training has their length.
func (o opened) encode(rng *rand.Rand, length int, bounded bool) (e task.Example, err error) {
	source, target := o.Draw(rng, length)
	if len(source) != length {
		return e, fmt.Errorf("a source that Draw returned for length %[2]d has %[1]d tokens", len(source), length)
	}
	if n := cmp.Or(o.MaxTarget, o.MaxLength); bounded && len(target) > n {
		return e, fmt.Errorf("a target that Draw returned for length %[2]d has %[1]d tokens, more than max_target, %[3]d", len(target), length, n)
	}
	if e.Source, err = o.ids.Source.Encode(source); err != nil {
		return e, fmt.Errorf("a source that Draw returned: %w", err)
	}
	if e.Target, err = o.ids.Target.Encode(target); err != nil {
		return e, fmt.Errorf("a target that Draw returned: %w", err)
	}
	e.Target = append(e.Target, vocab.End)
	return e, nil
}
