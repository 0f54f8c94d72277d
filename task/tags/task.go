package tags

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the examples of a file. It is immutable and may be shared.
type Task struct {
	task.Parts
	config  Tags
	v       task.Vocabularies
	longest int // words
	reports []tabular.Report
	notes   []string
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// parts holds the sentences of each split.
type parts struct{ training, validation, evaluation []sentence }

// read reads the files and splits the sentences by the hash of the words, unless held-out sentences have their own file.
func (t *Task) read() (p parts, err error) {
	c := t.config
	sentences, report, err := c.readFile(c.Path)
	if err != nil {
		return p, err
	}
	t.reports = []tabular.Report{report}
	validation, share := c.division().Shares()
	if c.HeldOutPath != "" {
		if p.evaluation, report, err = c.readFile(c.HeldOutPath); err != nil {
			return p, err
		}
		t.reports = append(t.reports, report)
	}
	var held []sentence
	p.training, p.validation, held = tabular.Split(sentences, hashOf, validation, share)
	p.evaluation = append(p.evaluation, held...) // none if they have a file of their own
	if len(p.training) == 0 || len(p.validation) == 0 || len(p.evaluation) == 0 {
		if alike := tabular.Alike(sentences, hashOf, "sentences", "ones", "word_column"); alike != "" {
			return p, tabular.WithSkipped(tabular.EmptyAlike(c.Path, alike), t.reports...)
		}
		return p, tabular.WithSkipped(tabular.EmptyPart(c.Path, "sentences", len(p.training), len(p.validation), len(p.evaluation), share, c.HeldOutPath != ""), t.reports...)
	}
	return p, nil
}

// trained returns the training part of the file; none if the file cannot be read.
func (c Tags) trained() (training []sentence) {
	if c.Path == "" {
		return nil
	}
	c = c.resolved()
	sentences, _, _ := c.readFile(c.Path)
	validation, held := c.division().Shares()
	training, _, _ = tabular.Split(sentences, hashOf, validation, held)
	return training
}

func hashOf(r sentence) uint64 { return r.hash }

// build builds the vocabularies, unless they are given, and encodes the sentences.
func (t *Task) build(p parts) error {
	tags := tagsOf(slices.Concat(p.training, p.validation, p.evaluation))
	given := t.v.Target != nil
	var untrainable error
	if given {
		untrainable = tabular.CheckClasses("tag", tags, t.v.Target.Tokens())
	} else if err := tabular.CheckTrained("tag", "words", "at least two tags are needed", countTags(p.training), tags); err != nil {
		return err
	} else if err := t.buildVocabularies(p.training, tags); err != nil {
		return err
	}
	unknown, untrained := tabular.UnknownTokens{}, tabular.UnknownTokens{}
	t.Parts = task.Parts{Stream: t.Name(), Untrainable: untrainable, TrainingPart: t.examples(p.training, &untrained), ValidationPart: t.examples(p.validation, nil), TestPart: t.examples(p.evaluation, &unknown)}
	for _, s := range p.training {
		t.longest = max(t.longest, len(s.origin.words))
	}
	t.describe(p, tags, unknown)
	if given {
		t.notes = append(t.notes, untrained.NewLines("sentences")...)
	}
	return nil
}

// buildVocabularies builds the vocabulary of words from the training part, and that of the tags.
func (t *Task) buildVocabularies(training []sentence, tags []string) error {
	source, err := vocab.Build(func(yield func([]string) bool) {
		for _, s := range training {
			for _, word := range s.origin.words {
				if !yield(t.config.parts(word)) {
					return
				}
			}
		}
	}, t.config.MinCount, vocab.WithUnknown())
	if err != nil {
		return err
	}
	target, err := vocab.New(tags)
	if err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	t.v = task.Vocabularies{Tokenizer: vocab.Whitespace, Source: source, Target: target}
	if t.config.Affixes > 0 {
		t.v.TokensPerPosition = wordParts
	}
	return nil
}

func (t *Task) examples(sentences []sentence, unknown *tabular.UnknownTokens) []task.Example {
	examples := make([]task.Example, len(sentences))
	for i, s := range sentences {
		examples[i] = t.config.example(t.v, s, unknown, &tabular.UnknownTokens{}) // which tags are unknown, CheckClasses says
	}
	return examples
}

// tagsOf returns the tags of sentences, the most frequent one first.
func tagsOf(sentences []sentence) []string {
	count := countTags(sentences)
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
}

func countTags(sentences []sentence) map[string]int {
	count := map[string]int{}
	for _, s := range sentences {
		for _, tag := range s.origin.tags {
			count[tag]++
		}
	}
	return count
}

// describe makes the notes.
func (t *Task) describe(p parts, tags []string, unknown tabular.UnknownTokens) {
	for _, r := range t.reports {
		t.notes = append(t.notes, strings.Split(r.String(), "\n")...)
	}
	words, trained := 0, countTags(p.training)
	for _, s := range p.training {
		words += len(s.origin.words)
	}
	top, marks := tabular.TopClass(trained), "they mark no spans"
	if score.SpanTags(tags) {
		marks = "they mark spans"
	}
	t.notes = append(t.notes,
		fmt.Sprintf("%s for training, %d for choosing a checkpoint, %d for evaluation", quantity.Regular(len(p.training), "examples"), len(p.validation), len(p.evaluation)),
		fmt.Sprintf("%s, %s; the most frequent, %q, is %.3f of the %s", quantity.Regular(len(tags), "tags"), marks, top, float64(trained[top])/float64(words), quantity.Of(words, "training word", "training words")))
	t.notes = append(t.notes, task.FewNotes("sentences", len(p.validation), len(p.evaluation))...)
	t.notes = append(t.notes, tabular.ClassNotes("tags", tags, words)...)
	if untrained := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return trained[tag] > 0 }); len(untrained) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s in held-out sentences only, and cannot be learned: %q", quantity.Of(len(untrained), "tag occurs", "tags occur"), untrained[:min(len(untrained), tabular.MaxListed)]))
	}
	t.notes = append(t.notes, tabular.RepeatedNote(p.evaluation, p.training, hashOf, "held-out sentences")...)
	t.notes = append(t.notes, unknown.Lines("sentences")...)
}

// Name returns "tags".
func (t *Task) Name() string { return "tags" }

// Vocabularies returns the words of the training part, with affixes also their parts, and the tags.
func (t *Task) Vocabularies() task.Vocabularies { return t.v }

// Notes describes what the files contain.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns the longest sentence of the training part; a target has a class for each word.
func (t *Task) MaxLengths() (source, target int) { return t.longest * t.v.Positions(), t.longest }
