package pipeline

import (
	"strconv"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/training"
)

// Answers of decoding and of evaluation may be as long as the task says, worked out by hand for sources of 17 tokens: translations
// 2*17 + 10; copy, reverse and addition five quarters of 18 and 10 more, an End of the source not counted; double five quarters of 35 and 10;
// language models 200; others 4*17 + 50, or the longest training target.
// Caught when planted: the limit of other tasks for each; an End that counts; a target shorter than the limit; 50 times 4.
func TestAnswerLimits(t *testing.T) {
	of := func(d task.Definition) experiment.Run { return experiment.Run{Task: experiment.Task{Value: d}} }
	for _, c := range []struct {
		run             experiment.Run
		source, longest int
		want            int
	}{
		{recipes.MustRun("translation/multi30k"), 17, 500, 44},
		{recipes.MustRun("algorithmic/reverse"), 18, 41, 32}, {recipes.MustRun("algorithmic-paper/addition"), 17, 41, 32},
		{of(execute.Memory{Operation: "double", Length: 55}), 17, 111, 53}, {of(execute.Memory{Operation: "copy", Length: 55}), 17, 56, 32},
		{of(text.Text{}), 17, 0, 200},
		{of(table.Table{}), 17, 0, 118}, {of(table.Table{}), 17, 117, 118}, {of(table.Table{}), 17, 300, 300},
	} {
		m := &Model{Run: c.run, checkpoint: &runlog.Checkpoint{Meta: map[string]string{training.LongestTargetKey: strconv.Itoa(c.longest)}}}
		if got := m.AnswerLimit(c.source); got != c.want {
			t.Errorf("%s: an answer may have %d tokens, want %d", c.run.Task.Value, got, c.want)
		}
		if got := m.Evaluator().Limit(c.source); got != c.want {
			t.Errorf("%s: in evaluation an answer may have %d tokens, want %d", c.run.Task.Value, got, c.want)
		}
	}
	if got := (&Model{Run: of(table.Table{}), checkpoint: &runlog.Checkpoint{}}).AnswerLimit(17); got != 118 {
		t.Errorf("with a checkpoint of an earlier version an answer may have %d tokens, want 118", got)
	}
}
