// Package translation is machine translation, section 3.6 of the paper. Parallel text is read from files, split into subwords that
// both languages share, and scored by BLEU.
package translation

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/bleu"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

const (
	defaultMaxLength = 256 // subwords, as in the authors' code
	defaultHeldOut   = 0.02
	maxHeldOut       = 0.1  // share that MinHeldOut holds out at most
	longestHeldOut   = 1000 // subwords of a pair that is not trained on
)

// Translation specifies the files and how to read them. Only Training is required.
type Translation struct {
	Path       string   `json:"path,omitempty" file:"any"` // a folder or an archive that contains the files; if empty, names of files are paths
	Training   []Corpus `json:"training"`                  // files of parallel text
	Validation []Corpus `json:"validation,omitempty"`      // for choosing a checkpoint; if empty, held-out pairs of Training
	Test       []Corpus `json:"test,omitempty"`            // for evaluation; if empty, held-out pairs of Training
	HeldOut    float64  `json:"held_out,omitempty"`        // share of the sources held out for each of Validation and Test that is empty, in halves; 0 means 0.02
	MinHeldOut int      `json:"min_held_out,omitempty"`    // if HeldOut is 0, hold out so many pairs at least, but no more than a tenth of all
	subword.Choice
	BPEDropout float64        `json:"bpe_dropout,omitempty"` // probability that a merge is skipped when a training pair is split into subwords, drawn anew at each visit
	MaxLength  int            `json:"max_length,omitempty"`  // maximum number of subwords of a training source or target; 0 means 256
	BLEU       bleu.Tokenizer `json:"bleu"`                  // tokenizer of BLEU: "13a" (the default), "intl", "char", or "none" for tokenized text
}

// A Corpus is parallel text: two files in which equal line numbers correspond, or one file with a tab between source and target.
// Files may be compressed (.gz).
type Corpus struct {
	Source string `json:"source,omitempty" file:"name" inside:"Path"` // file of the sources, one on a line
	Target string `json:"target,omitempty" file:"name" inside:"Path"` // file of the targets, one on a line
	Pairs  string `json:"pairs,omitempty" file:"name" inside:"Path"`  // a single file of both sides
}

func (c Corpus) validate() error {
	switch {
	case c == Corpus{}:
		return errors.New(`names no file: write {"source": "train.en", "target": "train.de"} or {"pairs": "train.tsv"}`)
	case c.Pairs != "" && c.Source+c.Target != "":
		return fmt.Errorf("names %s with pairs, and %s: give either pairs or source and target", c.Pairs, c.Source+c.Target)
	case c.Pairs == "" && (c.Source == "" || c.Target == ""):
		return fmt.Errorf("names only %s: give source and target", c.Source+c.Target)
	}
	return nil
}

// names lists the files of the corpus.
func (c Corpus) names() []string {
	if c.Pairs != "" {
		return []string{c.Pairs}
	}
	return []string{c.Source, c.Target}
}

func (c Corpus) String() string { return strings.Join(c.names(), ", ") }

// Kind returns task.Transduction.
func (Translation) Kind() task.Kind { return task.Transduction }

// Subwords is the size of the tokenizer that is trained; 0 if there is none, or a file has it.
func (c Translation) Subwords() int { return c.TokenizerSize }

// AnswerLimit returns twice the length of the source plus 10. Without a limit, beam search with a large length penalty prefers
// translations that repeat themselves.
func (Translation) AnswerLimit(source int) int { return 2*source + 10 }

// String returns the name of the first training file.
func (c Translation) String() string {
	if len(c.Training) == 0 {
		return "translation"
	}
	return c.Training[0].String()
}

