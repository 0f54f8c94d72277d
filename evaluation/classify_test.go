package evaluation_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/engine/enginetest"
	"universal-transformer/evaluation"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Together in batches, examples of several lengths are answered, and look, as each does alone; steps are those of the real positions; an example of
// an unknown class is never right; and the row counts what the answers say.
// Caught when planted: padding among the steps, answers in the order of batches, unknown answers taken for right.
func TestClassify(t *testing.T) {
	classes, err := vocab.New([]string{"x", "y", "z"}, vocab.WithUnknown())
	if err != nil {
		t.Fatal(err)
	}
	m := universal.Encoder{Pool: universal.Last, Config: universal.Config{
		SourceVocabulary: 9, TargetVocabulary: classes.Size(), TokensPerPosition: 2, Width: 8, Heads: 2, Seed: 3, ScaleEmbedding: true,
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
	e := evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Plan: batch.Plan{Tokens: 40, TokensPerPosition: 2, Boundaries: []int{3, 6}}}
	row, together, err := e.Classify(context.Background(), m, examples, classes)
	if err != nil {
		t.Fatal(err)
	}
	looked, err := e.LastAttention(context.Background(), m, examples)
	if err != nil {
		t.Fatal(err)
	}
	right, unknown := 0, vocab.ID(5)
	seen := map[vocab.ID]bool{}
	for i, a := range together {
		_, alone, err := e.Classify(context.Background(), m, examples[i:i+1], classes)
		if err != nil {
			t.Fatal(err)
		}
		if a.Class != alone[0].Class || !slices.Equal(a.Updates, alone[0].Updates) || len(a.Updates) != len(examples[i].Source)/2 {
			t.Errorf("example %d: %+v together, %+v alone", i, a, alone[0])
		}
		look, err := e.LastAttention(context.Background(), m, examples[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		for step, shares := range looked[i] {
			sum := 0.0
			for p, share := range shares {
				sum += share
				if math.Abs(share-look[0][step][p]) > 1e-5 {
					t.Errorf("example %d looks at %v together, at %v alone", i, shares, look[0][step])
					break
				}
			}
			if len(looked[i]) != 3 || len(shares) != len(examples[i].Source)/2 || math.Abs(sum-1) > 1e-5 {
				t.Errorf("example %d: %d steps, in step %d %d positions with %v in all", i, len(looked[i]), step+1, len(shares), sum)
			}
		}
		truth := examples[i].Target[0]
		if a.Right != (a.Class == truth && truth != unknown) {
			t.Errorf("example %d: class %d for %d, right %v", i, a.Class, truth, a.Right)
		}
		if a.Right {
			right++
		}
		seen[a.Class] = true
	}
	if len(seen) < 2 || right == 0 || right == len(examples) || row.Score.Sequences.Correct != right || row.Score.Sequences.Total != 40 || row.Method != evaluation.Classification {
		t.Errorf("%d right, classes %v, %+v", right, seen, row)
	}
	for class := range seen { // the same answer, under classes of which it is the unknown one
		known, err := vocab.New([]string{"x", "y", "z"}[:class-2], vocab.WithUnknown())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(together, func(a evaluation.Answer) bool { return a.Class == class })
		set := []task.Example{{Source: examples[at].Source, Target: []vocab.ID{class}}}
		if _, answers, err := e.Classify(context.Background(), m, set, known); err != nil || answers[0].Class != class || answers[0].Right {
			t.Errorf("the unknown class: %+v, %v", answers, err)
		}
	}
}
