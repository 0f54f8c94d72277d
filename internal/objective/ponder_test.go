package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/gradcheck"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// passOf returns a stack with the weights u of its steps, [T][B][M], and a mask.
func passOf(g *Graph, limit int, mask [][]bool, u ...[][]float64) *universal.Pass {
	pass := &universal.Pass{Mask: Const(g, mask), Outcome: halting.Outcome{Limit: limit, Remainders: Const(g, u[0])}}
	for _, step := range u {
		pass.Weights = append(pass.Weights, Const(g, step))
	}
	return pass
}

// The divergences are computed by hand from their definition. At a limit of 6 steps with lambda 0.4, q is 0.4 0.6^(t-1) / (1 - 0.6^6), so
// weights of .3, .3, .3 and .1 diverge by .3 ln(.3/.419576) + .3 ln(.3/.251745) + .3 ln(.3/.151047) + .1 ln(.1/.090628). A position that halts
// at once costs -ln q_1, and weights that equal the prior cost nothing.
// Caught when planted: KL(q||u), no truncation, a limit of the steps that were run, padding counted, ln 0 at halted steps.
func TestGeometricPriorByHand(t *testing.T) {
	for _, c := range []struct {
		lambda  float64
		limit   int
		weights []float64
		want    float64
	}{
		{0.4, 6, []float64{0.3, 0.3, 0.3, 0.1}, 0.167667972112843},
		{0.25, 4, []float64{0.7, 0.3, 0, 0}, 0.7*math.Log(0.7*175/64) + 0.3*math.Log(0.3*175/48)}, // q is 64, 48, 36 and 27 of 175
		{0.5, 3, []float64{1}, math.Log(7. / 4)},                                                  // q is 4, 2 and 1 of 7
		{0.5, 3, []float64{4. / 7, 2. / 7, 1. / 7}, 0},
		{1e-12, 2, []float64{0.5, 0.5}, 0}, // uniform
		{0.9, 1000, []float64{1}, -math.Log(0.9)},
	} {
		var u [][][]float64
		for _, w := range c.weights {
			u = append(u, [][]float64{{w, w, 0}, {w, 0, 0}})
		}
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, x *Node) *Node {
			return objective.GeometricPrior{Lambda: c.lambda}.Of(passOf(x.Graph(), c.limit, [][]bool{{true, true, false}, {true, false, false}}, u...))
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(1.0)
		if err != nil {
			t.Fatal(err)
		}
		if got := tensors.ToScalar[float64](out[0]); !(math.Abs(got-c.want) < 1e-11) {
			t.Errorf("lambda %v, at most %d steps, weights %v: %v, want %v", c.lambda, c.limit, c.weights, got, c.want)
		}
		exec.Finalize()
	}
}

// The cost counts real positions only, whatever stands at padding, is 0 without any, and its gradient by the weights of a position, which are
// free here, is (ln u - ln q + 1) over the number of real positions.
func TestGeometricPriorGradient(t *testing.T) {
	mask := [][]bool{{true, true, false}, {true, false, false}}
	first := [][]float64{{0.2, 0.6, 0.9}, {0.5, 0.3, 0.9}}
	second := [][]float64{{0.8, 0.4, 0.1}, {0.5, 0.7, 0.1}}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, u, v *Node) []*Node {
		pass := passOf(u.Graph(), 2, mask, first)
		pass.Weights = []*Node{u, v}
		cost := objective.GeometricPrior{Lambda: 0.25}.Of(pass)
		pass.Mask = Const(u.Graph(), [][]bool{{false, false, false}, {false, false, false}})
		return append(Gradient(cost, u, v), cost, objective.GeometricPrior{Lambda: 0.25}.Of(pass))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(first, second)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for k, u := range [][][]float64{first, second} {
		logQ := math.Log([]float64{4. / 7, 3. / 7}[k])
		gradients := tensors.MustCopyFlatData[float64](out[k])
		for b, row := range u {
			for m, w := range row {
				gradient := 0.0
				if mask[b][m] {
					want += w * (math.Log(w) - logQ) / 3
					gradient = (math.Log(w) - logQ + 1) / 3
				}
				if got := gradients[b*3+m]; math.Abs(got-gradient) > 1e-12 {
					t.Errorf("step %d, position %d of row %d: gradient %v, want %v", k+1, m, b, got, gradient)
				}
			}
		}
	}
	if got, none := tensors.ToScalar[float64](out[2]), tensors.ToScalar[float64](out[3]); math.Abs(got-want) > 1e-12 || none != 0 {
		t.Errorf("cost %v, want %v; %v without positions", got, want, none)
	}
}

// adaptiveModel has odd sizes and an adaptive policy.
func adaptiveModel(p halting.Policy) universal.Config {
	return universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 5, Width: 6, Heads: 2, Seed: 5, Precision: tensors.FromValue(1.0).DType(),
		Transition: universal.FeedForward{Filter: 5}, Halting: p,
	}
}

// scramble draws every variable anew, so that positions halt after different numbers of steps.
func scramble(t *testing.T, store *model.Store) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	for v := range store.IterVariables() {
		if !v.Trainable {
			continue
		}
		values := make([]float64, v.Shape().Size())
		for i := range values {
			values[i] = 0.6 * rng.NormFloat64()
			if v.Name() == "gain" {
				values[i]++
			}
			if v.Name() == "bias" && len(values) == 1 {
				values[i] = -0.6
			}
		}
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
			t.Fatal(err)
		}
	}
}

