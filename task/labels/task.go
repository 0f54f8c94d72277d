package labels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the examples of a file. It is immutable and may be shared.
type Task struct {
	task.Parts
	config  Labels
	v       task.Vocabularies
	given   bool // v is that of an earlier run
	longest int
	reports []tabular.Report
	notes   []string
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// parts holds the rows of each split.
type parts struct{ training, validation, evaluation []row }

// read reads the files and splits the rows by the hash of the text, unless held-out rows have their own file.
func (t *Task) read() (p parts, err error) {
	c := t.config
	rows, report, err := c.readFile(c.Path)
	if err != nil {
		return p, err
	}
	if !t.given { // a run of an earlier version may have learned from its header
		if err := report.CheckFirst(c.Layout, "label", ofRows(rows)); err != nil {
			return p, err
		}
	}
	t.reports = []tabular.Report{report}
	validation, share := c.division().Shares()
	if c.HeldOutPath != "" {
		if p.evaluation, report, err = c.readFile(c.HeldOutPath); err != nil {
			return p, err
		}
		t.reports = append(t.reports, report)
	}
	var held []row
	p.training, p.validation, held = tabular.Split(rows, hashOf, validation, share)
	p.evaluation = append(p.evaluation, held...) // none if they have a file of their own
	if err := p.check(c, share); err != nil || c.Tokenizer != vocab.Subwords {
		return p, tabular.WithSkipped(err, t.reports...)
	}
	if err := t.cut(&p); err != nil {
		return p, err
	}
	return p, tabular.WithSkipped(p.check(c, share), t.reports...)
}

// check returns an error if a part is empty.
func (p parts) check(c Labels, share float64) error {
	if len(p.training) == 0 || len(p.validation) == 0 || len(p.evaluation) == 0 {
		if alike := p.alike(c); alike != "" {
			return tabular.EmptyAlike(c.Path, alike)
		}
		return tabular.EmptyPart(c.Path, "rows", len(p.training), len(p.validation), len(p.evaluation), share, c.HeldOutPath != "")
	}
	return nil
}

// alike asks whether the texts of the file are those of the right column, if nearly all are identical.
func (p parts) alike(c Labels) string {
	rows := slices.Concat(p.training, p.validation)
	if c.HeldOutPath == "" {
		rows = append(rows, p.evaluation...)
	}
	return tabular.Alike(rows, hashOf, "rows", "texts", "text_column")
}

// trained returns the training part of the file; none if the file cannot be read.
func (c Labels) trained() (training []row) {
	if c.Path == "" {
		return nil
	}
	c = c.resolved()
	rows, _, _ := c.readFile(c.Path)
	validation, held := c.division().Shares()
	training, _, _ = tabular.Split(rows, hashOf, validation, held)
	return training
}

func hashOf(r row) uint64 { return r.hash }

// cut splits all texts into subwords, learned from the training part or read from a file.
func (t *Task) cut(p *parts) error {
	if !t.given {
		pieces, err := t.config.Pieces(func(yield func(string) bool) {
			for _, r := range p.training {
				if !yield(r.origin.text) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		t.v = task.OfPieces(pieces)
	}
	last := len(t.reports) - 1
	for i, rows := range []*[]row{&p.training, &p.validation, &p.evaluation} {
		file := &t.reports[0]
		if i == 2 {
			file = &t.reports[last]
		}
		var err error
		if *rows, err = t.config.cut(t.v.Subwords, *rows, file); err != nil {
			return err
		}
	}
	for _, r := range t.reports {
		if err := r.Check(wanted); err != nil {
			return err
		}
	}
	return nil
}

// build builds the vocabularies, unless they are given, and encodes the rows.
func (t *Task) build(p parts) error {
	if t.v.Source == nil {
		texts := func(yield func([]string) bool) {
			for _, r := range p.training {
				if !yield(r.tokens) {
					return
				}
			}
		}
		source, err := vocab.Build(texts, t.config.MinCount, vocab.WithUnknown())
		if err != nil {
			return err
		}
		t.v = task.Vocabularies{Tokenizer: t.config.Tokenizer, Source: source}
	}
	labels := labelsOf(slices.Concat(p.training, p.validation, p.evaluation))
	var untrainable error
	if t.given {
		untrainable = tabular.CheckClasses("label", labels, t.v.Target.Tokens())
	} else if err := tabular.CheckTrained("label", "rows", "a classifier needs at least two labels", countLabels(p.training), labels); err != nil {
		return err
	} else if target, err := vocab.New(labels); err != nil {
		return fmt.Errorf("labels: %w", err)
	} else {
		t.v.Target = target
	}
	unknown, untrained := tabular.UnknownTokens{}, tabular.UnknownTokens{}
	t.Parts = task.Parts{Stream: t.Name(), Untrainable: untrainable, TrainingPart: t.encode(p.training, &untrained), ValidationPart: t.encode(p.validation, nil), TestPart: t.encode(p.evaluation, &unknown)}
	for _, e := range t.TrainingPart {
		t.longest = max(t.longest, len(e.Source))
	}
	t.describe(p, labels, unknown)
	if t.given {
		t.notes = append(t.notes, untrained.NewLines("texts")...)
	}
	return nil
}

func (t *Task) encode(rows []row, unknown *tabular.UnknownTokens) []task.Example {
	examples := make([]task.Example, len(rows))
	for i, r := range rows {
		examples[i] = encode(t.v, r, unknown)
	}
	return examples
}

// labelsOf returns the labels of rows, the most frequent one first.
func labelsOf(rows []row) []string {
	count := countLabels(rows)
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
}

func countLabels(rows []row) map[string]int {
	count := map[string]int{}
	for _, r := range rows {
		count[r.origin.label]++
	}
	return count
}

// describe makes the notes.
func (t *Task) describe(p parts, labels []string, unknown tabular.UnknownTokens) {
	for _, r := range t.reports {
		t.notes = append(t.notes, strings.Split(r.String(), "\n")...)
	}
	trained := countLabels(p.training)
	top := tabular.TopClass(trained)
	t.notes = append(t.notes, fmt.Sprintf("%s for training, %d for choosing a checkpoint, %d for evaluation", quantity.Regular(len(t.TrainingPart), "examples"), len(t.ValidationPart), len(t.TestPart)),
		fmt.Sprintf("%s; the most frequent, %q, is %.3f of the training examples", quantity.Regular(len(labels), "labels"), top, float64(trained[top])/float64(len(p.training))))
	t.notes = append(t.notes, task.FewNotes("texts", len(p.validation), len(p.evaluation))...)
	t.notes = append(t.notes, tabular.ClassNotes("labels", labels, len(p.training)+len(p.validation)+len(p.evaluation))...)
	if alike := p.alike(t.config); alike != "" {
		t.notes = append(t.notes, alike)
	}
	var untrained []string
	for _, label := range labels {
		if trained[label] == 0 {
			untrained = append(untrained, label)
		}
	}
	if len(untrained) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("labels in held-out rows only, which cannot be learned: %d, %q", len(untrained), untrained[:min(len(untrained), tabular.MaxListed)]))
	}
	t.notes = append(t.notes, tabular.RepeatedNote(p.evaluation, p.training, hashOf, "held-out texts")...)
	t.notes = append(t.notes, unknown.Lines("texts")...)
}

// Name returns "labels".
func (t *Task) Name() string { return "labels" }

// Vocabularies returns the training tokens of the texts, and the labels.
func (t *Task) Vocabularies() task.Vocabularies { return t.v }

// Notes describes what the files contain.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns the longest text of the training part; a target is one class.
func (t *Task) MaxLengths() (source, target int) { return t.longest, 1 }
