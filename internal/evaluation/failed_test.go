package evaluation_test

import (
	"errors"
	"reflect"
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
			if got[i].Probabilities != nil {
				t.Errorf("example %d failed and has a result", i)
			}
			continue
		}
		if !reflect.DeepEqual(got[i], want[k]) {
			t.Errorf("example %d: %v, want %v", i, got[i], want[k])
		}
		k++
	}
}

// few is a model that can read sources of at most 5 tokens, in longer graphs too.
type few struct{ universal.Encoder }

func (few) CheckSteps(positions int) error {
	if positions > 5 {
		return errLong
	}
	return nil
}

// A model that runs a step for each token refuses sources with too many before it makes their graph, which would take minutes. Tokens count,
// not padding. With an exit it reads such sources too.
// Caught when planted: no check; a check of the padded length; a check of the first example of a batch alone.
func TestTooManySteps(t *testing.T) {
	m := universal.Encoder{Pool: universal.Last, Config: universal.Config{
		SourceVocabulary: 9, TargetVocabulary: 6, Width: 2, Heads: 1, Seed: 3, Transition: universal.FeedForward{Filter: 2}, Halting: halting.Length{},
	}}
	deep, err := m.WithExit(halting.Exit{Fixed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model universal.Model
		long  int
		want  string
	}{
		{m, 1001, "the source has 1001 tokens, and the model runs one step per token: at most 1000 steps can be run"}, {deep, 1001, ""},
		{few{m}, 6, "the source has 6 tokens, and too long"}, {few{m}, 5, ""},
	} {
		examples := []task.Example{{Source: []vocab.ID{2, 3, 4}}, {Source: slices.Repeat([]vocab.ID{2}, c.long)}}
		e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: c.model, Plan: batch.Plan{Rows: 2, Boundaries: []int{8, 1001}, MaxSource: 8}}
		if _, err := e.Probabilities(t.Context(), examples); (c.want == "") != (err == nil) || err != nil && err.Error() != c.want {
			t.Errorf("%d tokens: %v, want %q", c.long, err, c.want)
		}
		var failed []int
		e.Failed = func(example int, err error) {
			if failed = append(failed, example); err.Error() != c.want {
				t.Errorf("%d tokens: %v, want %q", c.long, err, c.want)
			}
		}
		got, err := e.Probabilities(t.Context(), examples)
		if err != nil || got[0].Probabilities == nil || (got[1].Probabilities != nil) != (c.want == "") || len(failed) > 1 {
			t.Errorf("%d tokens: %v, %v, failed %v", c.long, got, err, failed)
		}
	}
}
