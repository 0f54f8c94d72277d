package execute

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"universal-transformer/task"
)

// Memory contains the memorization tasks of table 5: copy, double or reverse the digits of a number.
//
//	copy     90210 -> 90210
//	double   90210 -> 9021090210
//	reverse  90210 -> 01209
//
// Sources do not begin with 0. Answers are strings and may begin with 0.
type Memory struct {
	transduction
	Operation string `json:"operation"` // copy, double or reverse
	Length    int    `json:"length"`    // maximum number of digits of a source; 55 in the paper
}

// The operations of Memory.
const (
	Copy    = "copy"
	Double  = "double"
	Reverse = "reverse"
)

// String returns, for example, "execute copy".
func (m Memory) String() string { return "execute " + m.Operation }

// Validate returns an error that names the first field out of range.
func (m Memory) Validate() error {
	if err := oneOf("operation", m.Operation, Copy, Double, Reverse); err != nil {
		return err
	}
	return checkRange("length", m.Length, maxLength)
}

// Open makes the task. It reads no files.
func (m Memory) Open() (task.Task, error) { return m.stream(), nil }

func (m Memory) stream() stream {
	return stream{
		name: m.String(), ids: characters(digits), length: m.Length, draw: m.draw,
		source: m.Length, target: len(m.answer(strings.Repeat("1", m.Length))) + 1,
	}
}

// draw draws one number: digits are drawn until the number belongs to the split.
func (m Memory) draw(rng *rand.Rand, length int, exact bool, wanted use) sample {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	for {
		if source := number(rng, length); fewNumbers(length) || twentieths(source) == wanted {
			return sample{source, m.answer(source)}
		}
	}
}

// fewNumbers reports whether there are too few numbers of a length, 9 * 10^(length-1), for disjoint splits.
func fewNumbers(length int) bool { return length <= 4 }

func (m Memory) answer(source string) string {
	switch m.Operation {
	case Copy:
		return source
	case Double:
		return source + source
	case Reverse:
		return backwards(source)
	}
	panic(fmt.Sprintf("execute: operation %q", m.Operation)) // Validate rejects it
}

// AnswerLimit returns five quarters of the correct answer, End included, plus 10.
func (m Memory) AnswerLimit(source int) int {
	answer := source + 1
	if m.Operation == Double {
		answer += source
	}
	return answer + answer/4 + 10
}

// Reader reads numbers, one per line.
func (m Memory) Reader(v task.Vocabularies) task.Reader {
	return newReader(v, "number", func(text string) (string, error) {
		s := scanner{text: text}
		if _, err := s.literal(); err != nil {
			return "", err
		}
		return m.answer(text), s.end()
	})
}

// Measure decodes and compares characters and sequences.
func (m Memory) Measure(v task.Vocabularies) task.Measure {
	return measure{ids: v, summarize: func(source string) (Summary, error) { return Summary{few: fewNumbers(len(source))}, nil }}
}
