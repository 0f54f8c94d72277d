package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// Transformer is what the paper compares an [Encoder] with (Vaswani et al., 2017): the same block, but every layer has weights of
// its own, below encoder.layer_1, encoder.layer_2, ..., and positions are added once, below the first. Config.Halting must be
// halting.Fixed: its steps are the layers.
type Transformer struct {
	Config
	Pool Pool // how one vector is made of the last layer; nil is Mean
}

// Forward gives one row of logits a source, [B, 1, V]. in.Target is not read.
func (m Transformer) Forward(scope *model.Scope, in Inputs, watch Options) Result {
	layers := m.Halting.(halting.Fixed).Steps
	tokens, pass := m.occupied(in.Source), &Pass{}
	state := m.embedSource(scope, in.Source)
	for layer := 1; layer <= layers; layer++ {
		s := m.newStack(scope.At("encoder").At("layer_%d", layer), tokens, in.SourcePositions, nil, watch)
		if layer == 1 {
			state = Add(state, s.coordinates.position)
		}
		state = s.revise(layer, state)
		if m.PreNorm && layer == layers {
			state = s.norm("output_norm", state)
		}
		pass.Mask, pass.Attention = s.mask, append(pass.Attention, s.pass.Attention...)
	}
	real := ConvertDType(pass.Mask, state.DType())
	pass.Outcome = halting.Outcome{State: state, Updates: MulScalar(real, float64(layers))}
	return Result{Logits: m.readout(scope, m.Pool.of(state, pass.Mask)), Encoder: pass} // [B, 1, V]
}

// Validate checks the fields that this model reads.
func (m Transformer) Validate() error {
	if err := (Encoder{Config: m.Config}).Validate(); err != nil {
		return err
	}
	if _, fixed := m.Halting.(halting.Fixed); !fixed {
		return fmt.Errorf("model.halting must be fixed where every layer has weights of its own: its steps are the layers")
	}
	if m.LearnedSteps {
		return fmt.Errorf("model.learned_steps makes no sense where every layer has weights of its own")
	}
	return nil
}
