package execute

import (
	"math/big"
	"math/rand/v2"
	"strconv"

	"universal-transformer/task"
)

// Script is program evaluation in the grammar of Zaremba and Sutskever (2014): lines of Python separated by #, the last of which prints.
// Every operation is one of six and is applied to the previous result, if there is one, and to new numbers, in random order:
//
//	pair            (a+b), (a-b)
//	multiplication  (a*c), (c*a)
//	equality        a
//	variable        v=a;#  and then (v+b), (v-b)
//	loop            v=a#for x in range(c):v+=b#  or -=, and then v
//	if              (a if b<c else d), or >
//
// Numbers are in 1..10^L and c in 1..4L; the mix draws the length of every number independently. There is no modulus, and an answer may
// be negative: a=305#for x in range(6):a+=48#print((a-77)) -> 516.
//
// As in the authors' generator, a hash assigns each program to training, validation or testing, a third of all programs each, however few
// there are of its kind. The generator's end marks, @ and a dot, are left out: sources have lengths, and targets an End.
type Script struct {
	transduction
	Nesting        int  `json:"nesting"`          // maximum number of operations, at most 10, as there are ten variables
	Length         int  `json:"length"`           // L: numbers are up to 10^L
	LittleEndFirst bool `json:"little_end_first"` // answers begin with their last digit and end with their sign
}

const variables = "abcdefghij"

// String returns "execute script".
func (s Script) String() string { return named("script", s.LittleEndFirst) }

// Validate returns an error that names the first field out of range.
func (s Script) Validate() error {
	if err := checkRange("nesting", s.Nesting, len(variables)); err != nil {
		return err
	}
	return checkRange("length", s.Length, maxLength)
}

// Open makes the task. It reads no files.
func (s Script) Open() (task.Task, error) {
	source, target := s.longest()
	return stream{
		name: s.String(), ids: characters(digits + "+-*=()<>:;# " + variables + "for x in range" + "print" + "if" + "else"),
		length: s.Length, source: source, target: target, notes: reversedNote(s.LittleEndFirst), draw: s.draw,
	}, nil
}

// longest returns upper bounds of the numbers of characters of a training source, and of an answer with its sign and End.
func (s Script) longest() (source, target int) {
	literal, maximum := s.Length+1, 4*s.Length // digits of 10^L, and the maximum of c
	constant := len(strconv.Itoa(maximum))
	adds := max(len("a=;#(a+)")+literal, len("a=#for x in range():a+=#a")+constant+literal, len("( if < else )")+3*literal, len("(*)")+constant)
	number := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.Length)), nil)
	value := new(big.Int).Set(number)
	for range s.Nesting {
		value.Add(value.Mul(value, big.NewInt(int64(maximum))), number)
	}
	return len("print()") + literal + s.Nesting*adds, len("-") + len(value.String()) + 1
}

// draw draws one program of a split. A program of another split is drawn again as a whole, so the hash of short programs may slightly
// favour some operations.
func (s Script) draw(rng *rand.Rand, length int, exact bool, wanted use) sample {
	for {
		w := writer{rng: rng, length: length, exact: exact, free: rng.Perm(len(variables))}
		nesting := s.Nesting
		if !exact {
			nesting = 1 + rng.IntN(nesting)
		}
		for range nesting {
			w.operation(rng.IntN(operationKinds))
		}
		source := w.lines + "print(" + w.waiting.text + ")"
		if thirds(source) == wanted {
			return sample{source, s.written(w.waiting.value.String())}
		}
	}
}

func (s Script) written(answer string) string {
	if s.LittleEndFirst {
		return backwards(answer)
	}
	return answer
}

// A term is an expression and its value.
type term struct {
	text  string
	value *big.Int
}

// Reader reads programs with # between their lines, and files of them.
func (s Script) Reader(v task.Vocabularies) task.Reader {
	return newReader(v, "program", func(text string) (string, error) {
		answer, _, err := EvaluateScript(text)
		return s.written(answer), err
	})
}

// Measure decodes and compares characters and sequences; sequences also by operation and by the number of visible operations.
func (s Script) Measure(v task.Vocabularies) task.Measure {
	return measure{ids: v, summarize: func(source string) (Summary, error) {
		_, of, err := EvaluateScript(source)
		return of, err
	}}
}
