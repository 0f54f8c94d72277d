package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Wrong answers are counted by how they end and by where they first go wrong; right ones are not.
// Caught when planted: a first wrong token behind the right End, tenths of the answer's own length, right answers counted.
func TestWrongAnswersAreCounted(t *testing.T) {
	right := []vocab.ID{2, 3, 4, 5, 6, 7, 8, 9, 10, vocab.End}
	d := &Diagnosis{}
	for _, answer := range [][]vocab.ID{
		right,
		{2, 3, 4, vocab.End},                    // wrong at token 4
		{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},    // at End
		{2, 2, 4, 5, 6, 7, 8, 9, 10, vocab.End}, // at token 2
		append(slices.Clone(right), 5),          // goes on behind End
		{3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 100}, // at token 1
	} {
		d.add(answer, right)
	}
	if got := fmt.Sprintf("%+v", *d); got != "{Wrong:5 Early:1 Late:3 Substitute:1 FirstWrong:[1 1 0 1 0 0 0 0 0 2] Attention:[] OverTraced:0}" {
		t.Errorf("counted %s", got)
	}
}

// Of every alignment the head with the highest mean over all answers is given, with its smallest weight; places that need nothing do not count.
// Caught when planted: places that need nothing counted as 0, the head with the highest single weight, steps and heads exchanged.
func TestAttentionIsOfTheBestHead(t *testing.T) {
	alignments := []task.Alignment{{Name: "one", Source: []int{0, 1, -1}}, {Name: "two", Source: []int{-1, -1, 0}}}
	// [step][head][place][source]
	first := [][][][]float64{
		{{{1, 0}, {0.9, 0.1}, {0.3, 0.7}}, {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}}},
		{{{0, 1}, {1, 0}, {0.8, 0.2}}, {{0.7, 0.3}, {0.1, 0.9}, {0, 1}}},
	}
	second := [][][][]float64{
		{{{0.2, 0.8}, {0.2, 0.8}, {1, 0}}, {{0, 1}, {0, 1}, {0, 1}}},
		{{{0, 1}, {0, 1}, {0.6, 0.4}}, {{0.6, 0.4}, {0.4, 0.6}, {0, 1}}},
	}
	got := best(tally(tally(nil, first, alignments), second, alignments))
	want := []Attention{
		{Right: "one", Step: 2, Head: 2, Mean: (0.7 + 0.9 + 0.6 + 0.6) / 4, Least: 0.6, Place: 1},
		{Right: "two", Step: 2, Head: 1, Mean: 0.7, Least: 0.6, Place: 3},
	}
	if len(got) != len(want) {
		t.Fatalf("%d heads, want %d: %+v", len(got), len(want), got)
	}
	for i, a := range got {
		if math.Abs(a.Mean-want[i].Mean) > 1e-12 {
			t.Errorf("%s: mean %v, want %v", a.Right, a.Mean, want[i].Mean)
		}
		a.Mean = want[i].Mean
		if a != want[i] {
			t.Errorf("got %+v, want %+v", a, want[i])
		}
	}
}

// A head of a single weight counts; of two heads with the same mean the first is given; a step or head without weights is not.
func TestAttentionOfOneWeight(t *testing.T) {
	one := []task.Alignment{{Name: "one", Source: []int{1}}, {Name: "nothing", Source: []int{-1}}, {Name: "two", Source: []int{0}}}
	heads := tally(nil, [][][][]float64{{{{0.75, 0.25}}, {{0.5, 0.5}}}, {{{0.5, 0.5}}, {{0.25, 0.75}}}, {{{0.25, 0.75}}, {{1, 0}}}}, one)
	if len(heads) != 3*3*2 {
		t.Fatalf("%d heads", len(heads))
	}
	want := []Attention{{Right: "one", Step: 2, Head: 2, Mean: 0.75, Least: 0.75, Place: 1}, {Right: "two", Step: 3, Head: 2, Mean: 1, Least: 1}}
	if got := best(heads); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := best(nil); got != nil {
		t.Errorf("of no heads %+v", got)
	}
}

// Answers whose decoder ran different numbers of steps count for the heads of the steps that they ran.
// Caught when planted: heads counted through the steps of one answer.
func TestAttentionOfDifferentDepths(t *testing.T) {
	alignments := []task.Alignment{{Name: "one", Source: []int{0}}, {Name: "two", Source: []int{1}}}
	// [step][head][place][source]
	step := func(first, second float64) [][][]float64 {
		return [][][]float64{{{first, 1 - first}}, {{second, 1 - second}}}
	}
	var heads []*headTally
	for _, attention := range [][][][][]float64{{step(0.5, 0.25)}, {step(0.25, 0.75), step(0, 0.125)}, {step(0.5, 1), step(1, 0.25), step(0.75, 0)}} {
		heads = tally(heads, attention, alignments)
	}
	want := []Attention{{Right: "one", Step: 3, Head: 1, Mean: 0.75, Least: 0.75, Place: 1}, {Right: "two", Step: 3, Head: 2, Mean: 1, Least: 1}}
	if got := best(heads); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Attention is recorded on sources of up to 1000 tokens.
func TestDiagnoseLongSources(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var e Evaluation
	for _, n := range []int{1001, 1000, 1001} {
		e.Examples = append(e.Examples, task.Example{Source: slices.Repeat([]vocab.ID{3}, n), Target: []vocab.ID{3, vocab.End}})
		e.Answers = append(e.Answers, task.Answer{Tokens: []vocab.ID{3}})
	}
	d, err := m.Diagnose(t.Context(), e)
	if err != nil || d.OverTraced != 1 || d.Wrong != 3 || d.Early != 3 || len(d.Attention) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// inattentive is a model whose decoder's attention to the source is not recorded.
type inattentive struct{ universal.Model }

func (m inattentive) Forward(scope *model.Scope, in universal.Inputs, o universal.Options) universal.Result {
	result := m.Model.Forward(scope, in, o)
	pass := *result.Decoder
	pass.CrossAttention, result.Decoder = nil, &pass
	return result
}

// Attention of a single step is recorded; where there is none, no answer is traced.
func TestDiagnoseOneStep(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.SetExit(halting.Exit{Fixed: 1}); err != nil {
		t.Fatal(err)
	}
	var e Evaluation
	for _, id := range []vocab.ID{3, 4} {
		e.Examples = append(e.Examples, task.Example{Source: []vocab.ID{id, id}, Target: []vocab.ID{id, id, vocab.End}})
		e.Answers = append(e.Answers, task.Answer{Tokens: []vocab.ID{id, id, vocab.End}})
	}
	for traced := 2; traced >= 0; traced -= 2 {
		d, err := m.Diagnose(t.Context(), e)
		if err != nil || d.OverTraced != traced || d.Wrong != 0 || (len(d.Attention) > 0) != (traced > 0) {
			t.Errorf("%+v, %v, want %d answers", d, err, traced)
		}
		m.graph = inattentive{m.graph}
	}
}
