package execute

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A stream is a task defined by a way to draw a sample; it provides training and held-out streams.
type stream struct {
	name           string
	ids            task.Vocabularies
	length         int // maximum length in training
	source, target int // maximum lengths in training, End included
	notes          []string
	tooLarge       func(length int) string // why samples with numbers of a length cannot be measured, "" if they can; nil: all can
	// draw draws a sample for a split: of exactly this length and the maximum nesting, or of the mix up to it.
	draw func(rng *rand.Rand, length int, exact bool, wanted use) sample
}

// A sample is a program and its result.
type sample struct{ source, answer string }

// Name returns the task's name, such as "execute copy".
func (s stream) Name() string { return s.name }

// Vocabularies returns the characters, the same on both sides.
func (s stream) Vocabularies() task.Vocabularies { return s.ids }

// MaxLengths returns the longest source and target in training.
func (s stream) MaxLengths() (source, target int) { return s.source, s.target }

// Notes describes how answers are written, for tables of results.
func (s stream) Notes() []string { return s.notes }

// Training returns the i-th sample of the mix.
func (s stream) Training(seedValue uint64, i int64) task.Example {
	return s.example(s.draw(seed.Rand(seedValue, s.name+"/training", i), s.length, false, forTraining))
}

// HeldOut draws sel.Count samples, 10,000 if that is 0.
func (s stream) HeldOut(seedValue uint64, sel task.Selection) ([]task.Example, error) {
	if err := cmp.Or(sel.Validate(), sel.RejectHard()); err != nil {
		return nil, err
	}
	if sel.From > 0 {
		return nil, &task.SelectionError{Field: "from", Problem: fmt.Sprintf("is %d: the lengths of %s are numbers of digits from 1 on: leave it out", sel.From, s.name)}
	}
	if err := s.checkLengths(sel); err != nil {
		return nil, err
	}
	length, exact := s.length, sel.Length > 0
	if exact || sel.Mix > 0 {
		length = max(sel.Length, sel.Mix)
	}
	count := sel.Count
	if count == 0 {
		count = defaultHeldOut
	}
	if err := task.ValidateSize(count, s.source*length/s.length); err != nil { // sources grow with the length of their numbers
		return nil, err
	}
	examples := make([]task.Example, count)
	name, wanted := s.name+"/held-out", forTest
	if sel.Validation {
		name, wanted = s.name+"/validation", forValidation
	}
	for i := range examples {
		examples[i] = s.example(s.draw(seed.Rand(seedValue, name, int64(i)), length, exact, wanted))
	}
	return examples, nil
}

// checkLengths returns an error if samples of the selected length, or of a mix up to it, cannot be drawn or measured.
func (s stream) checkLengths(sel task.Selection) error {
	for _, f := range []struct {
		name  string
		value int
	}{{"length", sel.Length}, {"mix", sel.Mix}} {
		if f.value > maxLength {
			return &task.SelectionError{Field: f.name, Problem: fmt.Sprintf("is %d: numbers of %s have at most %d digits", f.value, s.name, maxLength)}
		}
		if s.tooLarge == nil || f.value == 0 {
			continue
		}
		if problem := s.tooLarge(f.value); problem != "" {
			return &task.SelectionError{Field: f.name, Problem: fmt.Sprintf("is %d: %s; lower it", f.value, problem)}
		}
	}
	return nil
}

func (s stream) example(drawn sample) task.Example {
	return task.Example{Source: s.encode(drawn.source), Target: append(s.encode(drawn.answer), vocab.End)}
}

func (s stream) encode(text string) []vocab.ID {
	tokens, err := s.ids.Tokenizer.Split(text)
	if err != nil {
		panic(err) // cannot happen: programs are ASCII
	}
	ids, err := s.ids.Source.Encode(tokens)
	if err != nil {
		panic(err) // cannot happen: vocabularies have all characters of their grammar
	}
	return ids
}

// A use is the split a source belongs to.
type use int

const (
	forTraining use = iota
	forValidation
	forTest
)

// twentieths assigns one source in twenty to validation and one to the test.
func twentieths(source string) use {
	switch hash(source) % 20 {
	case 0:
		return forValidation
	case 1:
		return forTest
	}
	return forTraining
}

// thirds assigns a third of the sources to each split.
func thirds(source string) use { return use(hash(source) % 3) }

func hash(source string) uint64 {
	sum := sha256.Sum256([]byte(source))
	return binary.LittleEndian.Uint64(sum[:])
}

// enough is the number of sources of a kind from which on the splits are disjoint.
const enough = 10_000

// number draws a number of exactly n digits: its first is not 0.
func number(rng *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = digits[rng.IntN(10)]
	}
	text[0] = digits[1+rng.IntN(9)]
	return string(text)
}
