package pipeline

import (
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Answers of decoding and of evaluation may be as long as the task says: translations twice as long as their sources and 10 tokens more,
// others four times and 50. Caught when planted: the evaluator without the task's limit; a translation with the limit of other tasks.
func TestAnswerLimits(t *testing.T) {
	for _, c := range []struct {
		run  experiment.Run
		want int
	}{{recipes.MustRun("translation/multi30k"), 44}, {recipes.MustRun("algorithmic/reverse"), 118}} {
		m := &Model{Run: c.run}
		if got := m.limit(DecodeOptions{}, make([]vocab.ID, 17)); got != c.want {
			t.Errorf("%s: an answer may have %d tokens, want %d", c.run.Name, got, c.want)
		}
		if got := evaluator(nil, nil, nil, c.run.Task.Value, task.Vocabularies{}).Limit(17); got != c.want {
			t.Errorf("%s: in evaluation an answer may have %d tokens, want %d", c.run.Name, got, c.want)
		}
		if got := m.limit(DecodeOptions{MaxLength: 7}, make([]vocab.ID, 17)); got != 7 {
			t.Errorf("%s: an answer may have %d tokens, want the 7 that were asked for", c.run.Name, got)
		}
	}
}
