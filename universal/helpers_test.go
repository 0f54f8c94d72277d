package universal_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/longtest"
	"universal-transformer/internal/modeltest"
	"universal-transformer/universal"
)

// small is a model of odd sizes, to be completed by policy and transition.
func small() universal.Config {
	return universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 5, Width: 6, Heads: 2, Seed: 5, Precision: dtypes.Float64,
		Transition: universal.FeedForward{Filter: 5}, Halting: halting.Fixed{Steps: 3},
	}
}

// adaptive returns the policies that weigh their steps, of which there are at most the given number.
func adaptive(steps int) []modeltest.Policy {
	return slices.DeleteFunc(modeltest.Policies(steps), func(p modeltest.Policy) bool { return !p.Weighted() })
}

// A variant is a model with a name.
type variant struct {
	name  string
	model universal.Model
	field bool // the model differs from another one in a field, whatever that does to its depth: see variety
}

// variants is each model with each policy (of at most 4 steps) and each transition, and both with each place of the norms, at a
// precision; in the long form each combination of the four. Then come models with a decoder that differ from one that halts by itself in one
// field of the configuration each.
func variants(precision dtypes.DType) (list []variant) {
	for i, p := range modeltest.Policies(4) {
		for j, transition := range []universal.Transition{universal.FeedForward{Filter: 5}, universal.SeparableConvolution{Filter: 5}} {
			for k, preNorm := range []bool{false, true} {
				if (i+j+k)%2 == 1 && !longtest.Enabled() {
					continue
				}
				c := small()
				c.Precision, c.Halting, c.Transition, c.PreNorm = precision, p.Policy, transition, preNorm
				untied := c
				untied.UntiedLayers = true
				for _, m := range []universal.Model{
					universal.EncoderDecoder{Config: c}, universal.Encoder{Config: c}, universal.Decoder{Config: c},
					universal.Encoder{Config: c, Pool: universal.Last},
					universal.EncoderDecoder{Config: untied}, universal.Encoder{Config: untied}, universal.Decoder{Config: untied},
				} {
					if m.Validate() == nil { // a language model cannot tie its depth to a source, and untied layers are a fixed number
						name := fmt.Sprintf("%T/%s/%T/pre-norm=%v/untied=%v", m, p.Name, transition, preNorm, isUntied(m))[len("universal."):]
						if e, ok := m.(universal.Encoder); ok && e.Pool != nil {
							name += "/last"
						}
						list = append(list, variant{name: name, model: m})
					}
				}
			}
		}
	}
	base := small()
	base.Precision, base.Transition, base.Halting = precision, universal.FeedForward{Filter: 6}, halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	for _, v := range modeltest.Variants(base) {
		policy := "frozen"
		if _, fixed := v.Config.Halting.(halting.Fixed); fixed {
			policy = "fixed"
		}
		for _, m := range []universal.Model{universal.EncoderDecoder{Config: v.Config}, universal.Decoder{Config: v.Config}} {
			list = append(list, variant{fmt.Sprintf("%T/%s/%T/%s", m, policy, v.Config.Transition, v.Name)[len("universal."):], m, true})
		}
	}
	return list
}

func isUntied(m universal.Model) bool {
	switch m := m.(type) {
	case universal.EncoderDecoder:
		return m.UntiedLayers
	case universal.Encoder:
		return m.UntiedLayers
	}
	return m.(universal.Decoder).UntiedLayers
}

// hasSource and hasTarget say what a model reads.
func hasSource(m universal.Model) bool { _, not := m.(universal.Decoder); return !not }
func hasTarget(m universal.Model) bool { return !classifies(m) }

func classifies(m universal.Model) bool { _, ok := m.(universal.Encoder); return ok }

// A machine runs one model on ids. Its variables are random numbers of a size at which positions halt after different
// numbers of steps; they depend on their names only.
type machine struct {
	t     *testing.T
	model universal.Model
	store *model.Store
	exec  *model.Exec
	names []string
}

func newMachine(t *testing.T, m universal.Model) *machine {
	t.Helper()
	x := newMachineAsInitialised(t, m)
	scramble(t, x.store)
	return x
}

