package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Protocol determines how a model is evaluated: on which examples, and how it predicts.
type Protocol struct {
	Selection     task.Selection
	File          string                // evaluate on the examples of this file, in the task's format, instead; of Selection, only Count applies
	TeacherForced bool                  // predict every token from the true tokens before it, instead of decoding
	ComputeHalted bool                  // compute halted positions too; not for decoded answers
	Beam          decoding.Beam         // of decoded answers; zero: greedy
	MaxLength     int                   // maximum tokens of a decoded answer, at most MaxTokens; 0: [Model.AnswerLimit]
	Cache         *Cache                // a continuous cache for language models; nil: none
	TuneCache     bool                  // choose the constants of a cache on the validation examples; Cache is nil
	CountSteps    bool                  // count the steps of positions also if depth is fixed; done anyway with an exit
	Progress      func(done, total int) // must not use the model; may be nil
	Log           func(line string)     // receives Evaluation.Remarks, and messages while data are read; may be nil
}

// Evaluation is the result of an evaluation and its examples.
type Evaluation struct {
	evaluation.Row
	Examples []task.Example `json:"-"` // as many as Row.Count; Row.Answers belong to them
	Remarks  []string       `json:"-"` // on the data, such as lines that were skipped; Row.Notes ends with them
}

// Cache is a continuous cache of a language model.
type Cache = evaluation.Cache

// PonderTime is the number of steps per position: mean, standard deviation, and the means of the tenths of the positions of a sequence.
type PonderTime = evaluation.Steps

// Evaluate evaluates the model with its task's measure, on held-out examples or on those of a file. The test examples are the same for
// every run of a task; validation examples depend on the run's seed.
func (m *Model) Evaluate(ctx context.Context, p Protocol) (Evaluation, error) {
	definition := m.Run.Task.Value
	if err := m.checkProtocol(p); err != nil {
		return Evaluation{}, err
	}
	said := &remarks{log: p.Log}
	name, lengths, examples, err := m.examples(ctx, p, said)
	if err != nil {
		return Evaluation{}, err
	}
	measure := definition.Measure(m.Vocabularies)
	if p.TeacherForced {
		measure = forced(measure)
	}
	var row evaluation.Row
	err = m.queue.InTurns(ctx, func(pause func()) error {
		e, err := m.evaluator(ctx, p, said, pause)
		if err != nil {
			return err
		}
		if row, err = e.Measure(ctx, measure, examples); err == nil && m.exit.Rule != nil {
			row.Readouts, err = m.readoutCost(e, row, examples)
		}
		return err
	})
	row.Task, row.Lengths, row.Notes = name, lengths, append(row.Notes, said.lines...)
	return Evaluation{row, examples, said.lines}, shorterExamples(err)
}

// evaluator returns an evaluator for a protocol. It calls pause between its parts.
func (m *Model) evaluator(ctx context.Context, p Protocol, said *remarks, pause func()) (e *evaluation.Evaluator, err error) {
	e = m.Evaluator()
	e.Beam, e.ComputeHalted, e.Progress, e.Pause = p.Beam, p.ComputeHalted, p.Progress, pause
	if p.MaxLength > 0 {
		e.Limit = func(int) int { return p.MaxLength }
	}
	e.CountSteps = p.CountSteps || m.Adaptive() || !reflect.ValueOf(m.exit).IsZero()
	e.Cache, err = m.cache(ctx, p, said, pause)
	return e, err
}

// checkProtocol returns an error if a protocol is invalid, or has a field without effect.
func (m *Model) checkProtocol(p Protocol) error {
	definition := m.Run.Task.Value
	decodes, beam := definition.Kind() == task.Transduction && !p.TeacherForced, p.Beam != decoding.Beam{}
	switch {
	case p.Cache != nil && p.TuneCache:
		return errTwoCaches
	case (p.Cache != nil || p.TuneCache) && definition.Kind() != task.LanguageModeling:
		return fmt.Errorf("%s was trained on %s: a continuous cache needs a language model", m.Dir(), definition)
	case p.MaxLength < 0 || p.MaxLength > MaxTokens:
		return maxLengthError(p.MaxLength)
	case !decodes && (beam || p.MaxLength > 0):
		return fmt.Errorf("%s: it is evaluated by probabilities, without a search: leave out the beam and the maximum length", m.Dir())
	case decodes && p.ComputeHalted:
		return fmt.Errorf("halted positions are always computed when answers are decoded: request them with teacher forcing only")
	case beam:
		return cmp.Or(p.Beam.Validate(), p.checkExamples())
	}
	return p.checkExamples()
}

var errTwoCaches = errors.New("Protocol.Cache and Protocol.TuneCache are both set: choose one")

