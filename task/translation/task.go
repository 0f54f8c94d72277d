package translation

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// A Task is the pairs of the files. It does not change, so it may be shared.
type Task struct {
	config               Translation
	pieces               *subword.Pieces
	training             []task.Example
	validation, test     []task.Example
	maxSource, maxTarget int
	notes                []string
}

var _ task.Task = (*Task)(nil)

// A part is what pairs are for.
type part int

const (
	forTraining part = iota
	forValidation
	forTest
)

// Open reads the files: once for sub-words, unless they are given, and once for pairs.
func (c Translation) Open() (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.resolved()
	f, err := c.open(slices.Concat(c.Training, c.Validation, c.Test)...)
	if err != nil {
		return nil, err
	}
	t := &Task{config: c}
	if t.pieces, err = c.findPieces(f); err != nil {
		return nil, err
	}
	if c.BPEDropout > 0 && !t.pieces.HasMerges() {
		return nil, fmt.Errorf("bpe_dropout is %v, but the sub-words of tokenizer_file %s have no merges: leave one of them out", c.BPEDropout, c.TokenizerFile)
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

// findPieces reads the text to train on, if sub-words are to be found in it.
func (c Translation) findPieces(f files) (*subword.Pieces, error) {
	var failed error
	pieces, err := c.Pieces(func(yield func(string) bool) {
		stopped := errors.New("stopped")
		for _, corpus := range c.Training {
			failed = f.pairs(corpus, &report{}, func(p pair) error {
				if c.part(p) == forTraining && (!yield(p.source) || !yield(p.target)) {
					return stopped
				}
				return nil
			})
			if failed != nil {
				return
			}
		}
	})
	if failed != nil {
		return nil, failed
	}
	return pieces, err
}

// part says what a pair of the text to train on is for: a hash of its source decides where there are no files of another part.
func (c Translation) part(p pair) part {
	if len(c.Validation) > 0 && len(c.Test) > 0 {
		return forTraining
	}
	sum := sha256.Sum256([]byte(p.source))
	switch at := float64(binary.LittleEndian.Uint64(sum[:])) / (1 << 64); {
	case at < c.HeldOut/2 && len(c.Validation) == 0:
		return forValidation
	case at >= c.HeldOut/2 && at < c.HeldOut && len(c.Test) == 0:
		return forTest
	}
	return forTraining
}

// read adds the pairs of a corpus.
func (t *Task) read(f files, corpus Corpus, of part) error {
	r := &report{}
	err := f.pairs(corpus, r, func(p pair) error {
		to, longest := of, longestHeldOut
		if of == forTraining {
			to = t.config.part(p)
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

// finish says what there is, and is an error if a part has nothing.
func (t *Task) finish() error {
	counts := fmt.Sprintf("%d pairs to train with, %d to validate with, %d for the test", len(t.training), len(t.validation), len(t.test))
	if len(t.training) == 0 || len(t.validation) == 0 || len(t.test) == 0 {
		return fmt.Errorf("%s: %s: each needs some; add lines, name files, or set held_out higher", t.config, counts)
	}
	t.notes = append(t.notes, fmt.Sprintf("%s, in %d sub-words", counts, t.pieces.Vocabulary().Size()))
	trained := map[[32]byte]bool{}
	for _, e := range t.training {
		trained[hash(e)] = true
	}
	repeated := 0
	for _, e := range t.test {
		if trained[hash(e)] {
			repeated++
		}
	}
	if repeated > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d sources of the test are trained on, too", repeated))
	}
	return nil
}

func hash(e task.Example) [32]byte {
	var bytes []byte
	for _, id := range e.Source {
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(id))
	}
	return sha256.Sum256(bytes)
}

// Name is "translation".
func (t *Task) Name() string { return "translation" }

// Vocabularies are the sub-words, which both languages share.
func (t *Task) Vocabularies() task.Vocabularies { return task.OfPieces(t.pieces) }

// Notes says what is in the files, and what was left out.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths is the longest source and target to train with, End included.
func (t *Task) MaxLengths() (source, target int) { return t.maxSource, t.maxTarget }

// Training goes through the pairs again and again, every time in another order, and with dropout of merges cut in another way.
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

// withDropout cuts the text of ids with dropout of merges. A text that is then longer than any without stays as it was.
func (t *Task) withDropout(ids []vocab.ID, longest int, rng *rand.Rand) []vocab.ID {
	cut, err := t.pieces.EncodeWithDropout(t.pieces.Text(ids), t.config.BPEDropout, rng)
	if err != nil || len(cut) > longest { // no error: the text was encoded before
		return ids
	}
	return cut
}

// HeldOut is the pairs of the test, or those to validate with, in the order of their files; with a Count below their number, that many
// of them, picked by the seed.
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
