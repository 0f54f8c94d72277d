package universal

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/internal/part"
)

// A stack is one recurrent block, encoder or decoder, applied to one batch.
type stack struct {
	Config
	scope       *model.Scope
	layer       *model.Scope // scope of the current step's weights: scope itself or, if layers are untied, a scope below it
	state       *Node        // H^0, [B, M, D]
	mask        *Node        // [B, M] bool, true at real positions
	source      *Node        // [B, source positions] bool: mask of the source, which depth may depend on
	coordinates coordinates
	masks       *masks // dropout masks
	causal      bool   // a position attends only to itself and earlier ones
	options     Options
	pass        *Pass

	uncoordinated *Node // the state before this step's coordinates were added; for an Arrangement
	before        *Node // what the transition read in the step before, for an Arrangement

	memory         *Memory             // the encoded source; nil in encoders and language models
	memoryContexts []*attentionContext // keys and values of memory: one for all steps or, if layers are untied, one per layer
	cache          *stepCache          // of earlier positions, if a causal stack computes only the newest ones; otherwise nil

	readout  func(output *Node) *Node // logits [B, N, V] or [B, 1, V] of an output of the stack; nil if it is not read out
	previous *Node                    // the state before the current step, for after
	readouts []*Node                  // of all steps so far
	factors  []*Factors               // of readouts, if they have factors
	logP     []*Node                  // the same as log-probabilities, if there is a rule

	capacities halting.Capacities
	selection  *halting.Selection // the positions that are computed; nil means all
	halted     *haltedCache       // nil until positions are selected
}

func (c Config) newStack(scope *model.Scope, tokens *Node, at coordinates, capacities halting.Capacities, options Options) *stack {
	if err := capacities.Validate(tokens.Shape().Dimensions[0], tokens.Shape().Dimensions[1]); err != nil {
		panic(err)
	}
	return &stack{
		Config: c, scope: scope, layer: scope, mask: Mask(tokens), options: options, pass: &Pass{}, capacities: capacities,
		coordinates: at, masks: c.newMasks(scope, tokens),
	}
}

// newTargetStack returns the causal stack over in.Target.
func (c Config) newTargetStack(scope *model.Scope, in Inputs, options Options) *stack {
	inner := scope.At("decoder")
	at := c.targetCoordinates(inner, ranks(in.Target), in.Target.Shape().Dimensions[1], in.Positions)
	s := c.newStack(inner, in.Target, at, in.TargetCapacities, options)
	s.causal = true
	return s
}

// run repeats the step as the halting policy decides.
func (s *stack) run() *Pass {
	r := halting.Recurrence{
		State: s.state, Mask: s.mask, Source: s.source, Capacities: s.capacities, Weights: s.weights(),
		AddCoordinates: func(t int, state *Node) *Node {
			s.uncoordinated = state
			return s.coordinates.add(t, state)
		},
		Revise: func(t int, x *Node) *Node {
			s.begin(t)
			return s.revise(t, x)
		},
	}
	switch {
	case s.readout != nil && s.Rule != nil, s.options.ReturnReadouts:
		s.previous, r.After = s.state, s.after
	case s.SelectsPositions():
		r.Select, r.Update, r.Reach = s.selectPositions, s.updateHalted, s.reach()
	}
	outcome := halting.Unroll(s.Halting, s.scope, r)
	outcome.State = s.outputNorm(outcome.State)
	s.pass.Outcome, s.pass.Mask = outcome, s.mask
	return s.pass
}

// begin starts step t.
func (s *stack) begin(t int) {
	if s.UntiedLayers {
		s.layer = s.scope.At("layer_%d", t)
	}
	if s.cache != nil {
		s.cache.begin(t)
	}
}

// revise is the part of a step after adding coordinates. Its weights are the same in all steps unless layers are untied. x: [B, M, D]
func (s *stack) revise(t int, x *Node) *Node {
	switch {
	case s.Arrangement != nil:
		return s.revised(t, x)
	case s.PreNorm:
		return s.revisePreNorm(t, x)
	}
	a := s.norm("self_attention_norm", Add(x, s.drop(s.selfAttention(t, x)))) // (eq. 5)
	if s.memory != nil {
		a = s.norm("cross_attention_norm", Add(a, s.drop(s.crossAttention(t, a))))
	}
	return s.norm("transition_norm", Add(a, s.drop(s.transition(a)))) // (eq. 4)
}

// revisePreNorm is the same step with the norms where the authors' code has them. The state is not normalised between steps, so
// coordinates add up in it.
func (s *stack) revisePreNorm(t int, x *Node) *Node {
	a := Add(x, s.drop(s.selfAttention(t, s.norm("self_attention_norm", x))))
	if s.memory != nil {
		a = Add(a, s.drop(s.crossAttention(t, s.norm("cross_attention_norm", a))))
	}
	return Add(a, s.drop(s.transition(s.norm("transition_norm", a))))
}

func (s *stack) transition(x *Node) *Node {
	c := TransitionContext{Mask: s.mask, Causal: s.causal, Weights: s.weights()}
	c.Drop = func(x *Node) *Node { return s.masks.drop(x, s.Dropout.Transition) }
	alone := false // positions would be computed without those that they depend on
	switch {
	case s.cache != nil:
		c.Previous = s.cache.previous
	case !s.selection.IsAll():
		alone = len(s.Transition.CacheWindows(s.Width)) > 0
		selection := s.selection // of this step, for the gradient
		c.Neighbours = func(x *Node, before, after int) []*Node {
			alone = false
			return selection.Neighbours(x, before, after)
		}
	}
	p := part.Of("transition", s.Transition)
	y := part.Call(p, func() *Node { return s.Transition.Apply(s.layer.At("transition"), x, c) })
	p.Check("returned", y, x.Shape())
	if alone {
		panic(p.Errorf("has windows, but its Apply does not call Neighbours: it cannot compute selected positions"))
	}
	return y
}

// drop applies dropout to the change that a sub-layer adds to the state.
func (s *stack) drop(x *Node) *Node { return s.masks.drop(x, s.Dropout.Residual) }

// normEpsilon is added to the variance in the layer norm.
const normEpsilon = 1e-6

// norm is layer normalisation over channels (Ba et al., 2016): (x - mean) / sqrt(variance + epsilon) * gain + bias, with the biased
// variance.
func (s *stack) norm(name string, x *Node) *Node {
	scope, width := s.layer.At("%s", name), x.Shape().Dimensions[x.Rank()-1]
	gain := s.weights().Parameter(scope, "gain", ones, width)
	bias := s.weights().Parameter(scope, "bias", zeros, width)
	centred := Sub(x, ReduceAndKeep(x, ReduceMean, -1))
	variance := ReduceAndKeep(Square(centred), ReduceMean, -1)
	normal := Div(centred, Sqrt(AddScalar(variance, normEpsilon)))
	return Add(Mul(normal, expandTo(gain.NodeValue(x), x)), expandTo(bias.NodeValue(x), x))
}

// expandTo returns a vector of channels with the rank of x.
func expandTo(channels, x *Node) *Node { return ExpandLeftToRank(channels, x.Rank()) }
