package execute

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"universal-transformer/task"
)

// Program contains the program evaluation tasks of table 6: chains of operations, each applied to the result of the previous one and to
// new numbers with exactly as many digits as the sample's length L.
//
//	addition  (57032+41187)+10009 -> 108228
//	control   x=(57032if40404<39999else41187)for[9]x+=83004 -> 788223
//	program   10007-99990 -> 910017
//
// Answers are modulo 10^(L+1) and never negative; intermediate results are not reduced. A loop x=Afor[k]x+=B is A + kB, with k in 1..9;
// AifB<CelseD is A if B < C, and D otherwise.
type Program struct {
	transduction
	Operations     string `json:"operations"`       // program (+ - * if for), control (if for), addition (+) or addition+control (+ if for)
	Nesting        int    `json:"nesting"`          // maximum number of operations; 2 in the paper
	Length         int    `json:"length"`           // maximum number of digits of a number; 5 in the paper
	LittleEndFirst bool   `json:"little_end_first"` // answers begin with their last digit: easier than the paper's task

	// TrainingOperations is the set of operations of training programs, if it differs from that of validation and test. It is one of
	// the sets above; addition+control+loops or program+loops, where half of the operations are loops; control+loops, where three
	// quarters are loops; or program+products, where half are products.
	TrainingOperations string `json:"training_operations,omitempty"`

	// TrainingSparseFactors makes the second factor of a product in training have zeros in the middle: its first digit and its last k
	// digits are drawn, with k uniform in 0..L-1, as in 12345*40067. A digit of a product is a sum with a term for each nonzero digit
	// of the factor.
	TrainingSparseFactors bool `json:"training_sparse_factors,omitempty"`

	// TrainingLongest is the share of training programs with the maximum nesting and length. Those of the other programs are uniform.
	TrainingLongest float64 `json:"training_longest,omitempty"`
}

// The sets of operations of Program.
const (
	AllOperations      = "program"
	Control            = "control"
	Addition           = "addition"
	AdditionAndControl = "addition+control"

	// Sets for training only: half of the operations are loops, or three quarters of those of control, or half are products.
	AdditionAndLoops   = "addition+control+loops"
	ProgramAndLoops    = "program+loops"
	ControlAndLoops    = "control+loops"
	ProgramAndProducts = "program+products"
)

// The operations, as summaries and measurements name them.
const (
	add      = "+"
	subtract = "-"
	multiply = "*"
	choose   = "if"
	loop     = "for"
)

var operationSets = map[string][]string{
	AllOperations:      {add, subtract, multiply, choose, loop},
	Control:            {choose, loop},
	Addition:           {add},
	AdditionAndControl: {add, choose, loop},
	AdditionAndLoops:   {add, choose, loop, loop},
	ControlAndLoops:    {choose, loop, loop, loop},
	ProgramAndLoops:    {add, subtract, multiply, choose, loop, loop, loop, loop},
	ProgramAndProducts: {add, subtract, choose, loop, multiply, multiply, multiply, multiply},
}

// String returns, for example, "execute program".
func (p Program) String() string { return named(p.Operations, p.LittleEndFirst) }

// named returns the name of a task, with a suffix if its answers are reversed.
func named(what string, littleEndFirst bool) string {
	if littleEndFirst {
		what += ", little end first"
	}
	return "execute " + what
}

// Validate returns an error that names the first field out of range.
func (p Program) Validate() error {
	if err := oneOf("operations", p.Operations, AllOperations, Control, Addition, AdditionAndControl); err != nil {
		return err
	}
	if p.TrainingOperations != "" {
		if err := oneOf("training_operations", p.TrainingOperations, AllOperations, Control, Addition, AdditionAndControl, AdditionAndLoops, ControlAndLoops, ProgramAndLoops, ProgramAndProducts); err != nil {
			return err
		}
	}
	if !(p.TrainingLongest >= 0 && p.TrainingLongest <= 1) {
		return fmt.Errorf("training_longest is %v: it must be from 0 to 1", p.TrainingLongest)
	}
	if err := cmp.Or(checkRange("nesting", p.Nesting, maxNesting), checkRange("length", p.Length, maxLength)); err != nil {
		return err
	}
	if problem := p.tooLarge(p.Length); problem != "" {
		return fmt.Errorf("nesting is %d and length is %d: %s; lower one of them", p.Nesting, p.Length, problem)
	}
	return nil
}

