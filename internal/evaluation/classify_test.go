package evaluation_test

import (
	"context"
	"math"
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

// Together in batches, examples of several lengths are answered, and attend, as each does alone; steps are those of the real positions; an example of
// an unknown class is never right; and the row counts what the answers say.
// Caught when planted: padding or end for a class, padding among the steps, answers in the order of batches, unknown answers taken for right.
func TestClassify(t *testing.T) {
	m := universal.Encoder{Pool: universal.Last, Config: universal.Config{
		SourceVocabulary: 9, TargetVocabulary: 6, TokensPerPosition: 2, Width: 8, Heads: 2, Seed: 3, ScaleEmbedding: true,
		Transition: universal.FeedForward{Filter: 8}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}},
	}}
	var examples []task.Example
	for i := range 40 {
		var source []vocab.ID
		for p := range 1 + i*7%6 {
			source = append(source, vocab.ID(2+(i+p)%7), vocab.ID((i*p)%2*(2+i%5)))
		}
		examples = append(examples, task.Example{Source: source, Target: []vocab.ID{vocab.ID(2 + i%4)}})
	}
	e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Tokens: 40, TokensPerPosition: 2, Boundaries: []int{3, 6}}}
	ctx := context.Background()
	together, err := e.Classify(ctx, examples)
	if err != nil {
		t.Fatal(err)
	}
	attention, err := e.LastAttention(ctx, examples)
	if err != nil {
		t.Fatal(err)
	}
	shares, err := e.Probabilities(ctx, examples)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[vocab.ID]bool{}
	for i, a := range together {
		sum, best, probabilities := 0.0, 0, shares[i].Probabilities
		for class, p := range probabilities {
			if sum += p; p > probabilities[best] {
				best = class
			}
		}
		if math.Abs(sum-1) > 1e-5 || len(probabilities) != 4 || vocab.ID(best+2) != a.Class {
			t.Errorf("example %d: class %d, which is neither padding nor end, and probabilities %v", i, a.Class, probabilities)
		}
		if !slices.Equal(shares[i].Updates, a.Updates) {
			t.Errorf("example %d: steps %v with probabilities, %v without", i, shares[i].Updates, a.Updates)
		}
		alone, err := e.Classify(ctx, examples[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if a.Class != alone[0].Class || !slices.Equal(a.Updates, alone[0].Updates) || len(a.Updates) != len(examples[i].Source)/2 || math.Abs(a.LogProb-alone[0].LogProb) > 1e-5 {
			t.Errorf("example %d: %+v together, %+v alone", i, a, alone[0])
		}
		attentionAlone, err := e.LastAttention(ctx, examples[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		for step, shares := range attention[i] {
			sum := 0.0
			for p, share := range shares {
				sum += share
				if math.Abs(share-attentionAlone[0][step][p]) > 1e-5 {
					t.Errorf("example %d attends to %v together, to %v alone", i, shares, attentionAlone[0][step])
					break
				}
			}
			if len(attention[i]) != 3 || len(shares) != len(examples[i].Source)/2 || math.Abs(sum-1) > 1e-5 {
				t.Errorf("example %d: %d steps, in step %d %d positions with %v in all", i, len(attention[i]), step+1, len(shares), sum)
			}
		}
		seen[a.Class] = true
	}
	row, err := e.Measure(ctx, task.ClassAccuracy{Unknown: 5}, examples)
	if err != nil {
		t.Fatal(err)
	}
	correct := 0
	for i, a := range together {
		truth := examples[i].Target[0]
		if row.Answers[i].Correct != (a.Class == truth && truth != 5) || row.Answers[i].Tokens[0] != a.Class {
			t.Errorf("example %d: class %d for %d, %+v", i, a.Class, truth, row.Answers[i])
		}
		if row.Answers[i].Correct {
			correct++
		}
	}
	if len(seen) < 2 || correct == 0 || correct == len(examples) || row.Metrics[0].Accuracy.Correct != correct || row.Metrics[0].Accuracy.Total != 40 || row.Method != task.Classes {
		t.Errorf("%d right, classes %v, %+v", correct, seen, row)
	}
	for class := range seen { // the same answer, where it is the unknown class
		at := slices.IndexFunc(together, func(a task.Classified) bool { return a.Class == class })
		set := []task.Example{{Source: examples[at].Source, Target: []vocab.ID{class}}}
		if row, err := e.Measure(ctx, task.ClassAccuracy{Unknown: class}, set); err != nil || row.Answers[0].Correct {
			t.Errorf("the unknown class: %+v, %v", row, err)
		}
	}
}

// Padding and end are no classes: untrained models, which may find them the most probable, do not answer with them.
// Caught when planted: the most probable id for the class.
func TestClassesOnly(t *testing.T) {
	var examples []task.Example
	for i := range vocab.ID(30) {
		examples = append(examples, task.Example{Source: []vocab.ID{2 + i%7, 2 + i%5}, Target: []vocab.ID{2}})
	}
	for seed := range uint64(6) {
		m := universal.Encoder{Config: universal.Config{
			SourceVocabulary: 9, TargetVocabulary: 4, Width: 8, Heads: 2, Seed: seed, Transition: universal.FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2},
		}}
		e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Tokens: 40}}
		classified, err := e.Classify(t.Context(), examples)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range classified {
			if a.Class != 2 && a.Class != 3 {
				t.Fatalf("seed %d: the class of example %d is %d", seed, i, a.Class)
			}
		}
	}
}
