package algorithmic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
)

// A stream is a task defined by a way to draw an example; it provides training and held-out streams.
type stream struct {
	name          string
	base          int
	ids           task.Vocabularies
	shortest      int // minimum length of a source
	longest       int // maximum length of a training source
	longestTarget int // maximum length of a training target, including End
	examples      int // size of the training set; 0: generated online
	// shape draws the lengths of the one or two numbers of an example. If exact, its source has exactly length tokens; otherwise
	// lengths are mixed up to length.
	shape func(rng *rand.Rand, length int, exact bool) shape
	fill  func(rng *rand.Rand, s shape) task.Example // draws the digits
	hard  []hardKind                                 // kinds of sources that fill almost never draws; may be empty
}

// shape is the number of digits of each number in a source; copy and reverse have only one number.
type shape struct{ first, second int }

// Name returns the task's name, such as "copy".
func (s stream) Name() string { return s.name }

// Vocabularies returns the digits, the same on both sides.
func (s stream) Vocabularies() task.Vocabularies { return s.ids }

// MaxLengths returns the longest source and target in training.
func (s stream) MaxLengths() (source, target int) { return s.longest, s.longestTarget }

// Notes returns nil.
func (s stream) Notes() []string { return nil }

// Training returns the i-th example of the seed's training stream.
func (s stream) Training(seedValue uint64, i int64) task.Example {
	if s.examples > 0 {
		n := int64(s.examples)
		order := seed.NewPermutation(seedValue, s.name+"/epoch", i/n, s.examples)
		i = int64(order.At(int(i % n)))
	}
	return s.draw(seed.Rand(seedValue, s.name+"/training", i), s.longest, false, task.ForTraining)
}

// HeldOut draws sel.Count examples, 10,000 if Count is 0; with sel.Hard every second one is a hard case, of each kind in turn. A Length, Mix
// or From below the minimum length of a source is an error.
func (s stream) HeldOut(seedValue uint64, sel task.Selection) ([]task.Example, error) {
	err := sel.Validate()
	if err == nil && len(s.hard) == 0 {
		err = sel.RejectHard()
	}
	if err != nil {
		return nil, err
	}
	length, exact, field := s.longest, false, ""
	switch {
	case sel.Length > 0:
		length, exact, field = sel.Length, true, "length"
	case sel.Mix > 0:
		length, field = sel.Mix, "mix"
	}
	if length < s.shortest {
		return nil, &task.SelectionError{Field: field, Problem: fmt.Sprintf("is %d: the shortest source of %s has %d tokens", length, s.name, s.shortest)}
	}
	if sel.From > 0 && sel.From < s.shortest {
		return nil, &task.SelectionError{Field: "from", Problem: fmt.Sprintf("is %d: the shortest source of %s has %d tokens", sel.From, s.name, s.shortest)}
	}
	count := sel.Count
	if count == 0 {
		count = defaultHeldOut
	}
	if err := task.ValidateSize(count, length); err != nil {
		return nil, err
	}
	examples := make([]task.Example, count)
	name, use := s.name+"/held-out", task.ForTest
	if sel.Validation {
		name, use = s.name+"/validation", task.ForValidation
	}
	for i := range examples {
		rng := seed.Rand(seedValue, name, int64(i))
		n, exact := length, exact
		if sel.From > 0 {
			n, exact = sel.From+rng.IntN(length-sel.From+1), true
		}
		if sel.Hard && i%2 == 1 {
			examples[i] = s.drawHard(rng, s.hard[i/2%len(s.hard)], n, exact)
		} else {
			examples[i] = s.draw(rng, n, exact, use)
		}
	}
	return examples, nil
}

// draw returns one example of a split: it draws a shape, and then digits until the source belongs to that split.
func (s stream) draw(rng *rand.Rand, length int, exact bool, wanted task.Split) task.Example {
	of := s.shape(rng, length, exact)
	e := s.fill(rng, of)
	for !few(s.base, of.first+of.second) && task.SplitOf(e.Source) != wanted {
		e = s.fill(rng, of)
	}
	return e
}

// drawHard returns a hard case of a kind. If exact, its source has exactly length tokens; otherwise lengths are uniform up to length. There are
// too few hard cases for disjoint splits.
func (s stream) drawHard(rng *rand.Rand, kind hardKind, length int, exact bool) task.Example {
	if !exact {
		length = s.shortest + rng.IntN(length-s.shortest+1)
	}
	return kind.draw(rng, length)
}

// enough is the number of sources of a shape from which on the parts are disjoint.
const enough = 10_000

// few reports whether there are too few sources with that many digits for disjoint parts.
func few(base, digits int) bool {
	return float64(digits)*math.Log(float64(base)) < math.Log(enough)-1e-9
}
