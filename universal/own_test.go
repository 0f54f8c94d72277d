package universal_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/seed"
	"universal-transformer/universal"
)

// own is a policy as another module could define it.
type own struct {
	halting.Policy
	unroll func(scope *model.Scope, r halting.Recurrence) halting.Outcome
}

func (o own) Unroll(scope *model.Scope, r halting.Recurrence) halting.Outcome {
	return o.unroll(scope, r)
}

// Other parts as another module could define them, for a model that is built in Go: a run refuses arrangements and coordinates of other modules.
type (
	ownTransition struct {
		universal.FeedForward
		apply func(x *Node) *Node
	}
	ownArrangement struct {
		universal.Submitted
		revise func(s *universal.Step) *Node
	}
	ownCoordinates struct {
		universal.Sinusoidal
		at func(n, channel int) float64
	}
	ownRule struct {
		halting.Confidence
		ends func(logP []*Node) *Node
	}
)

func (o ownTransition) Apply(_ *model.Scope, x *Node, _ universal.TransitionContext) *Node {
	return o.apply(x)
}
func (o ownArrangement) Revise(s *universal.Step) *Node { return o.revise(s) }
func (o ownCoordinates) At(n, channel, _ int) float64   { return o.at(n, channel) }
func (o ownRule) Ends(logP []*Node) *Node               { return o.ends(logP) }

// gated is one step whose change a unit weighs.
func gated(scope *model.Scope, r halting.Recurrence) halting.Outcome {
	x := r.AddCoordinates(1, r.State)
	gate := Sigmoid(r.Weights.Affine(scope.At("halting"), "weight", x, 1))
	return halting.Outcome{State: Mul(gate, r.Revise(1, x)), Updates: ConvertDType(r.Mask, x.DType())}
}

// Parameters of a policy of another module begin as those of this one's policies do: from the seed and the name, below "halting".
// Caught when planted: the seed left out of Recurrence.Weights.
func TestParametersOfPolicies(t *testing.T) {
	for _, of := range []uint64{5, 6} {
		c := small()
		c.Seed, c.Halting = of, own{halting.Fixed{Steps: 1}, gated}
		store := newMachineAsInitialised(t, universal.EncoderDecoder{Config: c}).store
		for _, name := range []string{"encoder.halting.weight", "decoder.halting.weight"} {
			rng, want := seed.Rand(of, "parameter "+name, 0), make([]float64, 6)
			for i := range want {
				want[i] = uniform(6, 1)(rng, i)
			}
			v := store.GetVariable(universal.Path(name))
			if v == nil {
				t.Fatalf("there is no %s", name)
			}
			if got := flat(v.MustValue()); distance(got, want) > 0 {
				t.Errorf("seed %d: %s starts at %v, want %v", of, name, got, want)
			}
		}
	}
}

// faultOf returns the error of building a model, without what GoMLX puts before it. Its sequences have two positions, its states six channels.
func faultOf(t *testing.T, m universal.Model) error {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, ids *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: ids, Target: ids}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	_, err = exec.Call([][]int32{{1, 2}})
	return engine.Plain(err)
}

