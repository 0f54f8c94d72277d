package evaluation_test

import (
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// An answer that does not end becomes four times as long as its source and 50 tokens more, unless the evaluator has a limit of its own; the
// target has no influence. The model is one of random weights that does not end these answers.
// Caught when planted: a limit from the length of the target; the limit of the longest of a batch for all.
func TestAnswersThatDoNotEnd(t *testing.T) {
	e := &evaluation.Evaluator{
		Backend: enginetest.Backend(t), Store: model.NewStore(), Plan: batch.Plan{Rows: 6},
		Model: lstm.EncoderDecoder{Config: lstm.Config{SourceVocabulary: 9, TargetVocabulary: 6, Width: 8, Layers: 1, Seed: 6, ScaleEmbedding: true}},
	}
	var examples []task.Example
	var want []int
	for i := range 6 {
		example, limit := task.Example{Source: make([]vocab.ID, 1+i)}, 4*(1+i)+50
		for p := range example.Source {
			example.Source[p] = vocab.ID(2 + (i+p)%7)
		}
		if i%2 == 0 {
			example.Target = make([]vocab.ID, 8+4*i)
		}
		examples, want = append(examples, example), append(want, limit)
	}
	answers, err := e.Decode(t.Context(), examples)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if a.Finished || len(a.Tokens) != want[i] {
			t.Errorf("example %d: %d tokens, finished %v, want %d that do not end", i, len(a.Tokens), a.Finished, want[i])
		}
	}
	e.Limit = func(source int) int { return 3*source + 1 }
	if answers, err = e.Decode(t.Context(), examples); err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if limit := 3*(1+i) + 1; a.Finished || len(a.Tokens) != limit {
			t.Errorf("example %d with a limit: %d tokens, finished %v, want %d that do not end", i, len(a.Tokens), a.Finished, 3*(1+i)+1)
		}
	}
}
