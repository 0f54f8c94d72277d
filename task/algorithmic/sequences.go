package algorithmic

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/table"
)

// Digits is what the definitions of this package have in common: sources and targets are strings of digits.
type Digits struct {
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // maximum length of a training source in tokens, at least 3 for addition; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 means unlimited (tensor2tensor: 100,000)
}

// filled returns d with its defaults filled in.
func (d Digits) filled() Digits {
	d.Base, d.MaxLength = cmp.Or(d.Base, defaultBase), cmp.Or(d.MaxLength, defaultMaxLength)
	return d
}

// Validate returns an error that names the first field out of range. It must be called before Open.
func (d Digits) Validate() error { return d.validate(1) }

// ofOneNumber returns the task whose source is one number, of uniform digits and a uniform length, which answer completes.
func (d Digits) ofOneNumber(name string, answer func(source []vocab.ID) task.Example) stream {
	d = d.filled()
	return stream{
		name: name, base: d.Base, ids: vocabularies(d.Base), shortest: 1, longest: d.MaxLength, longestTarget: d.MaxLength + 1, examples: d.Examples,
		shape: oneNumber, hard: periodic(d.Base, answer),
		fill: func(rng *rand.Rand, s shape) task.Example { return answer(randomDigits(rng, d.Base, s.first)) },
	}
}

// oneNumber draws the shape of copy and reverse: lengths are uniform in 1..length.
func oneNumber(rng *rand.Rand, length int, exact bool) shape {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	return shape{first: length}
}

// Kind returns task.Transduction.
func (Digits) Kind() task.Kind { return task.Transduction }

// AnswerLimit returns five quarters of the longest correct answer, plus 10. A source of n digits has n, and a sum of numbers that are
// written in n tokens at most n-1; End is one more.
func (Digits) AnswerLimit(source int) int { return source + 1 + (source+1)/4 + 10 }

// A reader reads strings, and files of tab-separated pairs.
type reader struct {
	task.LineReader
	answer func(source []vocab.ID) task.Example // for a source of training; its target is nil for other sources
}

func newReader(v task.Vocabularies, answer func([]vocab.ID) task.Example) task.Reader {
	return reader{task.LineReader{Vocabularies: v, Name: task.Source, FileOf: table.Reader(v)}, answer}
}

// Read reads a string and computes its answer.
func (r reader) Read(text string) (task.Input, error) {
	in, err := r.LineReader.Read(text)
	if err == nil && len(in.Unknown) == 0 {
		in.Answer = r.answer(task.WithoutEnd(in.Source)).Target
	}
	return in, err
}

// Measure decodes and compares tokens and sequences. It notes how many sources are so short that training contains them too.
func (Digits) Measure(v task.Vocabularies) task.Measure {
	return task.DecodedAccuracy{Accuracy: task.Accuracy{Notes: func(examples []task.Example) []string { return shared(v, examples) }}}
}

// shared notes how many sources occur in more than one split.
func shared(v task.Vocabularies, examples []task.Example) []string {
	n, plus := 0, 0
	base := v.Source.Size() - int(digit0)
	if at, ok := v.Source.ID(separator); ok {
		base, plus = int(at-digit0), 1
	}
	for _, e := range examples {
		if few(base, len(task.WithoutEnd(e.Source))-plus) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d sources are so short that training contains them too: there are fewer than %d of that length", n, len(examples), enough)}
}

// vocabularies returns the same digits for both sides, so that they can share embeddings.
func vocabularies(base int, more ...string) task.Vocabularies {
	v := digits(base, more...)
	return task.Vocabularies{Tokenizer: vocab.Characters, Source: v, Target: v}
}

// lengthLimit is the maximum of max_length, far above any experiment.
const lengthLimit = 1_000_000

// validate checks the fields of a task whose sources have at least so many tokens.
func (d Digits) validate(shortest int) error {
	base, maxLength, examples := d.Base, d.MaxLength, d.Examples
	switch {
	case base != 0 && (base < 2 || base > len(alphabet)):
		return fmt.Errorf("base is %d: it must be 2..%d, or 0 for %d", base, len(alphabet), defaultBase)
	case maxLength != 0 && maxLength < shortest:
		return fmt.Errorf("max_length is %d: it must be at least %d, or 0 for %d", maxLength, shortest, defaultMaxLength)
	case maxLength > lengthLimit:
		return fmt.Errorf("max_length is %d: it must be at most %d", maxLength, lengthLimit)
	case examples < 0:
		return fmt.Errorf("examples is %d: it must be the size of the training set, or 0 to draw without end", examples)
	}
	return nil
}
