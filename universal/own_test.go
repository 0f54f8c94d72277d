package universal_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
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
