package pipeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"universal-transformer/task"
)

// Classified is the answer of a classifier to one of several texts.
type Classified struct {
	Input   task.Input // the text as it was understood
	Classes []Class    // every class, the most probable one first; their probabilities sum to 1
	Err     error      // why this text has no answer; Classes is then nil
}

// Class is a class with its probability.
type Class struct {
	Name        string
	Probability float64
}

// ClassifyAll answers several texts together, with the probability of every class. A text that cannot be read has an error of its own.
func (m *Model) ClassifyAll(ctx context.Context, texts []string) ([]Classified, error) {
	if err := m.CanClassify(); err != nil {
		return nil, err
	}
	answers := make([]Classified, len(texts))
	var examples []task.Example
	var at []int
	for i, text := range texts {
		if answers[i].Input, answers[i].Err = m.Read(text); answers[i].Err == nil {
			examples, at = append(examples, task.Example{Source: answers[i].Input.Source}), append(at, i)
		}
	}
	if err := m.queue.Acquire(ctx); err != nil {
		return nil, err
	}
	defer m.queue.Release()
	probabilities, err := m.Evaluator().Probabilities(ctx, examples)
	if err != nil {
		return nil, err
	}
	names := m.Vocabularies.Target.Tokens()
	for i, p := range probabilities {
		answers[at[i]].Classes = sorted(names, p)
	}
	return answers, nil
}

// sorted returns the classes with their probabilities, the most probable one first.
func sorted(names []string, probabilities []float64) []Class {
	list := make([]Class, len(probabilities))
	for i, p := range probabilities {
		list[i] = Class{names[i], p}
	}
	slices.SortStableFunc(list, func(a, b Class) int { return cmp.Compare(b.Probability, a.Probability) })
	return list
}

// shared scales probabilities so that they sum to 1.
func shared(probabilities []float64) []float64 {
	sum := 0.0
	for _, p := range probabilities {
		sum += p
	}
	scaled := make([]float64, len(probabilities))
	for i, p := range probabilities {
		scaled[i] = p / max(sum, math.SmallestNonzeroFloat64)
	}
	return scaled
}
