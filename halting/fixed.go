package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Fixed applies the step the same number of times everywhere: T of section 2.1.
type Fixed struct {
	Steps int `json:"steps"` // T, at least 1
}

// Unroll applies the step f.Steps times.
func (f Fixed) Unroll(_ *model.Scope, r Recurrence) Outcome {
	state := r.State
	for t := 1; t <= f.Steps; t++ {
		state = r.Revise(t, r.AddCoordinates(t, state))
	}
	return Outcome{State: state, Updates: updatesOf(r.Mask, Scalar(state.Graph(), state.DType(), float64(f.Steps)))}
}

// Adaptive is false.
func (f Fixed) Adaptive() bool { return false }

// SkipsHalted is false: all positions halt together.
func (f Fixed) SkipsHalted() bool { return false }

// Limit is f.Steps.
func (f Fixed) Limit(int) int { return f.Steps }

// Validate rejects fewer than one step.
func (f Fixed) Validate() error {
	if f.Steps < 1 {
		return fmt.Errorf("steps is %d: at least 1 step is needed", f.Steps)
	}
	if f.Steps > MostSteps {
		return fmt.Errorf("steps is %d: it must be at most %d", f.Steps, MostSteps)
	}
	return nil
}

// Length is fixed depth with T equal to the length of the example's source, which makes the model's depth scale with
// the input: the setting of section 4 that reduces to a Neural GPU. Shorter examples of a batch stop early, their state
// is copied.
type Length struct {
	Max int `json:"max"` // no more steps than this, however long the source; 0: no bound
}

// Unroll applies the step as often as the longest source of the batch has positions, to each example as often as its own.
func (l Length) Unroll(_ *model.Scope, r Recurrence) Outcome {
	state := r.State
	limit := l.Limit(r.Source.Shape().Dimensions[1])
	depth := ReduceSum(ConvertDType(r.Source, dtypes.Int32), -1) // [B]
	depth = InsertAxes(MinScalar(depth, limit), -1)              // [B, 1]
	for t := 1; t <= limit; t++ {
		revised := r.Revise(t, r.AddCoordinates(t, state))
		running := GreaterOrEqual(depth, Scalar(state.Graph(), dtypes.Int32, t)) // [B, 1]
		running = BroadcastToShape(running, boolean(r.Mask))
		state = selectState(running, revised, state)
	}
	return Outcome{State: state, Updates: updatesOf(r.Mask, ConvertDType(depth, state.DType()))}
}

// Adaptive is false.
func (l Length) Adaptive() bool { return false }

// SkipsHalted is false: positions of shorter examples are transformed, and what comes of it is not used.
func (l Length) SkipsHalted() bool { return false }

// Limit is the number of source positions, or l.Max if that is smaller.
func (l Length) Limit(sourcePositions int) int {
	if l.Max > 0 {
		return min(l.Max, sourcePositions)
	}
	return sourcePositions
}

// Validate rejects a negative bound.
func (l Length) Validate() error {
	if l.Max < 0 {
		return fmt.Errorf("max is %d: use 0 for no bound, or a positive number of steps", l.Max)
	}
	if l.Max > MostSteps {
		return fmt.Errorf("max is %d: it must be at most %d", l.Max, MostSteps)
	}
	return nil
}
