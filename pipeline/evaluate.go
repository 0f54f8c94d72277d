package pipeline

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/viewer"
)

// Protocol determines how a model is evaluated: on which examples, and how it predicts.
type Protocol struct {
	Selection     task.Selection
	File          string                // evaluate on the examples of this file, in the task's format, instead
	TeacherForced bool                  // predict every token from the true tokens before it, instead of decoding
	ComputeHalted bool                  // compute halted positions too; not for decoded answers
	Beam          decoding.Beam         // Width 0: greedy
	MaxLength     int                   // maximum tokens of an answer; 0: [Model.AnswerLimit]
	CountSteps    bool                  // count the steps of positions also if depth is fixed; done anyway with an exit
	Progress      func(done, total int) // must not use the model; may be nil
	Log           func(line string)     // receives remarks on File, and a warning if the data have changed since training; may be nil
}

// Evaluation is the result of an evaluation and its examples.
type Evaluation struct {
	evaluation.Row
	Examples []task.Example `json:"-"` // the examples that Row.Answers belong to
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
		return Evaluation{}, fmt.Errorf("%s: it is evaluated by probabilities, without a search: leave out the beam", m.Dir())
	}
	measure := definition.Measure(m.Vocabularies)
	if definition.Kind() == task.Transduction && !p.TeacherForced && p.ComputeHalted {
		return Evaluation{}, fmt.Errorf("halted positions are always computed when answers are decoded: request them with teacher forcing only")
	}
	if p.TeacherForced {
		measure = forced(measure)
	}
	if err := m.queue.Acquire(ctx); err != nil {
		return Evaluation{}, err
	}
	defer m.queue.Release()
	e := m.Evaluator()
	e.Beam, e.ComputeHalted, e.Progress = p.Beam, p.ComputeHalted, p.Progress
	if p.MaxLength > 0 {
		e.Limit = func(int) int { return p.MaxLength }
	}
	e.CountSteps = p.CountSteps || m.Adaptive() || !reflect.ValueOf(m.exit).IsZero()
	row, err := e.Measure(ctx, measure, examples)
	row.Task, row.Lengths = name, lengths
	if err == nil && m.exit.Rule != nil {
		row.Readouts, err = m.readoutCost(e, row, examples)
	}
	return Evaluation{row, examples}, shorterExamples(err)
}

