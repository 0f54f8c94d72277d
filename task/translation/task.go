package translation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// A Task holds the pairs of the files. It is immutable and may be shared.
type Task struct {
	config               Translation
	pieces               *subword.Pieces
	training             []task.Example
	validation, test     []task.Example
	maxSource, maxTarget int
	notes                []string
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// A part is one of training, validation and test.
type part int

const (
	forTraining part = iota
	forValidation
	forTest
)

// Open reads the files: once to learn subwords, unless a file of subwords is given, and once to encode the pairs.
func (c Translation) Open() (task.Task, error) { return c.OpenWith(task.Vocabularies{}) }

// OpenWith is like Open, with the subwords of an earlier run.
func (c Translation) OpenWith(v task.Vocabularies) (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	f, err := c.open(slices.Concat(c.Training, c.Validation, c.Test)...)
	if err != nil {
		return nil, err
	}
	c = c.withShare(f).resolved()
	t := &Task{config: c, pieces: v.Subwords}
	if t.pieces == nil {
		if t.pieces, err = c.findPieces(f); err != nil {
			return nil, err
		}
	}
	if c.BPEDropout > 0 && !t.pieces.HasMerges() {
		return nil, fmt.Errorf("bpe_dropout is %v, but the subwords of tokenizer_file %s have no merges: leave one of them out", c.BPEDropout, c.TokenizerFile)
	}
	for _, group := range []struct {
		corpora []Corpus
		part    part
	}{{c.Training, forTraining}, {c.Validation, forValidation}, {c.Test, forTest}} {
		for _, corpus := range group.corpora {
			if err := t.read(f, corpus, group.part); err != nil {
				return nil, err
			}
		}
	}
	return t, t.finish()
}

// findPieces returns the subwords, learned from the training text unless a file of subwords is given.
func (c Translation) findPieces(f files) (*subword.Pieces, error) {
	var failed error
	pieces, err := c.Pieces(c.trainingText(f, &failed))
	if failed != nil {
		return nil, failed
	}
	return pieces, err
}

// trainingText yields the sources and targets of the pairs for training. It sets failed if they cannot be read, or there are none.
func (c Translation) trainingText(f files, failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		pairs := 0
		for _, corpus := range c.Training {
			var r report
			err := f.pairs(corpus, &r, func(p pair) error {
				r.used++
				if c.partOf(p) != forTraining {
					return nil
				}
				pairs++
				if !yield(p.source) || !yield(p.target) {
					return errEnough
				}
				return nil
			})
			if errors.Is(err, errEnough) {
				return
			}
			if err == nil {
				err = r.check()
			}
			if err != nil {
				*failed = err
				return
			}
		}
		if pairs == 0 {
			*failed = fmt.Errorf("%s: no pair is for training, all of them are held out: add lines, name files or lower task.held_out", c)
		}
	}
}

// partOf returns the part that a pair of the training corpora belongs to. A hash of its source holds pairs out for parts without files.
func (c Translation) partOf(p pair) part {
	if len(c.Validation) > 0 && len(c.Test) > 0 {
		return forTraining
	}
	switch at := float64(p.hash()) / (1 << 64); {
	case at < c.HeldOut/2 && len(c.Validation) == 0:
		return forValidation
	case at >= c.HeldOut/2 && at < c.HeldOut && len(c.Test) == 0:
		return forTest
	}
	return forTraining
}

// read adds the pairs of a corpus to a part, or to the parts that part chooses.
func (t *Task) read(f files, corpus Corpus, of part) error {
	r := &report{}
	err := f.pairs(corpus, r, func(p pair) error {
		to, longest := of, longestHeldOut
		if of == forTraining {
			to = t.config.partOf(p)
		}
		if to == forTraining {
			longest = t.config.MaxLength
		}
		e, ok := encode(t.pieces, p, longest, r)
		if !ok {
			return nil
		}
		switch to {
		case forTraining:
			t.training = append(t.training, e)
			t.maxSource, t.maxTarget = max(t.maxSource, len(e.Source)), max(t.maxTarget, len(e.Target))
		case forValidation:
			t.validation = append(t.validation, e)
		case forTest:
			t.test = append(t.test, e)
		}
		return nil
	})
	t.notes = append(t.notes, r.lines()...)
	if err == nil {
		err = r.check()
	}
	return err
}

