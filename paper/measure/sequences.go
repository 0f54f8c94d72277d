package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/execute"
)

// Sequences is the measurement of one run of tables 4 to 6: decoded sets of examples.
type Sequences struct {
	Sets []SequenceSet `json:"sets"`
}

// SequenceSet is one set of examples: decoded, and with teacher forcing if the table requires it.
type SequenceSet struct {
	Name     string       `json:"name"`
	Examples int          `json:"examples"`
	Decoded  score.Score  `json:"decoded"`
	Forced   *score.Score `json:"forced,omitempty"`
	Cut      int          `json:"cut,omitempty"` // answers cut off at the length limit
	// FirstWrong is the mean position of the first wrong token in wrong answers, relative to the target's length.
	FirstWrong float64 `json:"first_wrong,omitempty"`
	Encoder    float64 `json:"encoder_ponder,omitempty"` // mean steps per position with teacher forcing, of models with dynamic halting
	Decoder    float64 `json:"decoder_ponder,omitempty"`
}

// Accuracies formats a score like the paper, "0.91 (0.35)": tokens, including the end token, and whole sequences in parentheses.
func Accuracies(s score.Score) string {
	return fmt.Sprintf("%s (%s)", Decimals(s.Tokens), Decimals(s.Sequences))
}

// Decimals formats a share with three decimals, or with more if it would otherwise round to 1 despite an error. A float64 has no more than 16.
func Decimals(a score.Accuracy) string {
	digits := 3
	for a.Correct < a.Total && digits < 16 && strings.HasPrefix(fmt.Sprintf("%.*f", digits, a.Value()), "1") {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, a.Value())
}

// Validate returns an error that names the first invalid field.
func (m *Sequences) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	var names []string
	for _, s := range m.Sets {
		names = append(names, s.Name)
	}
	if err := checkNames(names); err != nil {
		return err
	}
	for i, s := range m.Sets {
		if err := s.validate(); err != nil {
			return fmt.Errorf("sets[%d]%w", i, err)
		}
	}
	return nil
}

// validate returns an error that begins with the first invalid field, after a point.
func (s SequenceSet) validate() error {
	wrong := s.Decoded.Sequences.Total - s.Decoded.Sequences.Correct
	switch {
	case s.Examples < 1 || s.Decoded.Sequences.Total != s.Examples:
		return fmt.Errorf(".decoded has %d sequences of %d examples", s.Decoded.Sequences.Total, s.Examples)
	case s.Forced != nil && s.Forced.Sequences.Total != s.Examples:
		return fmt.Errorf(".forced has %d sequences of %d examples", s.Forced.Sequences.Total, s.Examples)
	case s.Forced != nil && s.Forced.Tokens.Total != s.Decoded.Tokens.Total:
		return fmt.Errorf(".forced has %d tokens, but decoded has %d", s.Forced.Tokens.Total, s.Decoded.Tokens.Total)
	case s.Cut < 0 || s.Cut > wrong:
		return fmt.Errorf(".cut is %d of %d examples, %d of them wrong", s.Cut, s.Examples, wrong)
	case !(s.FirstWrong >= 0 && s.FirstWrong <= 1) || wrong == 0 && s.FirstWrong > 0:
		return fmt.Errorf(".first_wrong is %v of %d wrong answers: it is a share", s.FirstWrong, wrong)
	}
	if err := checkScore(s.Decoded); err != nil {
		return fmt.Errorf(".decoded %w", err)
	}
	if s.Forced != nil {
		if err := checkScore(*s.Forced); err != nil {
			return fmt.Errorf(".forced %w", err)
		}
	}
	for _, steps := range []float64{s.Encoder, s.Decoder} {
		if steps != 0 && !(steps >= 1 && steps <= math.MaxInt32) {
			return fmt.Errorf(" has the ponder time %v: a position has at least one step", steps)
		}
	}
	return nil
}

// Summary returns the accuracies of all sets.
func (m *Sequences) Summary() string {
	var texts []string
	for _, s := range m.Sets {
		texts = append(texts, fmt.Sprintf("%s: %s", s.Name, Accuracies(s.Decoded)))
	}
	return strings.Join(texts, ", ")
}