// checkFault checks the message of a model of which a part is changed. want is empty if the part is not at fault.
func checkFault(t *testing.T, want string, change func(c *universal.Config)) {
	t.Helper()
	c := small()
	change(&c)
	if err := faultOf(t, universal.EncoderDecoder{Config: c}); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// mean has one channel, which would be broadcast.
func mean(x *Node) *Node { return ReduceAndKeep(x, ReduceMean, -1) }

// Faults of parts of other modules are errors that name the part and what is wanted. Without a check a channel too few is broadcast, and the
// rest are errors of the operation that uses the result.
// Caught when planted: any of the checks left out.
func TestFaultsOfPartsNameThem(t *testing.T) {
	for want, apply := range map[string]func(x *Node) *Node{
		"": func(x *Node) *Node { return MulScalar(x, 2) },
		"transition universal_test.ownTransition returned (Float64)[1, 2, 1], want (Float64)[1, 2, 6]": mean,
		"transition universal_test.ownTransition returned (Float64)[1, 2, 7], want (Float64)[1, 2, 6]": func(x *Node) *Node { return Concatenate([]*Node{x, mean(x)}, -1) },
		"transition universal_test.ownTransition returned (Float32)[1, 2, 6], want (Float64)[1, 2, 6]": func(x *Node) *Node { return ConvertDType(x, dtypes.Float32) },
		"transition universal_test.ownTransition returned nil, want (Float64)[1, 2, 6]":                func(*Node) *Node { return nil },
		"transition universal_test.ownTransition: no shape for it":                                     func(*Node) *Node { panic(fmt.Errorf("no shape for it")) },
	} {
		checkFault(t, want, func(c *universal.Config) { c.Transition = ownTransition{apply: apply} })
	}
	for want, revise := range map[string]func(s *universal.Step) *Node{
		"": universal.Submitted{}.Revise,
		"arrangement universal_test.ownArrangement returned (Float64)[1, 2, 1], want (Float64)[1, 2, 6]":                                  func(s *universal.Step) *Node { return mean(s.Input) },
		"arrangement universal_test.ownArrangement returned nil, want (Float64)[1, 2, 6]":                                                 func(*universal.Step) *Node { return nil },
		"arrangement universal_test.ownArrangement passes to SelfAttention a tensor of shape (Float64)[1, 2, 1], want (Float64)[1, 2, 6]": func(s *universal.Step) *Node { return s.SelfAttention(mean(s.Input)) },
		"arrangement universal_test.ownArrangement passes to Transition a tensor of shape (Float64)[1, 2, 1], want (Float64)[1, 2, 6]":    func(s *universal.Step) *Node { return s.Transition(mean(s.Input)) },
		"arrangement universal_test.ownArrangement passes to Norm a tensor of shape nil, want (Float64)[1, 2, 6]":                         func(s *universal.Step) *Node { return s.Norm("own", nil) },
		"arrangement universal_test.ownArrangement passes to CrossAttention a tensor of shape (Float64)[1, 2, 1], want (Float64)[1, 2, 6]": func(s *universal.Step) *Node {
			if s.HasMemory() {
				return s.CrossAttention(mean(s.Input))
			}
			return universal.Submitted{}.Revise(s)
		},
	} {
		checkFault(t, want, func(c *universal.Config) { c.Arrangement = ownArrangement{revise: revise} })
	}
	for want, at := range map[string]func(n, channel int) float64{
		"": func(n, channel int) float64 { return float64(n) / float64(channel+1) },
		"coordinates universal_test.ownCoordinates returned +Inf as At(2, 3, 6), want a finite number": func(n, channel int) float64 {
			if n == 2 && channel == 3 {
				return math.Inf(1)
			}
			return 0
		},
		"coordinates universal_test.ownCoordinates returned NaN as At(0, 0, 6), want a finite number": func(int, int) float64 { return math.NaN() },
	} {
		checkFault(t, want, func(c *universal.Config) { c.Coordinates = ownCoordinates{at: at} })
	}
	for want, ends := range map[string]func(logP []*Node) *Node{
		"": halting.Confidence{Least: 0.5}.Ends,
		"exit rule universal_test.ownRule returned (Float64)[1, 2, 5], want (Bool)[1, 2]": func(logP []*Node) *Node { return logP[0] },
		"exit rule universal_test.ownRule returned (Bool)[1], want (Bool)[1, 2]": func(logP []*Node) *Node {
			return ReduceLogicalOr(halting.Confidence{Least: 0.5}.Ends(logP), -1)
		},
		"exit rule universal_test.ownRule: no probabilities": func([]*Node) *Node { panic(fmt.Errorf("no probabilities")) },
	} {
		checkFault(t, want, func(c *universal.Config) { c.Rule = ownRule{ends: ends} })
	}
}