// shorterExamples adds advice to a backend's error about insufficient memory.
func shorterExamples(err error) error {
	var short interface {
		error
		Memory() (need, have int)
	}
	if errors.As(err, &short) {
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
	reading, err := located(m.log, m.Run, p.Log)
	if err != nil {
		return "", "", nil, err
	}
	opened, err := openTask(ctx, reading)
	if err != nil {
		return "", "", nil, err
	}
	if !m.Vocabularies.Equal(opened.Vocabularies()) {
		return "", "", nil, fmt.Errorf("%s: %w", m.Dir(), errVocabulary)
	}
	if changed := changedData(m.checkpoint, dataDigests(opened)); changed != "" && p.Log != nil {
		p.Log(fmt.Sprintf("%s: %s", m.Dir(), changed))
	}
	seed := uint64(task.TestSeed)
	if p.Selection.Validation {
		seed = m.Run.Seed
	}
	examples, err = opened.HeldOut(seed, p.Selection)
	return opened.Name(), p.Selection.String(), examples, err
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

// A Diagnosis analyses wrong answers: where they go wrong, and whether the decoder attends to the right source tokens.
type Diagnosis struct {
	Wrong      int         `json:"wrong"`        // wrong answers
	Early      int         `json:"early"`        // wrong answers that end too early
	Late       int         `json:"late"`         // wrong answers that end too late, or not at all
	Substitute int         `json:"substitute"`   // wrong answers of the right length
	FirstWrong [10]int     `json:"first_wrong"`  // wrong answers by the tenth of the right answer that contains the first wrong token
	Attention  []Attention `json:"attention"`    // empty if the task knows no alignment or the model has no attention
	OverTraced int         `json:"over_answers"` // number of right answers, given to the model, that Attention was recorded on
}

// Attention describes the decoder head that attends most to the right source tokens.
type Attention struct {
	Right string  `json:"right"` // what is attended to: "the digit of the first number"
	Step  int     `json:"step"`  // from 1
	Head  int     `json:"head"`  // from 1
	Mean  float64 `json:"mean"`  // mean weight on the right token, over all tokens of the answers that have one
	Least float64 `json:"least"` // the smallest such weight
	Place int     `json:"place"` // position of the token with the smallest weight, from 1
}

// maxDiagnosed is the number of answers whose attention is recorded: a graph is compiled for each.
const maxDiagnosed = 4

// Diagnose analyses an evaluation with decoded answers.
func (m *Model) Diagnose(ctx context.Context, e Evaluation) (*Diagnosis, error) {
	if m.Run.Task.Value.Kind() != task.Transduction || len(e.Answers) != len(e.Examples) {
		return nil, fmt.Errorf("%s: only decoded answers can be diagnosed", m.Dir())
	}
	d := &Diagnosis{}
	for i, a := range e.Answers {
		d.add(a.Tokens, e.Examples[i].Target)
	}
	aligned, ok := m.Run.Task.Value.(task.Aligned)
	if !ok {
		return d, nil
	}
	var heads []*headTally
	for _, example := range e.Examples {
		if len(example.Source) > maxTraced || d.OverTraced == maxDiagnosed {
			continue
		}
		trace := m.newTrace()
		trace.Source, trace.Target = m.tokens(m.Vocabularies.Source, example.Source), m.tokens(m.Vocabularies.Target, example.Target)
		trace.Encoder, trace.Decoder = &viewer.Stack{Tokens: trace.Source}, &viewer.Stack{Tokens: trace.Target}
		inputs := []any{[][]int32{example.Source}, [][]int32{example.Target}}
		if _, err := m.record(ctx, trace, inputs, false); err != nil {
			return nil, err
		}
		if len(trace.Decoder.CrossAttention) == 0 {
			return d, nil
		}
		d.OverTraced++
		heads = tally(heads, trace.Decoder.CrossAttention, aligned.Align(trace.Source, len(trace.Target)))
	}
	d.Attention = best(heads)
	return d, nil
}

// add counts an answer if it is wrong.
func (d *Diagnosis) add(answer, right []vocab.ID) {
	if slices.Equal(answer, right) {
		return
	}
	d.Wrong++
	switch {
	case len(answer) < len(right):
		d.Early++
	case len(answer) > len(right):
		d.Late++
	default:
		d.Substitute++
	}
	first := 0
	for first < min(len(answer), len(right)-1) && answer[first] == right[first] {
		first++
	}
	d.FirstWrong[first*10/len(right)]++
}

// headTally accumulates the attention of one head in one step along one alignment.
type headTally struct {
	Attention
	sum   float64
	count int
}

// tally adds the attention of one answer, [step][head][place][source], to that of others.
func tally(heads []*headTally, attention [][][][]float64, alignments []task.Alignment) []*headTally {
	at := 0
	for _, a := range alignments {
		for step := range attention {
			for head, weights := range attention[step] {
				if at == len(heads) {
					heads = append(heads, &headTally{Attention: Attention{Right: a.Name, Step: step + 1, Head: head + 1, Least: 1}})
				}
				for place, source := range a.Source {
					if source >= 0 {
						heads[at].add(weights[place][source], place)
					}
				}
				at++
			}
		}
	}
	return heads
}

func (h *headTally) add(weight float64, place int) {
	h.sum += weight
	h.count++
	if weight < h.Least {
		h.Least, h.Place = weight, place+1
	}
}

// best returns, for every alignment, the head with the highest mean.
func best(heads []*headTally) (list []Attention) {
	for _, h := range heads {
		if h.count == 0 {
			continue
		}
		h.Mean = h.sum / float64(h.count)
		switch last := len(list) - 1; {
		case last < 0 || list[last].Right != h.Right:
			list = append(list, h.Attention)
		case h.Mean > list[last].Mean:
			list[last] = h.Attention
		}
	}
	return list
}

// Lines formats the diagnosis as text.
func (d *Diagnosis) Lines() []string {
	if d.Wrong == 0 && len(d.Attention) == 0 {
		return []string{"no answer is wrong"}
	}
	lines := []string{
		fmt.Sprintf("%d answers are wrong: %d end too early, %d too late or not at all, %d have the right length", d.Wrong, d.Early, d.Late, d.Substitute),
	}
	if d.Wrong > 0 {
		lines = append(lines, fmt.Sprintf("first wrong token, by tenths of the right answer: %v", d.FirstWrong))
	}
	for _, a := range d.Attention {
		line := fmt.Sprintf("attention on %s, over %d right answers: mean %.4f by head %d in step %d", a.Right, d.OverTraced, a.Mean, a.Head, a.Step)
		if a.Place > 0 {
			line += fmt.Sprintf(", least %.4f at token %d", a.Least, a.Place)
		}
		lines = append(lines, line)
	}
	return lines
}
