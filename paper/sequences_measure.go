package paper

import (
	"context"
	"fmt"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// measure decodes every set of the table, and the kinds of the task. Ponder times are of teacher forcing, so models of adaptive depth
// have it for all sets. The Neural GPU has it for none: it reads no true tokens, and its measurements take longest.
func (s *sequences) measure(ctx context.Context, m *pipeline.Model, _ Cell, log func(string)) (Measured, error) {
	opened, err := m.Run.OpenTask()
	if err != nil {
		return nil, err
	}
	found := &sequencesMeasured{}
	_, atOnce := m.Run.Model.Value.(experiment.NeuralGPU)
	add := func(name string, examples []task.Example, forced bool) error {
		log(fmt.Sprintf("measuring %s, %s", name, count(len(examples), "example")))
		set, err := measureSequences(ctx, m.Evaluator(), examples, forced || adaptive(m.Run))
		set.Name = name
		found.Sets = append(found.Sets, set)
		return err
	}
	for _, set := range s.sets {
		examples, err := opened.HeldOut(task.TestSeed, set.choice)
		if err != nil {
			return nil, err
		}
		if err := add(set.name, examples, set.forced && !atOnce); err != nil {
			return nil, err
		}
	}
	if s.kinds == nil {
		return found, nil
	}
	for _, c := range s.kinds(m.Run.Task.Value) {
		examples := c.Examples
		if m.Run.SourceEnd {
			examples = task.WithEnds(examples)
		}
		if err := add(c.Name, examples, false); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// adaptive tells whether a run's model has a Universal Transformer whose depth is not fixed.
func adaptive(r experiment.Run) bool {
	_, fixed := r.Policy().(halting.Fixed)
	return r.Policy() != nil && !fixed
}

// measureSequences decodes examples and, if forced, predicts their tokens from the true ones before them.
func measureSequences(ctx context.Context, e *evaluation.Evaluator, examples []task.Example, forced bool) (measuredSet, error) {
	set := measuredSet{Examples: len(examples)}
	answers, err := e.Decode(ctx, examples)
	if err != nil {
		return set, err
	}
	total, wrong := score.Score{}, 0
	for i, a := range answers {
		total.Add(a.Tokens, examples[i].Target)
		if !a.Finished {
			set.Cut++
		}
		if at := differ(a.Tokens, examples[i].Target); at >= 0 {
			set.FirstWrong += float64(at) / float64(len(examples[i].Target))
			wrong++
		}
	}
	set.FirstWrong /= float64(max(wrong, 1))
	set.Decoded = total
	if !forced {
		return set, nil
	}
	e.Steps = func(encoder, decoder evaluation.Steps) { set.Encoder, set.Decoder = encoder.Mean, decoder.Mean }
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

// differ is the first place at which an answer is not the target, -1 if there is none.
func differ(answer, target []vocab.ID) int {
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
