package algorithmic

import (
	"fmt"

	"universal-transformer/task"
	"universal-transformer/task/table"
	"universal-transformer/vocab"
)

// sequences is what the tasks here have in common as definitions: strings of characters are answered with strings.
type sequences struct{}

// Kind is task.Transduction.
func (sequences) Kind() task.Kind { return task.Transduction }

// Reader reads strings, and files of pairs with a tab between them.
func (sequences) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Source, FileOf: table.Reader(v)}
}

// Measure decodes, and counts tokens and sequences. It says how many sources are so short that training contains them too.
func (sequences) Measure(v task.Vocabularies) task.Measure {
	return task.DecodedAccuracy{Accuracy: task.Accuracy{Notes: func(examples []task.Example) []string { return shared(v, examples) }}}
}

// shared counts the sources that no split keeps apart.
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

// vocabularies is the same digits on both sides, so that they can share embeddings.
func vocabularies(base int, more ...string) task.Vocabularies {
	v := digits(base, more...)
	return task.Vocabularies{Tokenizer: vocab.Characters, Source: v, Target: v}
}

// mostLength is far above any experiment.
const mostLength = 1_000_000

// validate is what the fields of all the tasks here have in common.
func validate(base, maxLength, examples, shortest int) error {
	switch {
	case base != 0 && (base < 2 || base > len(alphabet)):
		return fmt.Errorf("base is %d: it must be 2..%d, or 0 for %d", base, len(alphabet), defaultBase)
	case maxLength != 0 && maxLength < shortest:
		return fmt.Errorf("max_length is %d: it must be at least %d, or 0 for %d", maxLength, shortest, defaultMaxLength)
	case maxLength > mostLength:
		return fmt.Errorf("max_length is %d: it must be at most %d", maxLength, mostLength)
	case examples < 0:
		return fmt.Errorf("examples is %d: it must be the size of the training set, or 0 to draw without end", examples)
	}
	return nil
}

// or is value, or what its zero stands for.
func or(value, zero int) int {
	if value == 0 {
		return zero
	}
	return value
}
