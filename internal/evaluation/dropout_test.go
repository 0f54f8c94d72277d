package evaluation_test

import (
	"context"
	"reflect"
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

// Nothing that measures drops anything out: a model with dropout gives the numbers of the same model without.
// Caught when planted: dropout left on in scores, in classes, in attention.
func TestDropoutIsOff(t *testing.T) {
	ctx := context.Background()
	config := universal.Config{
		SourceVocabulary: 6, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 3,
		Transition: universal.FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2},
	}
	with := config
	with.Dropout = universal.Dropout{Embedding: 0.5, Attention: 0.5, Transition: 0.5, Residual: 0.5}
	var sequences, classes []task.Example
	for i := range int64(7) {
		e := copying(i)
		sequences = append(sequences, e)
		classes = append(classes, task.Example{Source: e.Source, Target: []vocab.ID{2}})
	}
	measure := func(c universal.Config) (all []any) {
		e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: universal.EncoderDecoder{Config: c}, Plan: batch.Plan{Rows: 3}}
		scored, err := e.Score(ctx, sequences)
		if err != nil {
			t.Fatal(err)
		}
		e = &evaluation.Evaluator{Backend: e.Backend, Store: model.NewStore(), Model: universal.Encoder{Config: c, Pool: universal.Last}, Plan: e.Plan}
		classified, err := e.Classify(ctx, classes)
		if err != nil {
			t.Fatal(err)
		}
		attention, err := e.LastAttention(ctx, classes)
		if err != nil {
			t.Fatal(err)
		}
		return []any{scored, classified, attention}
	}
	plain, dropping := measure(config), measure(with)
	for i, what := range []string{"scores", "classes", "attention"} {
		if !reflect.DeepEqual(plain[i], dropping[i]) {
			t.Errorf("%s differ:\n%v\n%v", what, plain[i], dropping[i])
		}
	}
}
