package execute

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
)

// draw draws one program: the operations once, and the numbers until the program belongs to the split, so that hashing favours no
// operation.
func (p Program) draw(rng *rand.Rand, length int, exact bool, wanted use) sample {
	nesting, set := p.Nesting, operationSets[p.Operations]
	if wanted == forTraining {
		set = p.trainingSet()
		exact = exact || p.TrainingLongest > 0 && rng.Float64() < p.TrainingLongest
	}
	if !exact {
		length, nesting = 1+rng.IntN(length), 1+rng.IntN(nesting)
	}
	return p.drawChain(rng, randomOperations(rng, set, nesting), length, wanted)
}

// randomOperations draws n operations of a set.
func randomOperations(rng *rand.Rand, set []string, n int) []string {
	operations := make([]string, n)
	for i := range operations {
		operations[i] = set[rng.IntN(len(set))]
	}
	return operations
}

// drawChain draws numbers for operations until the program belongs to the split.
func (p Program) drawChain(rng *rand.Rand, operations []string, length int, wanted use) sample {
	few := fewPrograms(operations, length)
	for {
		source, value := chain(rng, operations, length, wanted == forTraining && p.TrainingSparseFactors)
		if few || twentieths(source) == wanted {
			return sample{source, p.answer(value, length)}
		}
	}
}

// chain draws numbers, comparators and loop counts for operations. Second factors may have zeros in the middle.
func chain(rng *rand.Rand, operations []string, length int, sparseFactors bool) (text string, value *big.Int) {
	fresh := func() (string, *big.Int) {
		n := number(rng, length)
		return n, integer(n)
	}
	sparse := func() (string, *big.Int) {
		n := []byte(number(rng, length))
		middle := length - rng.IntN(length)
		for i := 1; i < middle; i++ {
			n[i] = '0'
		}
		return string(n), integer(string(n))
	}
	text, value = fresh()
	for i, op := range operations {
		if i > 0 {
			text = "(" + text + ")"
		}
		switch op {
		case choose:
			text, value = conditional(rng, fresh, text, value)
		case loop:
			k := 1 + rng.IntN(9)
			b, n := fresh()
			text = "x=" + text + "for[" + strconv.Itoa(k) + "]x+=" + b
			value.Add(value, n.Mul(n, big.NewInt(int64(k))))
		default:
			draw := fresh
			if op == multiply && sparseFactors {
				draw = sparse
			}
			b, n := draw()
			text += op + b
			map[string]func(x, y *big.Int) *big.Int{add: value.Add, subtract: value.Sub, multiply: value.Mul}[op](value, n)
		}
	}
	return text, value
}

// conditional draws AifB<CelseD or AifB>CelseD.
func conditional(rng *rand.Rand, fresh func() (string, *big.Int), text string, value *big.Int) (string, *big.Int) {
	b, left := fresh()
	c, right := fresh()
	d, otherwise := fresh()
	comparator, holds := "<", left.Cmp(right) < 0
	if rng.IntN(2) == 1 {
		comparator, holds = ">", left.Cmp(right) > 0
	}
	if !holds {
		value = otherwise
	}
	return text + "if" + b + comparator + c + "else" + d, value
}

// fewPrograms reports whether there are too few programs with these operations for disjoint splits.
func fewPrograms(operations []string, length int) bool {
	numbers := 9.0 // count of numbers with this length
	for range length - 1 {
		numbers *= 10
	}
	count := numbers
	for _, op := range operations {
		switch op {
		case choose:
			count *= numbers * numbers * numbers * 2
		case loop:
			count *= numbers * 9
		default:
			count *= numbers
		}
	}
	return count < enough
}

// integer returns the value of a decimal numeral.
func integer(numeral string) *big.Int {
	n, ok := new(big.Int).SetString(numeral, 10)
	if !ok {
		panic(fmt.Sprintf("execute: %q is not a number", numeral)) // callers pass digits only
	}
	return n
}
