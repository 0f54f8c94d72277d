package pipeline

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Protocol determines how a model is evaluated: on which examples, and how it predicts.
type Protocol struct {
	Selection     task.Selection
	File          string                // measure on the examples of this file, of the task's format, instead
	TeacherForced bool                  // predict every token from the true ones before it, where the task would decode
	ComputeHalted bool                  // compute halted positions too, where nothing is decoded
	Beam          decoding.Beam         // Width 0: greedy
	Progress      func(done, total int) // must not use the model, which is busy; may be nil
	Log           func(line string)     // what there is to know of a File; may be nil
}

// Evaluation is the result of an evaluation and its examples.
type Evaluation struct {
	evaluation.Row
	Examples []task.Example `json:"-"` // that Row.Answers answer
}

// Evaluate evaluates the model with its task's measure, on held-out examples or on those of a file. The test examples are the same for
// every run of a task; validation examples depend on the run's seed.
func (m *Model) Evaluate(ctx context.Context, p Protocol) (Evaluation, error) {
	definition := m.Run.Task.Value
	name, lengths, examples, err := m.examples(ctx, p)
	if err != nil {
		return Evaluation{}, err
	}
	if definition.Kind() != task.Transduction && p.Beam.Width > 0 {
		return Evaluation{}, fmt.Errorf("%s: it is measured by probabilities, where there is nothing to search: leave out the beam", m.Dir())
	}
	measure := definition.Measure(m.Vocabularies)
	if definition.Kind() == task.Transduction && !p.TeacherForced && p.ComputeHalted {
		return Evaluation{}, fmt.Errorf("halted positions are always computed where answers are decoded: ask for that with teacher forcing only")
	}
	if p.TeacherForced {
		measure = forced(measure)
	}
	if err := m.busy.acquire(ctx); err != nil {
		return Evaluation{}, err
	}
	defer m.busy.release()
	e := m.Evaluator()
	e.Beam, e.ComputeHalted, e.Progress = p.Beam, p.ComputeHalted, p.Progress
	row, err := e.Measure(ctx, measure, examples)
	row.Task, row.Lengths = name, lengths
	return Evaluation{row, examples}, err
}

// MeasuresWholeSet reports whether the task's measure needs all test examples; see [task.WholeSetMeasure].
func (m *Model) MeasuresWholeSet() bool {
	_, ok := m.Run.Task.Value.Measure(m.Vocabularies).(task.WholeSetMeasure)
	return ok
}

// forced replaces decoding in a measure by teacher forcing.
func forced(m task.Measure) task.Measure {
	switch decodes := m.(type) {
	case task.DecodedAccuracy:
		return task.ForcedAccuracy(decodes)
	case task.DecodedBLEU:
		return task.ForcedAccuracy{}
	}
	return m
}

// examples returns the examples to evaluate on.
func (m *Model) examples(ctx context.Context, p Protocol) (name, lengths string, examples []task.Example, err error) {
	if p.File != "" {
		examples, err := unlessDone(ctx, func() ([]task.Example, error) {
			examples, notes, err := m.reader.File(p.File)
			for _, line := range notes {
				if p.Log != nil && ctx.Err() == nil {
					p.Log(line)
				}
			}
			return examples, err
		})
		if n := p.Selection.Count; n > 0 && n < len(examples) {
			examples = examples[:n]
		}
		return m.Run.Task.Value.String(), "of " + p.File, examples, err
	}
	opened, err := openTask(ctx, m.Run)
	if err != nil {
		return "", "", nil, err
	}
	if !m.Vocabularies.Equal(opened.Vocabularies()) {
		return "", "", nil, fmt.Errorf("%s: %w", m.Dir(), errVocabulary)
	}
	seed := uint64(task.TestSeed)
	if p.Selection.Validation {
		seed = m.Run.Seed
	}
	examples, err = opened.HeldOut(seed, p.Selection)
	return opened.Name(), p.Selection.String(), examples, err
}

// openTask reads the data of a run's task.
func openTask(ctx context.Context, r experiment.Run) (task.Task, error) {
	return unlessDone(ctx, r.OpenTask)
}

// unlessDone runs work that may wait for a file. If ctx ends first, it returns without waiting for it.
func unlessDone[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.value, o.err = work()
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Evaluator applies the model to examples, for custom measures. While it is in use, nothing else may use the model.
func (m *Model) Evaluator() *evaluation.Evaluator {
	return evaluator(m.backend, m.store, m.graph, m.Run.Task.Value, m.Vocabularies)
}

func evaluator(backend compute.Backend, store *model.Store, graph universal.Model, d task.Definition, v task.Vocabularies) *evaluation.Evaluator {
	return &evaluation.Evaluator{
		Backend: backend, Store: store, Model: graph, Limit: answerLimit(d),
		Plan: batch.Plan{Tokens: evaluationTokens, TokensPerPosition: v.TokensPerPosition},
	}
}

// evaluationTokens is the number of positions of a batch in evaluation.
const evaluationTokens = 4096

// Pair is a text to score: a source and an answer; a language model reads only the target.
type Pair struct{ Source, Target string }

// Scored is a text with the log-probability of each of its tokens.
type Scored struct {
	task.Scored
	Tokens  []string // as the vocabulary spells them, with an End where texts have one
	Unknown int      // of them, those that it does not have
	Err     error    // why this text has no probability
}

// Score returns the log-probability of every token of the targets, given the true tokens before it: of answers to sources or, for a
// language model, of texts. A text that cannot be read has an error of its own.
func (m *Model) Score(ctx context.Context, pairs []Pair) ([]Scored, error) {
	scored := make([]Scored, len(pairs))
	var examples []task.Example
	var at []int
	for i, p := range pairs {
		e, err := m.example(p)
		if scored[i].Err = err; err == nil {
			examples, at = append(examples, e), append(at, i)
		}
	}
	if err := m.busy.acquire(ctx); err != nil {
		return nil, err
	}
	defer m.busy.release()
	found, err := m.Evaluator().Score(ctx, examples)
	if err != nil {
		return nil, err
	}
	for i := range found {
		scored[at[i]] = m.spelled(found[i], examples[i])
	}
	return scored, nil
}

// example reads a pair.
func (m *Model) example(p Pair) (e task.Example, err error) {
	if e.Target, err = m.reader.Target(p.Target); err != nil || m.Run.Task.Value.Kind() == task.LanguageModeling {
		return e, err
	}
	in, err := m.Read(p.Source)
	if err != nil {
		return e, fmt.Errorf("the source: %w", err)
	}
	e.Source = in.Source
	return e, nil
}

// spelled adds the tokens of an example to its scores.
func (m *Model) spelled(found task.Scored, e task.Example) Scored {
	s, v := Scored{Scored: found}, m.Vocabularies.Target
	unknown, has := v.Unknown()
	for _, id := range e.Target {
		if s.Tokens = append(s.Tokens, v.Token(id)); has && id == unknown {
			s.Unknown++
		}
	}
	return s
}