// newMachineAsInitialised leaves the variables at the values that training starts from.
func newMachineAsInitialised(t *testing.T, m universal.Model) *machine {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	x := &machine{t: t, model: m, store: model.NewStore()}
	var err error
	if x.exec, err = model.NewExec(enginetest.Backend(t), x.store, x.graph); err != nil {
		t.Fatal(err)
	}
	x.exec.SetMaxCache(-1)
	t.Cleanup(x.exec.Finalize)
	x.run([][]int32{{1, 2}}, [][]int32{{1, 2}})
	return x
}

// scramble draws every variable anew.
func scramble(t *testing.T, store *model.Store) {
	t.Helper()
	for v := range store.IterVariables() {
		name := universal.Name(v.Path())
		h := fnv.New64()
		_, _ = h.Write([]byte(name))
		rng := rand.New(rand.NewPCG(h.Sum64(), 19))
		values := make([]float64, v.Shape().Size())
		for i := range values {
			values[i] = 0.5 * rng.NormFloat64()
			switch v.Name() {
			case "gain":
				values[i]++
			case "bias":
				if v.Shape().Size() == 1 { // of the halting unit: from one step to more than four
					values[i] = -0.4
				}
			}
		}
		if err := v.SetValue(tensorOf(values, v.DType(), v.Shape().Dimensions)); err != nil {
			t.Fatal(err)
		}
	}
}

func tensorOf(values []float64, precision dtypes.DType, dims []int) *tensors.Tensor {
	if precision == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, dims...)
	}
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(single, dims...)
}

// graph lists the outputs of the model under names.
func (x *machine) graph(scope *model.Scope, nodes []*Node) []*Node {
	in := universal.Inputs{}
	if hasSource(x.model) {
		in.Source = nodes[0]
	}
	if hasTarget(x.model) {
		in.Target = nodes[1]
	}
	result := x.model.Forward(scope, in, universal.Options{})
	x.names = []string{"logits"}
	values := []*Node{result.Logits}
	add := func(name string, node *Node) { x.names, values = append(x.names, name), append(values, node) }
	for i, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
		if pass == nil {
			continue
		}
		name := []string{"encoder", "decoder"}[i]
		add(name+".state", pass.State)
		add(name+".updates", pass.Updates)
		if pass.Weighted() {
			add(name+".remainders", pass.Remainders)
			add(name+".ponder", pass.Ponder(pass.Mask))
		}
	}
	return values
}

// seen is what a model put out, flat, by name: "logits", "encoder.state", "encoder.updates", and, if it chose its depth,
// "encoder.remainders" and "encoder.ponder"; the same of the decoder.
type seen map[string][]float64

// run runs the model on rows of ids, which must be rectangles.
func (x *machine) run(source, target [][]int32) seen {
	x.t.Helper()
	out, err := x.exec.Call(source, target)
	if err != nil {
		x.t.Fatal(err)
	}
	got := seen{}
	for i, name := range x.names {
		got[name] = flat(out[i])
	}
	return got
}

func flat(t *tensors.Tensor) []float64 {
	if t.DType() == dtypes.Float64 {
		return tensors.MustCopyFlatData[float64](t)
	}
	var values []float64
	for _, v := range tensors.MustCopyFlatData[float32](t) {
		values = append(values, float64(v))
	}
	return values
}

// distance is the largest difference of two lists, infinite if one holds something that is no number.
func distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); d <= math.MaxFloat64 {
			worst = max(worst, d)
		} else {
			return math.Inf(1)
		}
	}
	return worst
}

// variety fails the test if adaptive positions do not differ in depth: such a case would show little.
func variety(t *testing.T, got seen) {
	t.Helper()
	for _, name := range []string{"encoder", "decoder"} {
		if _, adaptive := got[name+".remainders"]; !adaptive {
			continue
		}
		n := slices.Sorted(slices.Values(got[name+".updates"]))
		n = slices.DeleteFunc(slices.Compact(n), func(v float64) bool { return v == 0 })
		if len(n) < 2 {
			t.Errorf("all positions of the %s run for %v steps: the case shows nothing", name, n)
		}
	}
}
