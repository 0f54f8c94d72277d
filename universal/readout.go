package universal

import (
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
)

// after is halting.Recurrence.After: it records what Options request, and returns the positions that the rule ends.
func (s *stack) after(_ int, state, output *Node) *Node {
	if s.options.ReturnReadouts {
		s.pass.Changes = append(s.pass.Changes, Sqrt(ReduceSum(Square(Sub(state, s.previous)), -1)))
		s.previous = state
	}
	if s.readout == nil {
		return nil
	}
	logits := s.readout(s.outputNorm(output))
	s.readouts = append(s.readouts, logits)
	if s.Rule == nil {
		return nil
	}
	s.logP = append(s.logP, LogSoftmax(logits, -1))
	ends := halting.Ends(s.Rule, s.logP)
	if ends == nil {
		return nil
	}
	return BroadcastToShape(ends, s.mask.Shape()) // a classifier has one readout for all positions
}

// outputNorm applies the norm after the last step, if there is one.
func (s *stack) outputNorm(output *Node) *Node {
	if !s.NormsFirst() {
		return output
	}
	if s.UntiedLayers { // the norm belongs to the last layer, even if an exit stops earlier
		s.layer = s.scope.At("layer_%d", s.ownSteps())
	}
	return s.norm("output_norm", output)
}
