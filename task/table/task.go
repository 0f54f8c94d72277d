package table

import (
	"fmt"
	"slices"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// A Task holds the examples of a table; Open makes it. It is immutable and may be shared.
type Task struct {
	task.Parts
	config               Table
	subwords             *subword.Pieces
	source, target       *vocab.Vocabulary // may be the same vocabulary
	given                bool              // the vocabularies are those of an earlier run
	maxSource, maxTarget int
	notes                []string
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// build encodes the pairs.
func (t *Task) build(p parts, report *Report) error {
	if !t.given {
		if err := t.buildVocabularies(p.training); err != nil {
			return fmt.Errorf("%s: %w", t.config.Path, err)
		}
	}
	var source, target *tabular.UnknownTokens
	if t.given {
		source, target = &report.NewSource, &report.NewTarget
	}
	t.Stream = t.Name()
	for _, line := range p.training {
		e := t.encode(line, source, target)
		t.maxSource, t.maxTarget = max(t.maxSource, len(e.Source)), max(t.maxTarget, len(e.Target))
		t.TrainingPart = append(t.TrainingPart, e)
	}
	for _, line := range p.validation {
		t.ValidationPart = append(t.ValidationPart, t.encode(line, nil, nil))
	}
	for _, line := range p.evaluation {
		t.TestPart = append(t.TestPart, t.encode(line, &report.Source, &report.Target))
	}
	report.Repeated = tabular.Repeated(p.evaluation, p.training, hashOf)
	report.Ambiguous = ambiguous(p.training) + ambiguous(p.validation) + ambiguous(p.evaluation)
	report.Training, report.Validation, report.HeldOut = len(t.TrainingPart), len(t.ValidationPart), len(t.TestPart)
	return nil
}

// ambiguous counts the pairs whose source occurs with more than one target. Equal sources are in the same part.
func ambiguous(pairs []pair) (n int) {
	count, first, differ := map[uint64]int{}, map[uint64][]string{}, map[uint64]bool{}
	for _, p := range pairs {
		if count[p.hash]++; count[p.hash] == 1 {
			first[p.hash] = p.target
		}
		differ[p.hash] = differ[p.hash] || !slices.Equal(first[p.hash], p.target)
	}
	for hash, several := range differ {
		if several {
			n += count[hash]
		}
	}
	return n
}

// buildVocabularies builds the vocabularies from the training part only.
func (t *Task) buildVocabularies(training []pair) (err error) {
	if t.subwords != nil {
		t.source, t.target = t.subwords.Vocabulary(), t.subwords.Vocabulary()
		return nil
	}
	sources := func(yield func([]string) bool) {
		for _, p := range training {
			if !yield(p.source) {
				return
			}
		}
	}
	targets := func(yield func([]string) bool) {
		for _, p := range training {
			if !yield(p.target) {
				return
			}
		}
	}
	both := func(yield func([]string) bool) {
		for _, p := range training {
			if !yield(p.source) || !yield(p.target) {
				return
			}
		}
	}
	if t.config.SharedVocabulary {
		t.source, err = vocab.Build(both, t.config.MinCount, vocab.WithUnknown())
		t.target = t.source
		return err
	}
	if t.source, err = vocab.Build(sources, t.config.MinCount, vocab.WithUnknown()); err != nil {
		return err
	}
	t.target, err = vocab.Build(targets, t.config.MinCount, vocab.WithUnknown())
	return err
}

// encode encodes a pair, and records unknown tokens unless source and target are nil.
func (t *Task) encode(p pair, source, target *tabular.UnknownTokens) task.Example {
	e, err := encode(t.Vocabularies(), p, source, target)
	if err != nil {
		panic(err) // cannot happen: the vocabulary has all subwords, or <unknown>
	}
	return e
}

func note(v *vocab.Vocabulary, tokens []string, unknown *tabular.UnknownTokens) {
	if unknown == nil {
		return
	}
	for _, s := range tokens {
		if _, ok := v.ID(s); !ok {
			unknown.Add(s)
		}
	}
}

// Name returns "table".
func (t *Task) Name() string { return "table" }

// Vocabularies returns the training tokens of sources and targets, frequent ones first, and <unknown>; or the subwords.
func (t *Task) Vocabularies() task.Vocabularies {
	if t.subwords != nil {
		return task.OfPieces(t.subwords)
	}
	return task.Vocabularies{Tokenizer: t.config.Tokenizer, Source: t.source, Target: t.target}
}

// Notes returns the report of what the files contain.
func (t *Task) Notes() []string { return t.notes }

// HeldOut is that of [task.Parts]. A table with a file for evaluation and few rows may have none to choose a checkpoint by.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if s.Validation && len(t.ValidationPart) == 0 {
		return nil, fmt.Errorf("%s: of %d rows, none is for choosing a checkpoint: add rows", t.config.Path, len(t.TrainingPart))
	}
	return t.Parts.HeldOut(seedValue, s)
}

// MaxLengths returns the longest source and target of the training part, including End.
func (t *Task) MaxLengths() (source, target int) { return t.maxSource, t.maxTarget }
