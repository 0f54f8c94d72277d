package lstm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/gradcheck"
	"universal-transformer/internal/modeltest"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// Three examples of different lengths.
var (
	sources = [][]int32{{3, 6, 2, 5}, {4, 2}, {5, 5, 6, 2}}
	targets = [][]int32{{2, 4, 1}, {3, 3, 4, 2, 1}, {1}}
)

// loss is smoothed cross entropy, in training or not.
func loss(m universal.Model, training bool) gradcheck.Loss {
	return func(scope *model.Scope, nodes []*Node) *Node {
		scope.Store().SetTraining(nodes[1].Graph(), training)
		result := m.Forward(scope, inputs(m, nodes), universal.Options{})
		l, _ := objective.Objective{LabelSmoothing: 0.1}.Of(result, nodes[1], Const(nodes[1].Graph(), 0.3))
		return l
	}
}

// Central differences agree for every entry of every parameter, of rows that are padded too, by the layers' own gradient and by GoMLX's.
// Caught when planted: a gradient of U with the wrong first state; gradients of cells that stop at a position; the slope of a sigmoid
// for the candidate; a start without gradient.
func TestGradientsAgreeWithCentralDifferences(t *testing.T) {
	for name, m := range models() {
		source, target := modeltest.Rectangle(sources, 4), modeltest.Rectangle(targets, 5)
		if classifies(m) {
			target = [][]int32{{2}, {4}, {1}}
		}
		if strings.Contains(name, "each position") {
			target = modeltest.Rectangle([][]int32{{2, 4, 1, 3}, {3, 3}, {1, 2, 4, 2}}, 4)
		}
		for _, training := range []bool{true, false} {
			x := newMachine(t, m, training)
			for path, gradient := range gradcheck.Check(t, enginetest.Backend(t), x.Store, loss(m, training), []any{source, target}, 1e-7) {
				if gradient < 1e-6 {
					t.Errorf("%s, training %v: the largest gradient of %s is %v: nothing was compared", name, training, path, gradient)
				}
			}
		}
	}
}

// Examples alone and unpadded, together in a batch, and in a wider one with an empty row, come to the same.
// Caught when planted: a decoder that starts after the padding, attention to padding, a mean that counts padding.
func TestPaddingChangesNothing(t *testing.T) {
	for name, m := range models() {
		x := newMachine(t, m, false)
		vocabulary := 5
		if strings.Contains(name, "one table") {
			vocabulary = 7
		}
		for _, b := range []struct{ rows, source, target int }{{3, 4, 5}, {4, 8, 7}} {
			empty := make([][]int32, b.rows-3)
			logits, _ := x.Run(modeltest.Rectangle(slices.Concat(sources, empty), b.source), modeltest.Rectangle(slices.Concat(targets, empty), b.target))
			if modeltest.Distance(logits, logits) != 0 {
				t.Errorf("%s: logits are no numbers", name)
			}
			for i := range sources {
				want, _ := x.Run(sources[i:i+1], targets[i:i+1])
				row := len(logits) / b.rows
				if d := modeltest.Distance(logits[i*row:][:len(want)], want); len(want)%vocabulary != 0 || !(d < 1e-12) {
					t.Errorf("%s: example %d in a batch of %d is off by %v", name, i, b.rows, d)
				}
			}
		}
	}
}

// The logits of position i are made of tokens before i: whatever stands from i on, they keep their bits, and those of the next position
// do not.
// Caught when planted: targets that are not shifted.
func TestDecoderIsCausal(t *testing.T) {
	source, target := [][]int32{{3, 6, 2, 5}}, []int32{2, 4, 3, 3, 1}
	for name, m := range models() {
		if classifies(m) {
			continue
		}
		x := newMachine(t, m, false)
		before, _ := x.Run(source, [][]int32{target})
		vocabulary := len(before) / len(target)
		for i := range target[:4] {
			changed := slices.Clone(target)
			for j := i; j < len(changed); j++ {
				changed[j] = changed[j]%4 + 1
			}
			after, _ := x.Run(source, [][]int32{changed})
			for j := range target {
				same := slices.Equal(after[j*vocabulary:][:vocabulary], before[j*vocabulary:][:vocabulary])
				if same != (j <= i) {
					t.Errorf("%s: tokens from %d on change, and position %d keeps its logits: %v", name, i, j, same)
				}
			}
		}
	}
}

// Dropout acts in training only, and differs from one run to the next.
// Caught when planted: dropout outside of training; dropout that is left out.
func TestDropoutActsInTrainingOnly(t *testing.T) {
	c := small()
	c.Dropout = 0.5
	source, target := [][]int32{{3, 6, 2, 5}}, [][]int32{{2, 4, 3, 1}}
	with, without := lstm.EncoderDecoder{Config: c, Attention: true}, lstm.EncoderDecoder{Config: small(), Attention: true}
	want, _ := newMachine(t, without, true).Run(source, target)
	still, _ := newMachine(t, with, false).Run(source, target)
	if modeltest.Distance(still, want) != 0 {
		t.Error("dropout changes logits outside of training")
	}
	x := newMachine(t, with, true)
	first, _ := x.Run(source, target)
	second, _ := x.Run(source, target)
	if modeltest.Distance(first, want) == 0 || modeltest.Distance(first, second) == 0 {
		t.Error("dropout changes nothing in training, or always the same")
	}
}

// Forget gates start open, other biases at zero.
// Caught when planted: ones for the input gates.
func TestForgetGatesStartOpen(t *testing.T) {
	store := model.NewStore()
	m := lstm.Decoder{Config: small()}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Target: target}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call([][]int32{{2, 3}}); err != nil {
		t.Fatal(err)
	}
	got := modeltest.Parameter(t, store, "decoder.layer_2.bias")
	if want := []float64{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("biases of input, forget, candidate and output start as %v, want %v", got, want)
	}
}

// What makes no sense is refused with the name of its field.
func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*lstm.Config){
		"width is 0":                            func(c *lstm.Config) { c.Width = 0 },
		"layers is 0":                           func(c *lstm.Config) { c.Layers = 0 },
		"dropout is 1":                          func(c *lstm.Config) { c.Dropout = 1 },
		"dropout is 0.99999999":                 func(c *lstm.Config) { c.Dropout = 0.99999999 }, // 1 in float32
		"source_vocabulary is 1":                func(c *lstm.Config) { c.SourceVocabulary = 1 },
		"target_vocabulary is 0":                func(c *lstm.Config) { c.TargetVocabulary = 0 },
		"shared_embedding needs one vocabulary": func(c *lstm.Config) { c.SharedEmbedding = true },
	} {
		c := small()
		change(&c)
		if err := (lstm.EncoderDecoder{Config: c}).Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error of %q, got %v", want, err)
		}
	}
	c := small()
	c.TiedReadout, c.Precision = true, dtypes.Float32
	if err := (lstm.Encoder{Config: c}).Validate(); err == nil {
		t.Error("a classifier with a tied readout is accepted")
	}
}
