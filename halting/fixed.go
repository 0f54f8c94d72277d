package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Fixed applies the step the same number of times at all positions: T of section 2.1.
type Fixed struct {
	Steps int `json:"steps"` // T, number of steps of every position, at least 1
}

// Unroll applies the step f.Steps times.
func (f Fixed) Unroll(_ *model.Scope, r Recurrence) Outcome {
	state, e := r.State, ended{r: r}
	for t := 1; t <= f.Steps; t++ {
		state = e.keep(r.Revise(t, r.AddCoordinates(t, state)), state)
		e.after(t, state, state)
	}
	return Outcome{State: state, Updates: e.updates(Scalar(state.Graph(), state.DType(), float64(f.Steps)))}
}

// Weighted returns false.
func (f Fixed) Weighted() bool { return false }

// SkipsHalted returns false: all positions halt together.
func (f Fixed) SkipsHalted() bool { return false }

// Limit returns f.Steps.
func (f Fixed) Limit(int) int { return f.Steps }

// Validate returns an error if there is less than one step, or more than MaxSteps.
func (f Fixed) Validate() error {
	if f.Steps < 1 {
		return fmt.Errorf("steps is %d: at least 1 step is needed", f.Steps)
	}
	if f.Steps > MaxSteps {
		return fmt.Errorf("steps is %d: it must be at most %d", f.Steps, MaxSteps)
	}
	return nil
}

// Describe returns the number of steps.
func (f Fixed) Describe() string { return fmt.Sprintf("%d steps", f.Steps) }

// Length is fixed depth with T equal to the length of the example's source, so that the model's depth scales with the input. In
// section 4 of the paper this setting reduces the model to a Neural GPU. Shorter examples of a batch stop earlier; their state is
// copied.
type Length struct {
	Max int `json:"max"` // maximum number of steps, whatever the length of the source; 0: unlimited
}

// Unroll applies the step to each example as often as its source has positions.
func (l Length) Unroll(_ *model.Scope, r Recurrence) Outcome {
	limit := l.Limit(r.Source.Shape().Dimensions[1])
	depth := ReduceSum(ConvertDType(r.Source, dtypes.Int32), -1) // [B]
	return unrollToDepth(r, InsertAxes(MinScalar(depth, limit), -1), limit)
}

// unrollToDepth applies the step up to limit times, and to each example of the batch as often as depth [B, 1] says. Afterwards the
// example's state is copied.
func unrollToDepth(r Recurrence, depth *Node, limit int) Outcome {
	state, e := r.State, ended{r: r}
	for t := 1; t <= limit; t++ {
		revised := e.keep(r.Revise(t, r.AddCoordinates(t, state)), state)
		running := GreaterOrEqual(depth, Scalar(state.Graph(), dtypes.Int32, t)) // [B, 1]
		running = BroadcastToShape(running, boolShape(r.Mask))
		state = selectState(running, revised, state)
		e.after(t, state, state)
	}
	return Outcome{State: state, Updates: e.updates(ConvertDType(depth, state.DType()))}
}

// Weighted returns false.
func (l Length) Weighted() bool { return false }

// SkipsHalted returns false: positions of shorter examples are transformed, and the result is ignored.
func (l Length) SkipsHalted() bool { return false }

// Limit returns the number of source positions, or l.Max if that is smaller.
func (l Length) Limit(sourcePositions int) int {
	if l.Max > 0 {
		return min(l.Max, sourcePositions)
	}
	return sourcePositions
}

// Validate returns an error if the bound is negative, or more than MaxSteps.
func (l Length) Validate() error {
	if l.Max < 0 {
		return fmt.Errorf("max is %d: use 0 for no bound, or a positive number of steps", l.Max)
	}
	if l.Max > MaxSteps {
		return fmt.Errorf("max is %d: it must be at most %d", l.Max, MaxSteps)
	}
	return nil
}

// Describe names the rule.
func (l Length) Describe() string { return "as many steps as source tokens" }

// Random is fixed depth that varies in training: in every update, each example runs its own number of steps, drawn uniformly from
// MinSteps to MaxSteps; afterwards its state is copied. Encoder and decoder draw independently. Outside of training all run MaxSteps,
// or the number of steps of an [Exit]. The model then cannot rely on a certain number of steps (Schwarzschild et al., 2021, use a
// similar method).
type Random struct {
	MinSteps int `json:"min_steps"` // smallest number of steps of an example in training, at least 1
	MaxSteps int `json:"max_steps"` // largest number of steps of an example in training; the number of steps otherwise
}

// Unroll applies the step f.MaxSteps times or, in training, a random number of times.
func (f Random) Unroll(scope *model.Scope, r Recurrence) Outcome {
	g := r.State.Graph()
	if !scope.IsTraining(g) || f.MinSteps == f.MaxSteps {
		return Fixed{Steps: f.MaxSteps}.Unroll(scope, r)
	}
	rows := r.Mask.Shape().Dimensions[0]
	drawn := MulScalar(scope.RandomUniform(g, shapes.Make(dtypes.Float64, rows, 1)), float64(f.MaxSteps-f.MinSteps+1)) // below 1 times the number
	depth := MinScalar(AddScalar(ConvertDType(Floor(drawn), dtypes.Int32), f.MinSteps), f.MaxSteps)
	return unrollToDepth(r, depth, f.MaxSteps)
}

// Weighted returns false.
func (f Random) Weighted() bool { return false }

// SkipsHalted returns false: all positions of an example halt together.
func (f Random) SkipsHalted() bool { return false }

// Limit returns f.MaxSteps.
func (f Random) Limit(int) int { return f.MaxSteps }

// Validate returns an error if there is less than one step or the bounds are in the wrong order.
func (f Random) Validate() error {
	switch {
	case f.MinSteps < 1:
		return fmt.Errorf("min_steps is %d: at least 1 step is needed", f.MinSteps)
	case f.MaxSteps < f.MinSteps:
		return fmt.Errorf("max_steps is %d: it must be at least min_steps, %d", f.MaxSteps, f.MinSteps)
	case f.MaxSteps > MaxSteps:
		return fmt.Errorf("max_steps is %d: it must be at most %d", f.MaxSteps, MaxSteps)
	}
	return nil
}

// Describe returns the number of steps, and the minimum in training.
func (f Random) Describe() string {
	return fmt.Sprintf("%d steps, in training drawn from %d", f.MaxSteps, f.MinSteps)
}
