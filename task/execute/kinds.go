package execute

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
)

// Kinds returns count test samples of each of several kinds, to show what a model finds hard: programs of the maximum length with one
// operation, and of the maximum nesting, up to 20, that contain each operation; additions by their carries; numbers of a quarter, a half and
// three quarters of the maximum length. d must be a Program or a Memory; other definitions have no kinds.
func Kinds(d task.Definition, count int) (cases []task.Case) {
	kinds, s := kindsOf(d)
	for _, k := range kinds {
		cases = append(cases, task.Case{Name: k.name, Examples: k.examples(s, count)})
	}
	return cases
}

// kindsOf returns the kinds of a definition, and the stream that encodes their samples.
func kindsOf(d task.Definition) (kinds []kind, s stream) {
	switch d := d.(type) {
	case Program:
		return d.kinds(), d.stream()
	case Memory:
		return d.kinds(), d.stream()
	}
	return nil, s
}

// A kind is a way of drawing samples.
type kind struct {
	name string
	draw func(rng *rand.Rand) sample
}

// examples returns count test samples of a kind.
func (k kind) examples(s stream, count int) (list []task.Example) {
	for i := range count {
		list = append(list, s.example(k.draw(seed.Rand(task.TestSeed, s.name+"/kinds/"+k.name, int64(i)))))
	}
	return list
}

func (m Memory) kinds() (kinds []kind) {
	last := 0
	for _, quarters := range []int{1, 2, 3} {
		if n := m.Length * quarters / 4; n > last {
			last = n
			kinds = append(kinds, kind{fmt.Sprintf("%d digits", n), func(rng *rand.Rand) sample { return m.draw(rng, n, true, forTest) }})
		}
	}
	return kinds
}

func (p Program) kinds() []kind {
	if set := operationSets[p.Operations]; len(set) > 1 {
		return append(p.single(set), p.nested(set)...)
	}
	return p.carrying()
}

// single returns kinds of programs with one operation.
func (p Program) single(set []string) (kinds []kind) {
	for _, op := range set {
		kinds = append(kinds, kind{"nesting 1: " + op, func(rng *rand.Rand) sample {
			return p.drawChain(rng, []string{op}, p.Length, forTest)
		}})
	}
	return kinds
}

// maxNested limits the nesting of the programs that nested draws: long ones almost never have no multiplication.
const maxNested = 20

// nested returns kinds of programs with the maximum nesting that contain an operation. Multiplications occur only in their own kind.
func (p Program) nested(set []string) (kinds []kind) {
	if p.Nesting == 1 || p.Nesting > maxNested {
		return nil
	}
	for _, op := range set {
		name := fmt.Sprintf("nesting %d: %s", p.Nesting, op)
		if op != multiply && slices.Contains(set, multiply) {
			name += ", no *"
		}
		kinds = append(kinds, kind{name, func(rng *rand.Rand) sample {
			for {
				operations := randomOperations(rng, set, p.Nesting)
				if slices.Contains(operations, op) && (op == multiply || !slices.Contains(operations, multiply)) {
					return p.drawChain(rng, operations, p.Length, forTest)
				}
			}
		}})
	}
	return kinds
}

// maxCarried limits the size of the additions that carrying draws: long ones almost never have few carries.
const maxCarried = 20

// carrying returns additions of the maximum length and nesting with up to a third of the possible carries, up to half of them, or more.
func (p Program) carrying() (kinds []kind) {
	most := p.Length * p.Nesting // a digit produces at most as many carries as there are additions
	if most > maxCarried {
		return nil
	}
	for _, k := range []struct{ least, most int }{{0, most / 3}, {most/3 + 1, most / 2}, {most/2 + 1, most}} {
		if k.least > k.most {
			continue
		}
		kinds = append(kinds, kind{fmt.Sprintf("carries %d to %d", k.least, k.most), func(rng *rand.Rand) sample {
			for {
				s := p.draw(rng, p.Length, true, forTest)
				if n := carries(s.source); n >= k.least && n <= k.most {
					return s
				}
			}
		}})
	}
	return kinds
}

// carries returns the total of all carries when the numbers are added at once: every carry replaces ten by one in the next place, which
// reduces the digit sum by nine.
func carries(source string) int {
	total, digitsBefore := new(big.Int), 0
	for _, n := range strings.FieldsFunc(source, func(r rune) bool { return !strings.ContainsRune(digits, r) }) {
		total.Add(total, integer(n))
		digitsBefore += digitSum(n)
	}
	return (digitsBefore - digitSum(total.String())) / 9
}

func digitSum(numeral string) (sum int) {
	for _, d := range numeral {
		sum += int(d - '0')
	}
	return sum
}