// checkExamples returns an error if the examples to evaluate on are chosen wrongly, or in two ways. Of the examples of a file only the
// number is chosen.
func (p Protocol) checkExamples() error {
	s := p.Selection
	if err := s.Validate(); err != nil || p.File == "" {
		return err
	}
	const problem = "is %v, but the examples are those of a file: leave it out"
	switch {
	case s.Validation:
		return &task.SelectionError{Field: "validation", Problem: fmt.Sprintf(problem, true)}
	case s.Length > 0:
		return &task.SelectionError{Field: "length", Problem: fmt.Sprintf(problem, s.Length)}
	case s.Mix > 0: // and From, which is at most Mix
		return &task.SelectionError{Field: "mix", Problem: fmt.Sprintf(problem, s.Mix)}
	case s.Hard:
		return &task.SelectionError{Field: "hard", Problem: fmt.Sprintf(problem, true)}
	}
	return nil
}

// cache returns the cache of a protocol, tuned if it says so; nil if there is none. The caller has acquired the model.
func (m *Model) cache(ctx context.Context, p Protocol, said *remarks, pause func()) (*Cache, error) {
	if p.Cache == nil && !p.TuneCache {
		return nil, nil
	}
	if !p.TuneCache {
		return p.Cache, p.Cache.Validate()
	}
	_, _, examples, err := m.examples(ctx, Protocol{Selection: task.Selection{Validation: true}, Log: p.Log}, said)
	if err != nil {
		return nil, err
	}
	e := m.Evaluator()
	e.ComputeHalted, e.Progress, e.Pause = p.ComputeHalted, p.Progress, pause
	c, err := e.TuneCache(ctx, m.Run.Task.Value.Measure(m.Vocabularies), examples)
	if err == nil && p.Log != nil {
		p.Log(fmt.Sprintf("%s: chosen on %d validation examples", c, len(examples)))
	}
	return &c, err
}

// shorterExamples adds advice to a backend's error about insufficient memory.
func shorterExamples(err error) error {
	if short, ok := engine.AsMemoryError(err); ok {
		return fmt.Errorf("%w; choose shorter examples", short)
	}
	return err
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

// remarks holds what an evaluation says about its data, each line once.
type remarks struct {
	log   func(line string) // receives each line, too; may be nil
	lines []string
}

func (r *remarks) add(line string) {
	if slices.Contains(r.lines, line) {
		return
	}
	r.lines = append(r.lines, line)
	if r.log != nil {
		r.log(line)
	}
}

// examples returns the examples to evaluate on, and adds remarks on their data.
func (m *Model) examples(ctx context.Context, p Protocol, said *remarks) (name, lengths string, examples []task.Example, err error) {
	if p.File != "" {
		return m.selected(ctx, nil, p, said)
	}
	reading, err := withFoundFiles(m.log, m.Run, said.add)
	if err != nil {
		return "", "", nil, err
	}
	opened, err := openTaskWith(ctx, reading, &m.Vocabularies, p.Log)
	if err != nil {
		return "", "", nil, err
	}
	if !m.Vocabularies.Equal(opened.Vocabularies()) {
		return "", "", nil, fmt.Errorf("%s: %w", m.Dir(), errVocabulary)
	}
	if changed := changedData(m.checkpoint, dataDigests(opened)); changed != "" {
		said.add(fmt.Sprintf("%s: %s", m.Dir(), changed))
	}
	return m.selected(ctx, opened, p, said)
}

// selected returns the examples of a file, or held-out ones of an open task.
func (m *Model) selected(ctx context.Context, opened task.Task, p Protocol, said *remarks) (name, lengths string, examples []task.Example, err error) {
	if p.File == "" {
		seed := uint64(task.TestSeed)
		if p.Selection.Validation {
			seed = m.Run.Seed
		}
		if examples, err = opened.HeldOut(seed, p.Selection); err == nil {
			err = m.Vocabularies.CheckAll(m.Run.Task.Value.Kind(), examples)
		}
		return opened.Name(), p.Selection.String(), examples, err
	}
	var notes []string
	examples, err = reported(ctx, p.Log, func() (read []task.Example, err error) {
		read, notes, err = m.reader.File(p.File)
		return read, err
	})
	if ctx.Err() == nil { // otherwise the file may still be read
		for _, line := range notes {
			said.add(line)
		}
	}
	if n := p.Selection.Count; n > 0 && n < len(examples) {
		examples = examples[:n]
	}
	return m.Run.Task.Value.String(), "of " + p.File, examples, err
}

// Evaluator applies the model to examples, for custom measures. While it is in use, nothing else may use the model.
func (m *Model) Evaluator() *evaluation.Evaluator {
	return evaluator(m.backend, m.store, m.graph, m.Run.Task.Value, m.AnswerLimit, m.Vocabularies)
}

func evaluator(backend compute.Backend, store *model.Store, graph universal.Model, d task.Definition, limit func(source int) int, v task.Vocabularies) *evaluation.Evaluator {
	return &evaluation.Evaluator{
		Backend: backend, Store: store, Model: graph, Limit: limit,
		Plan: batch.Plan{Tokens: evaluationTokens, TokensPerPosition: v.TokensPerPosition, Aligned: d.Kind() == task.Tagging},
	}
}

// evaluationTokens is the number of positions of a batch in evaluation.
const evaluationTokens = 4096