// finish writes the notes. It returns an error if a part is empty.
func (t *Task) finish() error {
	counts := fmt.Sprintf("%s for training, %d for validation, %d for testing", quantity.Regular(len(t.training), "pairs"), len(t.validation), len(t.test))
	if len(t.training) == 0 || len(t.validation) == 0 || len(t.test) == 0 {
		return fmt.Errorf("%s: %s: each part needs some; add lines, name files or raise task.held_out", t.config, counts)
	}
	t.notes = append(t.notes, fmt.Sprintf("%s, in %d subwords", counts, t.pieces.Vocabulary().Size()))
	t.notes = append(t.notes, task.FewNotes("pairs", len(t.validation), len(t.test))...)
	t.notes = append(t.notes, tabular.RepeatedNote(t.validation, t.training, hash, "validation sources")...)
	t.notes = append(t.notes, tabular.RepeatedNote(t.test, t.training, hash, "test sources")...)
	return nil
}

func hash(e task.Example) uint64 {
	var bytes []byte
	for _, id := range e.Source {
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(id))
	}
	return tabular.Hash(string(bytes))
}

// Name returns "translation".
func (t *Task) Name() string { return "translation" }

// Vocabularies returns the subwords, which both languages share.
func (t *Task) Vocabularies() task.Vocabularies { return task.OfPieces(t.pieces) }

// Notes describes what the files contain and what was skipped.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns the lengths of the longest training source and target, including End.
func (t *Task) MaxLengths() (source, target int) { return t.maxSource, t.maxTarget }

// Training iterates over the training pairs, in a new order in each epoch. With BPEDropout, every visit splits a pair into subwords
// anew.
func (t *Task) Training(seedValue uint64, i int64) task.Example {
	n := int64(len(t.training))
	order := seed.NewPermutation(seedValue, "translation/epoch", i/n, int(n))
	e := clone(t.training[order.At(int(i%n))])
	if t.config.BPEDropout > 0 {
		rng := seed.Rand(seedValue, "translation/bpe dropout", i)
		e.Source = t.withDropout(e.Source, t.maxSource, rng)
		e.Target = append(t.withDropout(task.WithoutEnd(e.Target), t.maxTarget-1, rng), vocab.End)
	}
	return e
}

// withDropout splits the text of ids into subwords with BPE dropout. It returns ids if the new split has more than longest subwords.
func (t *Task) withDropout(ids []vocab.ID, longest int, rng *rand.Rand) []vocab.ID {
	cut, err := t.pieces.EncodeWithDropout(t.pieces.Text(ids), t.config.BPEDropout, rng)
	if err != nil || len(cut) > longest { // the text was encoded before, so there is no error
		return ids
	}
	return cut
}

// HeldOut returns the test or the validation pairs in the order of their files; with a Count below their number, that many, selected
// by the seed.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	of := t.test
	if s.Validation {
		of = t.validation
	}
	n := len(of)
	if s.Count > 0 {
		n = min(s.Count, n)
	}
	order := seed.NewPermutation(seedValue, "translation/picked", 0, len(of))
	picked := make([]task.Example, n)
	for i := range picked {
		at := i
		if s.Count > 0 {
			at = order.At(i)
		}
		picked[i] = clone(of[at])
	}
	return picked, nil
}

func clone(e task.Example) task.Example {
	return task.Example{Source: slices.Clone(e.Source), Target: slices.Clone(e.Target)}
}

// Digests returns the digests of the pairs.
func (t *Task) Digests() task.Digests {
	return task.Digests{Training: task.DigestExamples(t.training), Validation: task.DigestExamples(t.validation), Test: task.DigestExamples(t.test)}
}