// tooLarge returns why programs of validation and test with numbers of a length could not be evaluated, "" if they can.
func (p Program) tooLarge(length int) string {
	p.Length, p.TrainingOperations = length, ""
	if n := p.longest(); n > maxText {
		return fmt.Sprintf("programs would have up to %d characters, more than %d", n, maxText)
	}
	if n := (p.Nesting + 1) * length; n > maxValue && slices.Contains(operationSets[p.Operations], multiply) {
		return fmt.Sprintf("results would have up to %d digits, more than %d", n, maxValue)
	}
	return ""
}

// Open makes the task. It reads no files.
func (p Program) Open() (task.Task, error) { return p.stream(), nil }

func (p Program) stream() stream {
	notes := []string{"answers are modulo 10^(L+1), where L is the number of digits of a sample's numbers, as in Sonnet's generator; the paper does not say"}
	if p.TrainingOperations != "" {
		notes = append(notes, fmt.Sprintf("training programs have the operations %s, programs of validation and test %s",
			strings.Join(p.trainingSet(), " "), strings.Join(operationSets[p.Operations], " ")))
	}
	if p.TrainingSparseFactors {
		notes = append(notes, "in training, the second factor of a product has a random first digit and k random last digits, k uniform in 0..L-1; the others are zeros")
	}
	if p.TrainingLongest > 0 {
		notes = append(notes, fmt.Sprintf("%g of the training programs have the maximum length and nesting; those of the others are uniform", p.TrainingLongest))
	}
	return stream{
		name: p.String(), ids: characters(digits + "+-*=()<>[]x" + "if" + "else" + "for"), length: p.Length, draw: p.draw,
		tooLarge: p.tooLarge, source: p.longest(), target: p.Length + 1 + 1, notes: append(notes, reversedNote(p.LittleEndFirst)...),
	}
}

// reversedNote returns the note about reversed answers.
func reversedNote(littleEndFirst bool) []string {
	if !littleEndFirst {
		return nil
	}
	return []string{"answers are written from their last digit to their first, unlike in the paper"}
}

// trainingSet returns the operations of training programs.
func (p Program) trainingSet() []string {
	if p.TrainingOperations != "" {
		return operationSets[p.TrainingOperations]
	}
	return operationSets[p.Operations]
}

// longest returns the maximum number of characters of a source: a number, and what every operation adds.
func (p Program) longest() int {
	adds := 0
	for _, op := range slices.Concat(operationSets[p.Operations], p.trainingSet()) {
		switch op {
		case choose:
			adds = max(adds, len("if<else")+3*p.Length)
		case loop:
			adds = max(adds, len("x=for[9]x+=")+p.Length)
		default:
			adds = max(adds, len("+")+p.Length)
		}
	}
	return p.Length + p.Nesting*adds + (p.Nesting-1)*len("()")
}

// answer returns a value modulo 10^(length+1).
func (p Program) answer(value *big.Int, length int) string {
	modulus := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(length+1)), nil)
	return p.written(new(big.Int).Mod(value, modulus).String()) // Euclidean modulus: never negative
}

func (p Program) written(answer string) string {
	if p.LittleEndFirst {
		return backwards(answer)
	}
	return answer
}

// Reader reads programs of these operations, and files of them.
func (p Program) Reader(v task.Vocabularies) task.Reader {
	return newReader(v, "program", func(text string) (string, error) {
		answer, of, err := EvaluateProgram(text)
		if err != nil {
			return "", err
		}
		for i, op := range of.Operations {
			if !slices.Contains(operationSets[p.Operations], op) {
				return "", &SyntaxError{of.places[i], fmt.Sprintf("%q is not an operation of the task %s", op, p.Operations)}
			}
		}
		return p.written(answer), nil
	})
}

// Measure decodes and compares characters and sequences; sequences also by operation and by nesting.
func (p Program) Measure(v task.Vocabularies) task.Measure {
	return measure{ids: v, summarize: func(source string) (Summary, error) {
		_, of, err := EvaluateProgram(source)
		of.few = err == nil && fewPrograms(of.Operations, of.Digits)
		return of, err
	}}
}
