package neuralgpu_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/gradcheck"
	"universal-transformer/internal/modeltest"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// Three examples of different lengths; the last answer is longer than there are slots.
var (
	sources = [][]int32{{3, 6, 2, 5}, {4, 2, 6}, {5}}
	targets = [][]int32{{2, 4, 1}, {3, 4, 2, 1}, {2, 3, 4, 1}}
)

func small() neuralgpu.Model {
	return neuralgpu.Model{SourceVocabulary: 7, TargetVocabulary: 5, Width: 7, Seed: 5, Precision: dtypes.Float64}
}

func both(source, target *Node) universal.Inputs {
	return universal.Inputs{Source: source, Target: target}
}

// reference computes the model by plain loops over float64, slot by slot: Kaiser and Sutskever (2016), section 2, with one row of slots
// and diagonal gates.
type reference struct {
	t     *testing.T
	store *model.Store
	width int
}

func (r reference) parameter(name string) []float64 { return modeltest.Parameter(r.t, r.store, name) }

// convolve is output channel c of a convolution at slot i.
func (r reference) convolve(name string, s [][]float64, i, c int) float64 {
	weight, bias := r.parameter("convolution."+name+".weight"), r.parameter("convolution."+name+".bias")
	sum := bias[c]
	for offset := -1; offset <= 1; offset++ {
		if i+offset < 0 || i+offset >= len(s) {
			continue
		}
		for k, v := range s[i+offset] {
			sum += v * weight[((offset+1)*r.width+k)*len(bias)+c]
		}
	}
	return sum
}

func (r reference) step(s [][]float64) (next [][]float64) {
	gate := func(i, c int) float64 {
		return max(0, min(1, 1.2/(1+math.Exp(-r.convolve("gates", s, i, c)))-0.1))
	}
	kept := make([][]float64, len(s))
	for i := range s {
		for c := range r.width {
			kept[i] = append(kept[i], gate(i, r.width+c)*s[i][c])
		}
	}
	for i := range s {
		var slot []float64
		for c := range r.width {
			from := i
			switch c / (r.width / 3) {
			case 0:
				from = i - 1
			case 1:
				from = i + 1
			}
			old := 0.0
			if from >= 0 && from < len(s) {
				old = s[from][c]
			}
			u := gate(i, c)
			slot = append(slot, u*old+(1-u)*math.Tanh(r.convolve("candidate", kept, i, c)))
		}
		next = append(next, slot)
	}
	return next
}

// logits are those of all slots of a source.
func (r reference) logits(source []int32, vocabulary int) (list []float64) {
	table, readout := r.parameter("embedding.source"), r.parameter("readout.weight")
	var s [][]float64
	for _, token := range source {
		slot := slices.Clone(table[int(token)*r.width:][:r.width])
		for c := range slot {
			slot[c] *= math.Sqrt(float64(r.width))
		}
		s = append(s, slot)
	}
	s = append(s, make([]float64, r.width))
	for range source {
		s = r.step(s)
	}
	for _, slot := range s {
		for v := range vocabulary {
			sum := 0.0
			for c, x := range slot {
				sum += x * readout[c*vocabulary+v]
			}
			list = append(list, sum)
		}
	}
	return list
}

// The model computes what plain loops do; places without a slot are End; and rows do not depend on padding.
// Caught when planted: a step less, steps of the longest row, channels shifted the other way, gates in the other order, an r that is not
// used, slots of padding that are not cleared, 0 in place of End.
func TestModelEqualsPlainLoops(t *testing.T) {
	m := small()
	x := modeltest.New(t, m, false, both)
	const places, vocabulary = 6, 5
	got, _ := x.Run(modeltest.Rectangle(sources, 4), modeltest.Rectangle(targets, places))
	for i, source := range sources {
		want := reference{t, x.Store, m.Width}.logits(source, vocabulary)
		row := got[i*places*vocabulary:][:places*vocabulary]
		if d := modeltest.Distance(row[:len(want)], want); !(d < 1e-12) {
			t.Errorf("source %v: logits are off by %v", source, d)
		}
	}
	if past := got[5*vocabulary : 6*vocabulary]; fmt.Sprint(past) != "[0 20 0 0 0]" {
		t.Errorf("logits after the last slot are %v, want End", past)
	}
	alone, _ := x.Run(sources[2:], [][]int32{{1, 1}})
	if d := modeltest.Distance(alone, got[2*places*vocabulary:][:2*vocabulary]); !(d < 1e-12) {
		t.Errorf("a source alone and in a batch differ by %v", d)
	}
}

// Central differences agree for every entry of every parameter.
func TestGradientsAgreeWithCentralDifferences(t *testing.T) {
	m := small()
	x := modeltest.New(t, m, true, both)
	loss := func(scope *model.Scope, nodes []*Node) *Node {
		scope.Store().SetTraining(nodes[1].Graph(), true)
		result := m.Forward(scope, both(nodes[0], nodes[1]), universal.Options{})
		l, _ := objective.Objective{}.Of(result, nodes[1], Const(nodes[1].Graph(), 0.0))
		return l
	}
	inputs := []any{modeltest.Rectangle(sources, 4), modeltest.Rectangle(targets, 4)}
	for path, gradient := range gradcheck.Check(t, enginetest.Backend(t), x.Store, loss, inputs, 1e-6) {
		if gradient < 1e-6 {
			t.Errorf("the largest gradient of %s is %v: nothing was compared", path, gradient)
		}
	}
}

// Every real position counts as many steps as its row has tokens.
func TestStepsAreTheTokens(t *testing.T) {
	m := small()
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) *Node {
		return m.Forward(scope, both(source, source), universal.Options{}).Encoder.Updates
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(modeltest.Rectangle(sources, 4))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out[0].Value()); got != "[[4 4 4 4] [3 3 3 0] [1 0 0 0]]" {
		t.Errorf("steps are %v", got)
	}
}

// What makes no sense is refused with the name of its field.
func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*neuralgpu.Model){
		"width is 2":             func(m *neuralgpu.Model) { m.Width = 2 },
		"dropout is 1":           func(m *neuralgpu.Model) { m.Dropout = 1 },
		"dropout is 0.99999999":  func(m *neuralgpu.Model) { m.Dropout = 0.99999999 }, // 1 in float32
		"source_vocabulary is 1": func(m *neuralgpu.Model) { m.SourceVocabulary = 1 },
		"target_vocabulary is 0": func(m *neuralgpu.Model) { m.TargetVocabulary = 0 },
	} {
		m := small()
		change(&m)
		if err := m.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error of %q, got %v", want, err)
		}
	}
	if err := small().CheckSource(1025); err == nil {
		t.Error("a source of 1025 tokens is accepted")
	}
}