// Set returns the set with a name, or nil if it was not measured.
func (m *Sequences) Set(name string) *SequenceSet {
	if at := slices.IndexFunc(m.Sets, func(s SequenceSet) bool { return s.Name == name }); at >= 0 {
		return &m.Sets[at]
	}
	return nil
}

// generated decodes every set of a table, and the kinds of the task. Ponder times are measured with teacher forcing, so it is used for all
// sets of models with adaptive depth. It is never used for the Neural GPU, which does not read true tokens.
func generated(t paper.Table, kinds func(task.Definition) []task.Case) Func {
	return func(ctx context.Context, m *pipeline.Model, c sweep.Cell, log func(string)) (sweep.Measured, error) {
		opened, err := m.Run.OpenTask()
		if err != nil {
			return nil, err
		}
		measured := &Sequences{}
		_, readsNoTarget := m.Run.Model.Value.(experiment.NeuralGPU)
		add := func(name string, examples []task.Example, forced bool) error {
			log(fmt.Sprintf("measuring %s, %s", name, quantity.Regular(len(examples), "examples")))
			set, err := decodeSet(ctx, m.Evaluator(), examples, forced || adaptive(m.Run))
			set.Name = name
			measured.Sets = append(measured.Sets, set)
			return err
		}
		for _, set := range measuredSets(t, c.Recipe) {
			examples, err := opened.HeldOut(task.TestSeed, task.Selection{Length: set.Length, Mix: set.Mix, Count: set.Count})
			if err != nil {
				return nil, err
			}
			if err := add(set.Name, examples, set.Forced && !readsNoTarget); err != nil {
				return nil, err
			}
		}
		for _, k := range kinds(m.Run.Task.Value) {
			examples := k.Examples
			if m.Run.SourceEnd {
				examples = task.WithEnds(examples)
			}
			if err := add(k.Name, examples, false); err != nil {
				return nil, err
			}
		}
		return measured, nil
	}
}

// measuredSets returns the sets on which the models of a recipe are measured.
func measuredSets(t paper.Table, recipe string) []paper.Set {
	family, _, _ := strings.Cut(recipe, "/")
	row, _ := t.Row(family)
	return t.MeasuredSets(row.Block)
}

// hardCases and kindsOfPrograms are sets of examples of one kind each, to show which kinds are hard.
func hardCases(d task.Definition) []task.Case       { return algorithmic.HardCases(d, 400, 200) }
func kindsOfPrograms(d task.Definition) []task.Case { return execute.Kinds(d, 1000) }

// adaptive reports whether a run's model has a Universal Transformer whose depth is not fixed.
func adaptive(r experiment.Run) bool {
	_, fixed := r.Policy().(halting.Fixed)
	return r.Policy() != nil && !fixed
}

// decodeSet decodes examples and, if forced, also evaluates them with teacher forcing.
func decodeSet(ctx context.Context, e *evaluation.Evaluator, examples []task.Example, forced bool) (SequenceSet, error) {
	set := SequenceSet{Examples: len(examples)}
	answers, err := e.Decode(ctx, examples)
	if err != nil {
		return set, err
	}
	wrong := 0
	for i, a := range answers {
		set.Decoded.Add(a.Tokens, examples[i].Target)
		if !a.Finished {
			set.Cut++
		}
		if at := firstDifference(a.Tokens, examples[i].Target); at >= 0 {
			set.FirstWrong += float64(at) / float64(len(examples[i].Target))
			wrong++
		}
	}
	set.FirstWrong /= float64(max(wrong, 1))
	if !forced {
		return set, nil
	}
	e.Steps = func(encoder, decoder *evaluation.Steps) {
		set.Encoder, set.Decoder = encoder.Average(), decoder.Average()
	}
	scored, err := e.Score(ctx, examples)
	if err != nil {
		return set, err
	}
	sum := score.Score{}
	for i, predicted := range scored {
		sum = sum.Plus(score.TeacherForced(predicted.Best, examples[i].Target))
	}
	set.Forced = &sum
	return set, nil
}

// firstDifference returns the first position at which an answer differs from the target, or -1.
func firstDifference(answer, target []vocab.ID) int {
	if slices.Equal(answer, target) {
		return -1
	}
	for i, id := range answer {
		if i >= len(target) || id != target[i] {
			return min(i, len(target)-1)
		}
	}
	return len(answer)
}