// The gradients of a loss with a prior, and with every supervision, agree with central differences in all parameters of an encoder-decoder,
// those of the halting units included.
// Caught when planted: weights without a gradient, a decoder whose cost does not count.
func TestGradientsOfObjectives(t *testing.T) {
	source, target := [][]int32{{3, 2, 6}, {5, 4, 0}}, [][]int32{{2, 4, 1}, {3, 1, 0}}
	frozen := halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.05}}
	prior := objective.GeometricPrior{Lambda: 0.4}
	for name, o := range map[string]objective.Objective{
		"prior":      {PonderCost: prior, LabelSmoothing: 0.1},
		"uniform":    {Supervision: objective.Uniform{}},
		"geometric":  {Supervision: objective.Geometric{Lambda: 0.3}, LabelSmoothing: 0.1},
		"ponder net": {Supervision: objective.Halting{}, PonderCost: prior, LabelSmoothing: 0.1},
	} {
		m := universal.EncoderDecoder{Config: adaptiveModel(frozen)}
		loss := func(scope *model.Scope, nodes []*Node) *Node {
			result := m.Forward(scope, universal.Inputs{Source: nodes[0], Target: nodes[1]}, o.Options())
			loss, _ := o.Of(result, nodes[1], Const(nodes[1].Graph(), 0.3))
			return loss
		}
		store := storeOf(t, loss, source, target)
		for path, largest := range gradcheck.Check(t, enginetest.Backend(t), store, loss, []any{source, target}, 1e-6) {
			if strings.Contains(path, "halting") && largest == 0 {
				t.Errorf("%s: no gradient reaches %s", name, path)
			}
		}
	}
}

// storeOf makes the variables of a loss, at random.
func storeOf(t *testing.T, loss gradcheck.Loss, source, target [][]int32) *model.Store {
	t.Helper()
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, loss)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call(source, target); err != nil {
		t.Fatal(err)
	}
	scramble(t, store)
	return store
}

// Capacities that leave out steps which no position runs do not change the prior, which is that of the step limit.
// Caught when planted: a limit of the steps that were run.
func TestGeometricPriorWithCapacities(t *testing.T) {
	m := universal.Encoder{Config: adaptiveModel(halting.Frozen{ACT: halting.ACT{MaxSteps: 9, Epsilon: 0.3}})}
	source, target := [][]int32{{3, 2, 6}, {5, 4, 0}}, [][]int32{{2}, {4}}
	full := halting.Capacity{Positions: 6, Rows: 2, Longest: 3}
	ran := 0
	loss := func(c halting.Capacities) func(scope *model.Scope, nodes []*Node) (loss, tally *Node) {
		return func(scope *model.Scope, nodes []*Node) (loss, tally *Node) {
			result := m.Forward(scope, universal.Inputs{Source: nodes[0], Target: nodes[1], SourceCapacities: c}, universal.Options{})
			ran = len(result.Encoder.Weights)
			return objective.Objective{PonderCost: objective.GeometricPrior{Lambda: 0.2}}.Of(result, nodes[1], Const(nodes[1].Graph(), 0.3))
		}
	}
	store := storeOf(t, func(scope *model.Scope, nodes []*Node) *Node {
		l, _ := loss(nil)(scope, nodes)
		return l
	}, source, target)
	want := gradients(t, store, loss(nil), source, target)
	got := gradients(t, store, loss(halting.Capacities{full, full, full, full}), source, target)
	if mean := want[1][6] / want[1][7]; mean < 1.2 || mean > 3.5 || ran != 4 {
		t.Fatalf("%v steps on average, with %d capacities: the case shows nothing", mean, ran)
	}
	for i := range want {
		for j := range want[i] {
			if math.Abs(got[i][j]-want[i][j]) > 1e-12 {
				t.Fatalf("output %d with capacities: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

// Costs and supervisions name the policies that they are not defined for.
func TestObjectivesCheckPolicies(t *testing.T) {
	act := halting.ACT{MaxSteps: 4, Epsilon: 0.01}
	fixed, frozen, listing, random := halting.Fixed{Steps: 4}, halting.Frozen{ACT: act}, halting.Listing{ACT: act}, halting.Random{MinSteps: 1, MaxSteps: 4}
	for _, c := range []struct {
		err  error
		want string
	}{
		{objective.Graves{}.CheckPolicy(fixed), "fixed depth (4 steps)"}, {objective.Graves{}.CheckPolicy(listing), ""},
		{objective.GeometricPrior{Lambda: 0.5}.CheckPolicy(fixed), "fixed depth (4 steps)"},
		{objective.GeometricPrior{Lambda: 0.5}.CheckPolicy(listing), "under listing the weights"},
		{objective.GeometricPrior{Lambda: 0.5}.CheckPolicy(halting.Graves{ACT: act}), ""},
		{objective.Uniform{}.CheckPolicy(fixed, false), ""}, {objective.Uniform{}.CheckPolicy(listing, true), ""},
		{objective.Uniform{}.CheckPolicy(random, true), "varies between examples (4 steps, in training drawn from 1)"},
		{objective.Geometric{Lambda: 0.5}.CheckPolicy(halting.Length{}, true), "varies between examples"},
		{objective.Halting{}.CheckPolicy(fixed, true), "fixed depth"}, {objective.Halting{}.CheckPolicy(frozen, false), "one answer for all positions"},
		{objective.Halting{}.CheckPolicy(listing, true), "under listing"}, {objective.Halting{}.CheckPolicy(frozen, true), ""},
		{objective.GeometricPrior{}.Validate(), "lambda is 0"}, {objective.Geometric{Lambda: 1}.Validate(), "lambda is 1"},
		{objective.GeometricPrior{Lambda: math.NaN()}.Validate(), "lambda is NaN"}, {objective.Geometric{Lambda: 0.1}.Validate(), ""},
	} {
		if said := fmt.Sprint(c.err); c.want == "" && c.err != nil || c.want != "" && !strings.Contains(said, c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}
