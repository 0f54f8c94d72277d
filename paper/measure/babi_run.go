package measure

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/babi"
	"universal-transformer/viewer"
)

// babiQuestions answers the validation and test questions, and draws the paper's stories of the task.
func babiQuestions(ctx context.Context, m *pipeline.Model, c sweep.Cell, log func(string)) (sweep.Measured, error) {
	definition := m.Run.Task.Value.(babi.Babi)
	opened, err := babi.OpenTask(definition)
	if err != nil {
		return nil, err
	}
	r := &Babi{TrainingQuestions: opened.TrainedOn()}
	if definition.StandIn != "" {
		standIn, _, err := definition.Reader(m.Vocabularies).File(definition.StandIn)
		if err != nil {
			return nil, err
		}
		r.StandIn, r.StandInQuestions = filepath.Base(definition.StandIn), len(standIn)
	}
	validation, err := answer(ctx, m, opened.Coding(), opened.Validation())
	if err != nil {
		return nil, err
	}
	r.Validation.Questions = len(validation)
	for _, a := range validation {
		r.Validation.count(a)
	}
	test, err := answer(ctx, m, opened.Coding(), opened.Test())
	if err != nil {
		return nil, err
	}
	attention, err := m.Evaluator().LastAttention(ctx, opened.Coding().Examples(opened.Test()))
	if err != nil {
		return nil, err
	}
	r.Tests = countTests(test, attention, adaptive(m.Run))
	return r, drawStories(ctx, m, c, log)
}

// answered is a question with the model's answer.
type answered struct {
	babi.Question
	task.Classified
	correct bool
}

func answer(ctx context.Context, m *pipeline.Model, coding babi.Coding, questions []babi.Question) ([]answered, error) {
	examples := coding.Examples(questions)
	classified, err := m.Evaluator().Classify(ctx, examples)
	if err != nil {
		return nil, err
	}
	unknown, _ := m.Vocabularies.Target.Unknown()
	answers := make([]answered, len(questions))
	for i, q := range questions {
		answers[i] = answered{q, classified[i], task.ClassAccuracy{Unknown: unknown}.Correct(classified[i], examples[i])}
	}
	return answers, nil
}

// countTests counts wrong answers by task. It also averages the attention of questions on their supporting facts and, for a model with
// dynamic halting, counts ponder times by the number of those facts.
func countTests(answers []answered, attention [][][]float64, adaptive bool) []BabiTest {
	byTask, ponder := map[int]*BabiTest{}, map[int]map[int]*PonderTimes{}
	for i, a := range answers {
		t := byTask[a.Task]
		if t == nil {
			t = &BabiTest{Task: a.Task}
			byTask[a.Task], ponder[a.Task] = t, map[int]*PonderTimes{}
		}
		t.Questions++
		t.count(a)
		t.Attention = addAttention(t.Attention, a, attention[i])
		if !adaptive {
			continue
		}
		facts := len(a.Supports)
		if ponder[a.Task][facts] == nil {
			ponder[a.Task][facts] = &PonderTimes{SupportingFacts: facts}
		}
		ponder[a.Task][facts].add(a.Updates)
	}
	var list []BabiTest
	for _, n := range slices.Sorted(maps.Keys(byTask)) {
		for _, facts := range slices.Sorted(maps.Keys(ponder[n])) {
			byTask[n].PonderTimes = append(byTask[n].PonderTimes, *ponder[n][facts])
		}
		for step := range byTask[n].Attention {
			byTask[n].Attention[step].divide()
		}
		list = append(list, *byTask[n])
	}
	return list
}

// addAttention adds one question's attention on its supporting facts to the sums of every step that the question ran.
func addAttention(sums []AttentionShare, a answered, shares [][]float64) []AttentionShare {
	positions := len(a.Facts) + 1
	for step := range min(a.Updates[positions-1], len(shares)) {
		if step == len(sums) {
			sums = append(sums, AttentionShare{})
		}
		sums[step].Stories++
		for _, fact := range slices.Compact(slices.Sorted(slices.Values(a.Supports))) {
			sums[step].Share += shares[step][fact]
			sums[step].Uniform += 1 / float64(positions)
		}
	}
	return sums
}

// drawStories draws the paper's stories of the cell's task: attention, and for task 3 the ponder times of a model with dynamic halting. A
// story that the model cannot read is logged and gets no figure.
func drawStories(ctx context.Context, m *pipeline.Model, c sweep.Cell, log func(string)) error {
	for _, s := range babi.Stories {
		if n := m.Run.Task.Value.(babi.Babi).Task; n != s.Task && n != 0 {
			continue
		}
		trace, err := m.Trace(ctx, s.Text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			log(fmt.Sprintf("figure %d is not drawn: %v", s.Figure, err))
			continue
		}
		if err := c.Draw(StoryFigure(s.Figure), func(w io.Writer) error { return viewer.WriteAttentionSVG(w, trace) }); err != nil {
			return err
		}
		if s.Task == 3 && adaptive(m.Run) {
			if err := c.Draw(StoryFigure(3), func(w io.Writer) error { return viewer.WritePonderSVG(w, trace) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// StoryFigure returns the end of the file name of a story's figure; the name of the result precedes it.
func StoryFigure(figure int) string { return fmt.Sprintf("figure%d.svg", figure) }
