package objective_test

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// A priced case is a model whose steps are supervised, with the weights of its steps.
type priced struct {
	model       universal.Deep
	supervision objective.Supervision
	weights     []float64 // q_t
}

// The loss and all gradients of a supervised model are those of T passes of models that are cut off after step 1, 2, ..., T, each with the
// same variables, of which the weighted sum is taken: for fixed depth, adaptive depth, layers of their own, classifiers, taggers and language models.
// The tally counts the answers after the last step.
// Caught when planted: a step left out, weights in the other order, a mean in place of the sum, the tally of the first step.
func TestSupervisionIsASumOfCutOffModels(t *testing.T) {
	fixed := adaptiveModel(halting.Fixed{Steps: 3})
	untied, norms, act := fixed, fixed, halting.ACT{MaxSteps: 3, Epsilon: 0.05}
	untied.UntiedLayers, norms.PreNorm = true, true
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	falling := []float64{4. / 7, 2. / 7, 1. / 7}
	for i, c := range []priced{
		{universal.EncoderDecoder{Config: norms}, objective.Uniform{}, third},
		{universal.EncoderDecoder{Config: adaptiveModel(halting.Frozen{ACT: act})}, objective.Geometric{Lambda: 0.5}, falling},
		{universal.Decoder{Config: adaptiveModel(halting.Graves{ACT: act})}, objective.Geometric{Lambda: 0.5}, falling},
		{universal.Encoder{Config: adaptiveModel(halting.Listing{ACT: act})}, objective.Uniform{}, third},
		{universal.Encoder{Config: untied, Pool: universal.Each}, objective.Geometric{Lambda: 0.5}, falling},
	} {
		t.Run(fmt.Sprintf("%d/%T", i, c.model), func(t *testing.T) { c.check(t) })
	}
}

