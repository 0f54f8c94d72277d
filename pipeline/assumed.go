package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Assumed describes data that are not read.
type Assumed struct {
	Vocabulary int `json:"vocabulary"` // tokens of source and target each
	Length     int `json:"length"`     // tokens of every source and target
}

// Bounds of the assumptions.
const (
	assumedLength = 32 // the default
	maxAssumed    = 1 << 20
	maxVocabulary = 1 << 24
)

// An OptionError reports an option that is missing or out of range.
type OptionError struct {
	Option  string // its name in lower case: "length"
	Problem string // "is 1: it must be from 2 to 1048576"
}

func (e *OptionError) Error() string { return e.Option + " " + e.Problem }

func optionError(option, format string, args ...any) error {
	return &OptionError{option, fmt.Sprintf(format, args...)}
}

// ErrNoData means that an estimate needs data, or assumptions about them.
var ErrNoData = errors.New("an estimate without data needs assumptions about them: vocabulary and length")

func (a Assumed) validate() error {
	switch {
	case a.Vocabulary != 0 && (a.Vocabulary < 4 || a.Vocabulary > maxVocabulary):
		return optionError("vocabulary", "is %d: it must be from 4 to %d", a.Vocabulary, maxVocabulary)
	case a.Length != 0 && (a.Length < 2 || a.Length > maxAssumed):
		return optionError("length", "is %d: it must be from 2 to %d", a.Length, maxAssumed)
	}
	return nil
}

// sampled holds some batches of a run, and the vocabularies of its model.
type sampled struct {
	batches      []batch.Batch
	vocabularies task.Vocabularies
	assumed      *Assumed // nil: the data were read
}

// samples is the number of batches taken from the beginning of a run.
const samples = 32

// sample returns batches of a run: from its data, or from the assumptions if there are any or the data are missing. log is that of [OpenTask].
func sample(ctx context.Context, r experiment.Run, a Assumed, log func(string)) (sampled, error) {
	var s sampled
	if a == (Assumed{}) {
		opened, err := OpenTask(ctx, r, log)
		if err == nil {
			s.vocabularies = opened.Vocabularies()
			return s, s.draw(r, r.Plan(opened), func(i int64) task.Example { return opened.Training(r.Seed, i) })
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		if a.Vocabulary = r.Subwords(); a.Vocabulary == 0 {
			return s, fmt.Errorf("%w; %w", err, ErrNoData)
		}
	}
	if a.Vocabulary == 0 {
		if a.Vocabulary = r.Subwords(); a.Vocabulary == 0 {
			return s, &OptionError{"length", "requires vocabulary, the number of tokens"}
		}
	}
	if a.Length == 0 {
		a.Length = assumedLength
	}
	s.assumed = &a
	return s.assume(r, a)
}

// draw draws the first batches.
func (s *sampled) draw(r experiment.Run, plan batch.Plan, source func(i int64) task.Example) error {
	plan.Window = samples * max(1, plan.Rows, plan.Tokens/max(plan.MaxSource, plan.MaxTarget, 1))
	stream, err := batch.NewStream(source, plan, r.Seed)
	if err != nil {
		return err
	}
	for range samples {
		b, err := stream.Next()
		if err != nil {
			return err
		}
		s.batches = append(s.batches, b)
	}
	return nil
}

// assume fills batches with examples of one length.
func (s sampled) assume(r experiment.Run, a Assumed) (sampled, error) {
	v, err := experiment.AssumedVocabularies(a.Vocabulary)
	if err != nil {
		return s, err
	}
	ids := make([]vocab.ID, a.Length)
	for i := range ids {
		ids[i] = vocab.ID(2 + i%(a.Vocabulary-2))
	}
	example := task.Example{Source: ids, Target: append(slices.Clone(ids[1:]), vocab.End)}
	s.vocabularies = v
	switch r.Task.Value.Kind() {
	case task.LanguageModeling:
		example.Source, s.vocabularies.Source = nil, nil
	case task.Classification:
		example.Target = example.Source[:1]
	case task.Tagging:
		example.Target = example.Source
	}
	b := r.Training.Batch
	plan := batch.Plan{Tokens: b.Tokens, Rows: b.Rows, Boundaries: b.Boundaries, MaxSource: len(example.Source), MaxTarget: len(example.Target), Aligned: r.Task.Value.Kind() == task.Tagging}
	return s, s.draw(r, plan, func(int64) task.Example { return example })
}

// typical returns the batch with the median number of positions, and the largest.
func (s sampled) typical() (typical, largest batch.Batch) {
	positions := func(b batch.Batch) int { return b.Rows * (b.SourcePositions() + b.TargetLength) }
	sorted := slices.Clone(s.batches)
	slices.SortStableFunc(sorted, func(a, b batch.Batch) int {
		if d := positions(a) - positions(b); d != 0 {
			return d
		}
		return a.TargetLength - b.TargetLength
	})
	return sorted[len(sorted)/2], sorted[len(sorted)-1]
}