// Validate returns an error that names the first missing or invalid field.
func (c Translation) Validate() error {
	if len(c.Training) == 0 {
		return errors.New(`training is empty: name files, as in [{"source": "train.en", "target": "train.de"}]`)
	}
	for _, field := range []struct {
		name string
		list []Corpus
	}{{"training", c.Training}, {"validation", c.Validation}, {"test", c.Test}} {
		for i, corpus := range field.list {
			if err := corpus.validate(); err != nil {
				return fmt.Errorf("%s[%d] %w", field.name, i, err)
			}
		}
	}
	switch {
	case !(c.HeldOut >= 0 && c.HeldOut < 1):
		return fmt.Errorf("held_out is %v: it must be a share between 0 and 1, or 0 for %v", c.HeldOut, defaultHeldOut)
	case c.MinHeldOut < 0:
		return fmt.Errorf("min_held_out is %d: it must be a number of pairs, or 0 for none", c.MinHeldOut)
	case c.HeldOut > 0 && len(c.Validation) > 0 && len(c.Test) > 0:
		return fmt.Errorf("held_out is %v, but validation and test have files: leave it out", c.HeldOut)
	}
	if err := c.Check(vocab.Subwords); err != nil {
		return err
	}
	switch {
	case !(c.BPEDropout >= 0 && c.BPEDropout < 1):
		return fmt.Errorf("bpe_dropout is %v: it must be at least 0 and below 1", c.BPEDropout)
	case c.MaxLength < 0 || c.MaxLength > longestHeldOut:
		return fmt.Errorf("max_length is %d: it must be from 1 to %d, or 0 for %d", c.MaxLength, longestHeldOut, defaultMaxLength)
	}
	if err := c.BLEU.Validate(); err != nil {
		return fmt.Errorf("bleu: %w", err)
	}
	return nil
}

func (c Translation) resolved() Translation {
	if c.MaxLength == 0 {
		c.MaxLength = defaultMaxLength
	}
	if c.HeldOut == 0 {
		c.HeldOut = defaultHeldOut
	}
	return c
}

// Measure decodes and computes BLEU and chrF.
func (c Translation) Measure(v task.Vocabularies) task.Measure {
	line := func(ids []vocab.ID) string { return strings.ReplaceAll(v.TargetText(ids), "\n", " ") } // one line per translation
	return task.DecodedBLEU{Config: bleu.Config{Tokenizer: c.BLEU}, Text: line}
}

// Reader reads lines and files of pairs: one file with tabs, or two files whose names are separated by a comma.
func (c Translation) Reader(v task.Vocabularies) task.Reader {
	r := reader{task.LineReader{Vocabularies: v, Name: task.Source}}
	r.FileOf = func(path string) ([]task.Example, []string, error) {
		corpus := Corpus{Pairs: path}
		if source, target, two := strings.Cut(path, ","); two {
			if source == "" || target == "" {
				return nil, nil, fmt.Errorf("%q does not name two files: write SOURCE,TARGET", path)
			}
			corpus = Corpus{Source: source, Target: target}
		}
		examples, hashes, notes, err := Translation{}.examples(v, corpus)
		if err == nil {
			notes = append(notes, tabular.NoteRepeated(c.repeated(hashes), len(hashes), "sources")...)
		}
		return examples, notes, err
	}
	return r
}

// Examples reads the pairs of a corpus for a model with the given vocabularies. Notes describe what was skipped.
func (c Translation) Examples(v task.Vocabularies, corpus Corpus) ([]task.Example, []string, error) {
	examples, _, notes, err := c.examples(v, corpus)
	return examples, notes, err
}

// examples is like Examples; hashes are those of the sources.
func (c Translation) examples(v task.Vocabularies, corpus Corpus) (examples []task.Example, hashes []uint64, notes []string, err error) {
	if err := corpus.validate(); err != nil {
		return nil, nil, nil, err
	}
	files, err := c.open(corpus)
	if err != nil {
		return nil, nil, nil, err
	}
	report := &report{}
	err = files.pairs(corpus, report, func(p pair) error {
		if e, ok := encode(v.Subwords, p, longestHeldOut, report); ok {
			examples, hashes = append(examples, e), append(hashes, p.hash())
		}
		return nil
	})
	if err == nil {
		err = report.check()
	}
	return examples, hashes, report.lines(), err
}

// reader removes the blanks around a line, as reading a corpus does.
type reader struct{ task.LineReader }

// Read converts a line to a source.
func (r reader) Read(line string) (task.Input, error) {
	return r.LineReader.Read(strings.TrimSpace(line))
}

// Target converts a line to a target.
func (r reader) Target(line string) ([]vocab.ID, error) {
	return r.LineReader.Target(strings.TrimSpace(line))
}
