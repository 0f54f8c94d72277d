package algorithmic

import (
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// HardCases returns count sources of each of several kinds, of exactly length symbols, that random digits almost never produce:
// strings of one digit and of short periods, in which neighbours cannot be distinguished by their digits; and for addition carries
// through all digits and operands of very different lengths. d must be a task of this package; other definitions have no hard cases.
func HardCases(d task.Definition, length, count int) []task.Case {
	switch d := d.(type) {
	case Copy:
		return periodic(orDefault(d.Base, defaultBase), length, count, d.answer)
	case Reverse:
		return periodic(orDefault(d.Base, defaultBase), length, count, d.answer)
	case Addition:
		return d.hard(length, count)
	}
	return nil
}

// drawn returns a case whose examples are drawn one by one.
func drawn(name string, length, count int, draw func(rng *rand.Rand) task.Example) task.Case {
	c := task.Case{Name: fmt.Sprintf("%s, length %d", name, length)}
	for i := range count {
		c.Examples = append(c.Examples, draw(seed.Rand(task.TestSeed, "hard/"+name, int64(i))))
	}
	return c
}

// periodic returns strings of short periods, with their answers.
func periodic(base, length, count int, answer func(source []vocab.ID) task.Example) (cases []task.Case) {
	for _, k := range []struct {
		name   string
		period int
	}{{"one digit repeated", 1}, {"period 2", 2}, {"period 7", 7}} {
		cases = append(cases, drawn(k.name, length, count, func(rng *rand.Rand) task.Example {
			pattern, source := randomDigits(rng, base, k.period), make([]vocab.ID, length)
			for i := range source {
				source[i] = pattern[i%k.period]
			}
			return answer(source)
		}))
	}
	return cases
}

// hard returns three kinds of additions: those whose digits sum to base-1 at every position except the first, where a carry starts
// and runs through all of them; those of one digit and a long number, in either order; and those of two numbers with one repeated
// digit each.
func (a Addition) hard(length, count int) []task.Case {
	base := orDefault(a.Base, defaultBase)
	half := (length - 1) / 2
	repeated := func(digit vocab.ID, n int) []vocab.ID {
		list := make([]vocab.ID, n)
		for i := range list {
			list[i] = digit
		}
		return list
	}
	return []task.Case{
		drawn("a carry through all digits", length, count, func(rng *rand.Rand) task.Example {
			x := number(rng, base, half)
			y := make([]vocab.ID, length-1-half)
			for i := range y {
				y[i] = digit0 + vocab.ID(base-1) // beyond the end of x
				if i < half {
					y[i] -= x[i] - digit0 // x and y sum to base-1
				}
			}
			first := rng.IntN(base-1) + 1
			x[0], y[0] = digit0+vocab.ID(first), digit0+vocab.ID(base-first) // and to base at the first position
			return a.answer(x, y)
		}),
		drawn("one digit and a long number", length, count, func(rng *rand.Rand) task.Example {
			x, y := number(rng, base, 1), number(rng, base, length-2)
			if rng.IntN(2) == 0 {
				x, y = y, x
			}
			return a.answer(x, y)
		}),
		drawn("one repeated digit in each number", length, count, func(rng *rand.Rand) task.Example {
			digit := func() vocab.ID { return digit0 + vocab.ID(1+rng.IntN(base-1)) }
			return a.answer(repeated(digit(), half), repeated(digit(), length-1-half))
		}),
	}
}
