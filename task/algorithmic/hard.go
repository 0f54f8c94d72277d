package algorithmic

import (
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A hardKind is a kind of sources that random digits almost never produce.
type hardKind struct {
	name string
	draw func(rng *rand.Rand, length int) task.Example // with a source of exactly length symbols
}

// HardCases returns count sources of each of several kinds, of exactly length symbols, that random digits almost never produce:
// strings of one digit and of short periods, in which neighbours cannot be distinguished by their digits; and for addition carries
// through all digits and operands of very different lengths. d must be a task of this package; other definitions have no hard cases, nor are
// there any below the minimum length of a source.
func HardCases(d task.Definition, length, count int) (cases []task.Case) {
	of, ok := d.(interface{ stream() stream })
	if !ok {
		return nil
	}
	s := of.stream()
	if length < s.shortest {
		return nil
	}
	for _, k := range s.hard {
		c := task.Case{Name: fmt.Sprintf("%s, length %d", k.name, length)}
		for i := range count {
			c.Examples = append(c.Examples, k.draw(seed.Rand(task.TestSeed, "hard/"+k.name, int64(i)), length))
		}
		cases = append(cases, c)
	}
	return cases
}

// periodic returns strings of short periods, with their answers.
func periodic(base int, answer func(source []vocab.ID) task.Example) (kinds []hardKind) {
	for _, k := range []struct {
		name   string
		period int
	}{{"one digit repeated", 1}, {"period 2", 2}, {"period 7", 7}} {
		kinds = append(kinds, hardKind{k.name, func(rng *rand.Rand, length int) task.Example {
			pattern, source := randomDigits(rng, base, k.period), make([]vocab.ID, length)
			for i := range source {
				source[i] = pattern[i%k.period]
			}
			return answer(source)
		}})
	}
	return kinds
}

// hard returns three kinds of additions: those whose digits sum to base-1 at every position except the first, where a carry starts
// and runs through all of them; those of one digit and a long number, in either order; and those of two numbers with one repeated
// digit each.
func (a Addition) hard() []hardKind {
	base := a.filled().Base
	repeated := func(digit vocab.ID, n int) []vocab.ID {
		list := make([]vocab.ID, n)
		for i := range list {
			list[i] = digit
		}
		return list
	}
	return []hardKind{
		{"a carry through all digits", func(rng *rand.Rand, length int) task.Example {
			return a.answer(carrying(rng, base, length))
		}},
		{"one digit and a long number", func(rng *rand.Rand, length int) task.Example {
			x, y := number(rng, base, 1), number(rng, base, length-2)
			if rng.IntN(2) == 0 {
				x, y = y, x
			}
			return a.answer(x, y)
		}},
		{"one repeated digit in each number", func(rng *rand.Rand, length int) task.Example {
			half := (length - 1) / 2
			digit := func() vocab.ID { return digit0 + vocab.ID(1+rng.IntN(base-1)) }
			return a.answer(repeated(digit(), half), repeated(digit(), length-1-half))
		}},
	}
}

// carrying draws two numbers for a source of some length, of equal length or y with one or two digits more. Their digits sum to base at the
// first position and to base-1 at the others, where x counts as 0 beyond its end.
func carrying(rng *rand.Rand, base, length int) (x, y []vocab.ID) {
	half := (length - 1) / 2
	equal := length%2 == 1 && half > 1 // then the last digits also sum to base-1, and neither may be 0
	if equal && base == 2 {
		half--
	}
	x, y = number(rng, base, half), make([]vocab.ID, length-1-half)
	if largest := digit0 + vocab.ID(base-1); equal && base > 2 && x[half-1] == largest {
		x[half-1] = digit0 + vocab.ID(1+rng.IntN(base-2))
	}
	for i := range y {
		y[i] = digit0 + vocab.ID(base-1) // beyond the end of x
		if i < half {
			y[i] -= x[i] - digit0
		}
	}
	first := rng.IntN(base-1) + 1
	x[0], y[0] = digit0+vocab.ID(first), digit0+vocab.ID(base-first)
	return x, y
}
