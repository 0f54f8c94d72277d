package evaluation_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// short is a model that cannot read sources of more than 8 positions.
type short struct{ universal.Encoder }

var errLong = errors.New("too long")

func (s short) Forward(scope *model.Scope, in universal.Inputs, o universal.Options) universal.Result {
	if in.Source.Shape().Dimensions[1] > 8 {
		panic(errLong)
	}
	return s.Encoder.Forward(scope, in, o)
}

// Examples that cannot be computed fail alone, and those of the same batch have the results that they have without them. Between batches
// there are pauses. Without Failed, the first failure ends everything.
// Caught when planted: results of another example after a batch was halved; a half that is not computed; no pause after a failure.
func TestFailedExamples(t *testing.T) {
	m := short{universal.Encoder{Pool: universal.Last, Config: universal.Config{
		SourceVocabulary: 9, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 3, Transition: universal.FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2},
	}}}
	var all, good []task.Example
	var wantFailed []int
	for i := range 30 {
		e := task.Example{Source: slices.Repeat([]vocab.ID{vocab.ID(2 + i%7)}, 1+i*5%7)}
		if i%11 == 4 {
			e.Source = slices.Repeat(e.Source, 9)
			wantFailed = append(wantFailed, i)
		} else {
			good = append(good, e)
		}
		all = append(all, e)
	}
	e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Rows: 7, Boundaries: []int{8, 100}}}
	want, err := e.Probabilities(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Probabilities(t.Context(), all); !errors.Is(err, errLong) {
		t.Errorf("without Failed: %v", err)
	}
	var failed []int
	pauses := 0
	e.Pause = func() { pauses++ }
	e.Failed = func(example int, err error) {
		if failed = append(failed, example); !errors.Is(err, errLong) {
			t.Errorf("example %d: %v", example, err)
		}
	}
	got, err := e.Probabilities(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(failed)
	if !slices.Equal(failed, wantFailed) || pauses < 7 {
		t.Errorf("examples %v failed, want %v; %d pauses", failed, wantFailed, pauses)
	}
	for i, k := 0, 0; i < len(all); i++ {
		if slices.Contains(wantFailed, i) {
			if got[i] != nil {
				t.Errorf("example %d failed and has a result", i)
			}
			continue
		}
		if !slices.Equal(got[i], want[k]) {
			t.Errorf("example %d: %v, want %v", i, got[i], want[k])
		}
		k++
	}
}
