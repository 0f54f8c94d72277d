package evaluation_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// A recurrent classifier answers examples together as each alone, says that every position was read once, and has no attention. It
// decodes nothing, and what decodes does not classify.
// Caught when planted: the state behind the padding read out; a language model that is taken for a classifier.
func TestRecurrentNetworks(t *testing.T) {
	config := lstm.Config{SourceVocabulary: 9, TargetVocabulary: 6, Width: 8, Layers: 2, Seed: 3, ScaleEmbedding: true}
	evaluator := func(m universal.Model) *evaluation.Evaluator {
		return &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Tokens: 40, Boundaries: []int{3, 6}}}
	}
	var examples []task.Example
	for i := range 12 {
		var source []vocab.ID
		for p := range 1 + i*7%6 {
			source = append(source, vocab.ID(2+(i+p)%7))
		}
		examples = append(examples, task.Example{Source: source, Target: []vocab.ID{vocab.ID(2 + i%4)}})
	}
	e := evaluator(lstm.Encoder{Config: config, Pool: universal.Last})
	together, err := e.Classify(t.Context(), examples)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range together {
		alone, err := e.Classify(t.Context(), examples[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		ones := slices.Repeat([]int{1}, len(examples[i].Source))
		if a.Class != alone[0].Class || math.Abs(a.LogProb-alone[0].LogProb) > 1e-5 || !slices.Equal(a.Updates, ones) {
			t.Errorf("example %d: %+v together, %+v alone", i, a, alone[0])
		}
	}
	if attention, err := e.LastAttention(t.Context(), examples); err != nil || attention[0] != nil {
		t.Errorf("attention of a model without: %v, %v", attention[0], err)
	}
	if _, err := e.Decode(t.Context(), examples); err == nil {
		t.Error("a classifier decodes")
	}
	for _, m := range []universal.Model{lstm.Decoder{Config: config}, lstm.EncoderDecoder{Config: config}} {
		if _, err := evaluator(m).Classify(t.Context(), examples); err == nil {
			t.Errorf("%T classifies", m)
		}
	}
	if _, err := evaluator(lstm.Decoder{Config: config}).Decode(t.Context(), examples); err == nil {
		t.Error("a language model answers sources")
	}
}
