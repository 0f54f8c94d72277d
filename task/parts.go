package task

import (
	"fmt"
	"slices"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/seed"
)

// Parts holds the examples of a task that reads them from files. Its methods are those of [Task] and [Digester].
type Parts struct {
	Stream                                 string // names the random streams: the task's name
	TrainingPart, ValidationPart, TestPart []Example
	Untrainable                            error // why the data can be evaluated on but not trained with, as with classes that a run does not have; nil: they can
}

// Training iterates over the training part, in a new order in each epoch. It panics with an [ExampleError] if the part is untrainable.
func (p *Parts) Training(seedValue uint64, i int64) Example {
	if p.Untrainable != nil {
		panic(&ExampleError{p.Untrainable})
	}
	n := int64(len(p.TrainingPart))
	order := seed.NewPermutation(seedValue, p.Stream+"/epoch", i/n, len(p.TrainingPart))
	return p.TrainingPart[order.At(int(i%n))].clone()
}

// fewHeldOut is a number of examples below which the score of a part says little: with 20, one example is 5 %.
const fewHeldOut = 20

// FewNotes remarks on held-out parts of few examples; unit says what they are: "pairs".
func FewNotes(unit string, validation, test int) []string {
	if min(validation, test) >= fewHeldOut {
		return nil
	}
	return []string{fmt.Sprintf("%s for validation and %d for testing: with fewer than %d, scores depend much on chance; add data or raise task.held_out",
		quantity.Regular(validation, unit), test, fewHeldOut)}
}

// HeldOut returns the test or the validation part in the order of the file; with a Count below its size, that many examples of it,
// selected by the seed.
func (p *Parts) HeldOut(seedValue uint64, s Selection) ([]Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	part := p.TestPart
	if s.Validation {
		part = p.ValidationPart
	}
	n := len(part)
	picked := make([]Example, n)
	if s.Count == 0 {
		for i, e := range part {
			picked[i] = e.clone()
		}
		return picked, nil
	}
	order := seed.NewPermutation(seedValue, p.Stream+"/held-out", 0, n)
	picked = picked[:min(s.Count, n)]
	for i := range picked {
		picked[i] = part[order.At(i)].clone()
	}
	return picked, nil
}

// Digests returns the digests of the examples.
func (p *Parts) Digests() Digests {
	return Digests{Training: DigestExamples(p.TrainingPart), Validation: DigestExamples(p.ValidationPart), Test: DigestExamples(p.TestPart)}
}

func (e Example) clone() Example {
	return Example{Source: slices.Clone(e.Source), Target: slices.Clone(e.Target), Origin: e.Origin}
}
