package universal_test

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// attended runs a model on one example and returns the weights of attention that it records, flat: of the encoder, of the decoder, and
// of the decoder to the encoder.
func attended(t *testing.T, m universal.Model, x *machine, source, target []int32, options universal.Options) (list [][]float64) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, source, target *Node) []*Node {
		r := m.Forward(scope, universal.Inputs{Source: source, Target: target}, options)
		weights := slices.Concat(r.Encoder.Attention, r.Decoder.Attention, r.Decoder.CrossAttention)
		if slices.Contains(weights, nil) {
			t.Errorf("%+v: weights without values", options)
		}
		return append(slices.DeleteFunc(weights, func(w *Node) bool { return w == nil }), r.Logits)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{source}, [][]int32{target})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range out[:len(out)-1] {
		list = append(list, flat(w))
	}
	return list
}

// A model is adaptive if either of its stacks is, and a depth with its own weights is known whatever an exit says.
// Caught when planted: a model that is adaptive only if both stacks are.
func TestAdaptiveStacks(t *testing.T) {
	fixed, adaptive := halting.Fixed{Steps: 2}, halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Bias: 1.5}}
	for _, c := range []struct {
		encoder, decoder halting.Policy
		want             bool
		bias             float64
		limit            int
	}{{fixed, nil, false, 0, 2}, {adaptive, nil, true, 1.5, 3}, {fixed, adaptive, true, 0, 3}, {adaptive, fixed, true, 1.5, 3}, {fixed, fixed, false, 0, 2}} {
		config := small()
		config.Halting, config.DecoderHalting = c.encoder, c.decoder
		bias, ok := config.HaltingBias()
		if m := (universal.EncoderDecoder{Config: config}); m.Adaptive() != c.want || universal.Adaptive(m) != c.want || m.SelectsPositions() != c.want || bias != c.bias || ok != (bias > 0) || m.StepLimit() != c.limit {
			t.Errorf("%T and %T: adaptive %v, selects %v, bias %v, limit %v", c.encoder, c.decoder, m.Adaptive(), m.SelectsPositions(), bias, m.StepLimit())
		}
	}
	if universal.Adaptive(shallow{universal.Encoder{Config: universal.Config{Halting: adaptive}}}) {
		t.Error("a model without depth is adaptive")
	}
}

// shallow is a model without the methods of a deep one.
type shallow struct{ universal.Model }

// Exits of single stacks at their bounds: one step is a number of steps, and belongs to a stack that is there.
// Caught when planted: a bound of two steps.
func TestExitsOfMissingStacks(t *testing.T) {
	c := small()
	for want, exit := range map[string]func() (universal.Deep, error){
		"exit encoder_steps is 1, but a language model has no encoder: leave it out": func() (universal.Deep, error) {
			return universal.Decoder{Config: c}.WithExit(halting.Exit{EncoderSteps: 1})
		},
		"exit decoder_steps is 1, but the model has no decoder: leave it out": func() (universal.Deep, error) {
			return universal.Encoder{Config: c}.WithExit(halting.Exit{DecoderSteps: 1})
		},
		"exit decoder_steps is 2, but the model has no decoder: leave it out": func() (universal.Deep, error) {
			return universal.Pointer{Config: c}.WithExit(halting.Exit{DecoderSteps: 2})
		},
	} {
		if _, err := exit(); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c.LearnedSteps = true // of 3 steps
	for _, e := range []halting.Exit{{Fixed: 3}, {EncoderSteps: 3}, {DecoderSteps: 3}, {EncoderSteps: 1, DecoderSteps: 1}} {
		got, err := universal.EncoderDecoder{Config: c}.WithExit(e)
		if err != nil || got.(universal.EncoderDecoder).OwnSteps != 3 {
			t.Errorf("%v: %v, %v", e, got, err)
		}
	}
	for want, e := range map[string]halting.Exit{
		"exit fixed is 4, but the model has weights for 3 steps: give at most 3":         {Fixed: 4},
		"exit encoder_steps is 4, but the model has weights for 3 steps: give at most 3": {EncoderSteps: 4},
		"exit decoder_steps is 5, but the model has weights for 3 steps: give at most 3": {DecoderSteps: 5},
	} {
		if _, err := (universal.EncoderDecoder{Config: c}).WithExit(e); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
