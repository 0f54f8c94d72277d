package report

import (
	"fmt"
	"slices"
	"testing"

	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// Attention is measured against uniform attention, in steps that at least a tenth of the questions run. Caught when planted: shares as they are;
// a last step of few questions.
func TestSharpening(t *testing.T) {
	share := func(stories int, share, uniform float64) measure.AttentionShare {
		return measure.AttentionShare{Stories: stories, Share: share, Uniform: uniform}
	}
	for _, c := range []struct {
		attention []measure.AttentionShare
		ratios    []float64
		want      bool
	}{
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25)}, []float64{2, 3}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25), share(1000, .69, .25)}, []float64{2, 3, .69 / .25}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25), share(1000, .66, .25)}, []float64{2, 3, .66 / .25}, false},
		{[]measure.AttentionShare{share(1000, .5, .25), share(100, .5, .125), share(99, .125, .125)}, []float64{2, 4}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .5, .25)}, []float64{2, 2}, false},
	} {
		if got := relative(c.attention); !slices.Equal(got, c.ratios) || sharpens(got) != c.want {
			t.Errorf("%v: %v, %v; want %v, %v", c.attention, got, sharpens(got), c.ratios, c.want)
		}
	}
}

// Ponder times are compared in tasks that a model solves: their means, and their deviations as a claim of its own. By hand: half at 1 and half at 3
// steps have 2 ± 1, 1 : 2 : 1 at 2 to 4 steps 3 ± .71, half at 2 and half at 6 steps 4 ± 2. Caught when planted: means in place of deviations; a task
// that is not solved; rising pairs called complete.
func TestPonderByFacts(t *testing.T) {
	steps := map[int][]int{1: {50, 0, 50}, 2: {0, 25, 50, 25}, 3: {0, 50, 0, 0, 0, 50}}
	solved := func(wrong, task int) sweep.Result {
		return result(t, fmt.Sprintf("babi-1k-single-adaptive/task%02d", task), 1, 1, &measure.Babi{
			TrainingQuestions: 900, Validation: measure.Errors{Questions: 100},
			Tests: []measure.BabiTest{{
				Task: task, Errors: measure.Errors{Questions: 100, Wrong: wrong},
				PonderTimes: []measure.PonderTimes{{SupportingFacts: task, Stories: 10, Positions: steps[task]}},
			}},
		})
	}
	render(t, []sweep.Result{solved(0, 1), solved(0, 2), solved(5, 3)},
		"facts | reproduced | 2.3, 3.1, 3.8 steps for 1, 2, 3 facts | 1k single 2.0, 3.0, 4.0 | tasks 1, 2, 3, own training file, at most 5 % errors |",
		"facts | contradicted | ± 0.8, 1.1, 2.2 for 1, 2, 3 facts | 1k single ± 1.00, ± 0.71, ± 2.00 | tasks 1, 2, 3, own training file, at most 5 % errors; 1k single does not rise; ")
	render(t, []sweep.Result{solved(0, 1), solved(6, 2), solved(0, 3)},
		"facts | not reproduced | 2.3, 3.1, 3.8 steps for 1, 2, 3 facts | 1k single 2.0, unsolved, 4.0 |",
		"facts | not reproduced | ± 0.8, 1.1, 2.2 for 1, 2, 3 facts | 1k single ± 1.00, unsolved, ± 2.00 |",
		"| babi-1k-single-adaptive | tasks 1, 2, 3 | 2.0 ± 1.0 | [3.0 ± 0.7] | 4.0 ± 2.0 |")
}
