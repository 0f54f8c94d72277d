package evaluation_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Together in batches, examples of several lengths have the tags and probabilities that each has alone, one per position and without
// those of padding and end, by adaptive models, Transformers and LSTMs. Their ratios are those of the scores of targets.
// Caught when planted: probabilities of another position, those of padding and end, rows as long as the ids of a source.
func TestTag(t *testing.T) {
	c := universal.Config{
		SourceVocabulary: 9, TargetVocabulary: 6, TokensPerPosition: 2, Width: 8, Heads: 2, Seed: 3, ScaleEmbedding: true,
		Transition: universal.FeedForward{Filter: 8}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}},
	}
	untied := c
	untied.UntiedLayers, untied.Halting = true, halting.Fixed{Steps: 2}
	recurrent := lstm.Config{SourceVocabulary: 9, TargetVocabulary: 6, TokensPerPosition: 2, Width: 8, Layers: 2, Seed: 3, ScaleEmbedding: true}
	var examples []task.Example
	for i := range 40 {
		var e task.Example
		for p := range 1 + i*7%6 {
			e.Source = append(e.Source, vocab.ID(2+(i+p)%7), vocab.ID((i*p)%2*(2+i%5)))
			e.Target = append(e.Target, vocab.ID(2+(i*p)%4))
		}
		examples = append(examples, e)
	}
	for name, m := range map[string]universal.Model{
		"adaptive": universal.Encoder{Config: c, Pool: universal.Each}, "Transformer": universal.Encoder{Config: untied, Pool: universal.Each},
		"LSTM": lstm.Encoder{Config: recurrent, Pool: universal.Each},
	} {
		plan := batch.Plan{Tokens: 40, TokensPerPosition: 2, Boundaries: []int{3, 6}, Aligned: true}
		checkTags(t, name, &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: plan}, examples)
	}
	decodes := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: universal.EncoderDecoder{Config: c}, Plan: batch.Plan{Tokens: 40, Aligned: true}}
	if _, err := decodes.Tag(t.Context(), examples); err == nil {
		t.Error("a model that decodes has tags")
	}
}

func checkTags(t *testing.T, name string, e *evaluation.Evaluator, examples []task.Example) {
	t.Helper()
	together, err := e.Tag(t.Context(), examples)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	seen, second, third := map[vocab.ID]bool{}, scoresOf(t, e, examples, 2), scoresOf(t, e, examples, 3)
	for i, a := range together {
		alone, err := e.Tag(t.Context(), []task.Example{{Source: examples[i].Source}})
		if err != nil || len(a.Tags) != len(examples[i].Target) || !slices.Equal(a.Tags, alone[0].Tags) {
			t.Fatalf("%s, example %d: %v together, %v alone, %v", name, i, a.Tags, alone, err)
		}
		for p, probabilities := range a.Probabilities {
			best, sum := 0, 0.0
			for k, share := range probabilities {
				if sum += share; share > probabilities[best] {
					best = k
				}
				if math.Abs(share-alone[0].Probabilities[p][k]) > 1e-5 {
					t.Errorf("%s, example %d: %v together, %v alone", name, i, probabilities, alone[0].Probabilities[p])
				}
			}
			if len(probabilities) != 4 || math.Abs(sum-1) > 1e-5 || a.Tags[p] != vocab.ID(best+2) {
				t.Errorf("%s, example %d: tag %d, probabilities %v", name, i, a.Tags[p], probabilities)
			}
			if d := math.Log(probabilities[0]/probabilities[1]) - (second[i].LogProbs[p] - third[i].LogProbs[p]); math.Abs(d) > 1e-4 {
				t.Errorf("%s, example %d, position %d: probabilities %v, scores %v and %v", name, i, p, probabilities, second[i].LogProbs[p], third[i].LogProbs[p])
			}
			seen[a.Tags[p]] = true
		}
	}
	if len(seen) < 2 {
		t.Errorf("%s: all positions have the tags %v: the case shows little", name, seen)
	}
}

// scoresOf scores the examples with a target of one class at all positions.
func scoresOf(t *testing.T, e *evaluation.Evaluator, examples []task.Example, class vocab.ID) []task.Scored {
	t.Helper()
	changed := slices.Clone(examples)
	for i := range changed {
		changed[i].Target = slices.Repeat([]vocab.ID{class}, len(changed[i].Target))
	}
	scored, err := e.Score(t.Context(), changed)
	if err != nil {
		t.Fatal(err)
	}
	return scored
}