func (c priced) check(t *testing.T) {
	source, target := [][]int32{{3, 2, 6}, {5, 4, 0}}, [][]int32{{2, 4, 1}, {3, 1, 0}}
	if e, ok := c.model.(universal.Encoder); ok && e.Pool == nil {
		target = [][]int32{{2}, {4}}
	}
	supervised := objective.Objective{Supervision: c.supervision, LabelSmoothing: 0.1}
	single := objective.Objective{LabelSmoothing: 0.1}
	zero := func(n *Node) *Node { return Const(n.Graph(), 0.0) }
	in := func(nodes []*Node) universal.Inputs {
		in := universal.Inputs{Source: nodes[0], Target: nodes[1]}
		if _, ok := c.model.(universal.Decoder); ok {
			in.Source = nil
		}
		return in
	}
	whole := func(scope *model.Scope, nodes []*Node) (loss, tally *Node) {
		return supervised.Of(c.model.Forward(scope, in(nodes), supervised.Options()), nodes[1], zero(nodes[1]))
	}
	parts := func(scope *model.Scope, nodes []*Node) (sum, tally *Node) {
		sum = zero(nodes[1])
		for i, q := range c.weights {
			var loss *Node
			loss, tally = single.Of(c.cut(t, i+1).Forward(scope, in(nodes), universal.Options{}), nodes[1], zero(nodes[1]))
			sum = Add(sum, MulScalar(loss, q))
		}
		return sum, tally
	}
	store := storeOf(t, func(scope *model.Scope, nodes []*Node) *Node {
		loss, _ := whole(scope, nodes)
		return loss
	}, source, target)
	got, want := gradients(t, store, whole, source, target), gradients(t, store, parts, source, target)
	if len(got) != len(want) {
		t.Fatalf("%d outputs, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if i == 1 && j == 0 { // the loss within the tally
				continue
			}
			if math.Abs(got[i][j]-want[i][j]) > 1e-12 {
				t.Fatalf("output %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

// cut returns the model whose stack that is read out runs at most so many steps.
func (c priced) cut(t *testing.T, steps int) universal.Deep {
	t.Helper()
	exit := halting.Exit{Steps: steps}
	if m, ok := c.model.(universal.EncoderDecoder); ok { // the encoder runs as always
		policy, err := m.Halting.WithExit(exit)
		if err != nil {
			t.Fatal(err)
		}
		m.DecoderHalting = policy
		return m
	}
	m, err := c.model.WithExit(exit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gradients returns the loss, the tally, and the gradients of the loss by all variables.
func gradients(t *testing.T, store *model.Store, loss func(*model.Scope, []*Node) (loss, tally *Node), inputs ...any) (out [][]float64) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, nodes []*Node) []*Node {
		loss, tally := loss(scope, nodes)
		return append([]*Node{loss, tally}, scope.BuildTrainableVariablesGradientsGraph(loss)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	all, err := exec.Call(inputs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range all {
		out = append(out, tensors.MustCopyFlatData[float64](tensor))
	}
	return out
}

// The expected loss is, at each target, the sum over the steps of the halting weight times the cross entropy after that step: here with the
// probabilities of two classes and weights as given, by hand. Padding counts nothing.
// Caught when planted: weights of the encoder, a mean over steps, a mean over padding, the weights of the first position for all.
func TestExpectedLossByHand(t *testing.T) {
	p := [][][]float64{{{0.5, 0.8, 0.3}, {0.9, 0.4, 0.7}}, {{0.6, 0.1, 0.3}, {0.2, 0.95, 0.7}}} // [step][row] of the true token
	u := [][][]float64{{{0.3, 1, 9}, {0.25, 0.6, 9}}, {{0.7, 0, 9}, {0.75, 0.4, 9}}}
	target, mask := [][]int32{{1, 1, 0}, {1, 1, 0}}, [][]bool{{true, true, false}, {true, true, false}}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, target *Node) *Node {
		g := target.Graph()
		result := universal.Result{Encoder: passOf(g, 2, mask, u[1], u[0]), Decoder: passOf(g, 2, mask, u...)}
		result.Encoder.Updates, result.Decoder.Updates = Const(g, u[0]), Const(g, u[0])
		for _, step := range p {
			odds := Const(g, step) // [B, N]
			result.Readouts = append(result.Readouts, Stack([]*Node{Log(OneMinus(odds)), Log(odds)}, -1))
		}
		result.Logits = result.Readouts[1]
		loss, _ := objective.Objective{Supervision: objective.Halting{}}.Of(result, target, Const(g, 0.0))
		return loss
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(target)
	if err != nil {
		t.Fatal(err)
	}
	want := -(0.3*math.Log(0.5) + 0.7*math.Log(0.6) + math.Log(0.8) + 0.25*math.Log(0.9) + 0.75*math.Log(0.2) + 0.6*math.Log(0.4) + 0.4*math.Log(0.95)) / 4
	if got := tensors.ToScalar[float64](out[0]); math.Abs(got-want) > 1e-12 {
		t.Errorf("expected loss %v, want %v", got, want)
	}
}

// With a large vocabulary the answers of all steps are computed from factors; the loss and its gradients are those of whole logits.
// Caught when planted: the factors of the last step for all.
func TestSupervisionOfLargeVocabularies(t *testing.T) {
	c := newVocabularyCase(3, 4, 5, 3000)
	c.tied = true
	results := map[bool][][]float64{}
	for _, factored := range []bool{true, false} {
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, h, w, target *Node) []*Node {
			result := universal.Result{}
			for _, scale := range []float64{0.5, 1} {
				f := &universal.Factors{States: MulScalar(h, scale), Weights: w, Tied: true}
				result.Readouts = append(result.Readouts, f.Logits())
				if factored {
					result.ReadoutFactors = append(result.ReadoutFactors, f)
				}
			}
			result.Logits = result.Readouts[1]
			loss, tally := objective.Objective{Supervision: objective.Geometric{Lambda: 0.4}, LabelSmoothing: 0.1}.Of(result, target, ScalarZero(h.Graph(), h.DType()))
			return append(Gradient(loss, h, w), loss, tally)
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(single(c.states), singles(c.matrix()), c.target)
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range out {
			var wide []float64
			for _, x := range tensors.MustCopyFlatData[float32](tensor) {
				wide = append(wide, float64(x))
			}
			results[factored] = append(results[factored], wide)
		}
		exec.Finalize()
	}
	for i, want := range results[false] {
		for j := range want {
			if got := results[true][i][j]; math.Abs(got-want[j]) > 2e-5*max(1, math.Abs(want[j])) {
				t.Fatalf("output %d, %d: %v, want %v", i, j, got, want[j])
			}
		}
	}
}

func single(x [][][]float64) (y [][][]float32) {
	for _, rows := range x {
		y = append(y, singles(rows))
	}
	return y
}

func singles(x [][]float64) (y [][]float32) {
	for _, row := range x {
		var narrow []float32
		for _, v := range row {
			narrow = append(narrow, float32(v))
		}
		y = append(y, narrow)
	}
	return y
}
