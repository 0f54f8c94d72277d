package experiment

import (
	"strings"

	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// learningToExecute is tables 5 and 6 at the size of a laptop; the paper says neither the size nor the training of its models. Sources end
// in End and are counted from both ends, every number of a program for itself, which is an extension of the paper's coordinates: it tells
// which digits have the same place. The transition is a separable convolution. Counting from one and a feed-forward transition learn
// additions several times as slowly (LOG.md). There is no dropout, because no sample of the mix is seen often.
func learningToExecute(name string, depth halting.Policy, of task.Definition) Run {
	r := Base()
	r.Name = "execute-" + name
	r.Task, r.SourceEnd = Task{of}, true
	r.Model = Model{EncoderDecoder{Universal{
		Config:     universal.Config{Width: 64, Heads: 4, ScaleEmbedding: true, PreNorm: true},
		Transition: Transition{universal.SeparableConvolution{Filter: 256}},
		Halting:    Halting{depth},
		Counting:   Counting{universal.BothEnds{Segments: universal.Segments{Separators: numbersEnd}}},
		Positions:  Positions{universal.FromOne{}},
	}}}
	r.Training.Schedule = Schedule{schedule.Cosine{Peak: 3e-3, Floor: 1e-5, Warmup: 200}}
	r.Training.Steps = 6000
	r.Training.Ponder = authorsPonder
	r.Training.Batch = Batch{Tokens: 2048}
	r.Training.Validation = 4096
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 50, 500, 500
	return r
}

// numbersEnd is what a number of a program can end in: all characters but digits. Numbers to be repeated have none of them.
var numbersEnd = strings.Split("()+-*<>=[]xifelsor", "")

// The depths: numbers are repeated in four steps; programs take as many as the longest chain of two operations and their carries may need.
// Adaptive models may take six. Those of numbers begin near one step, which is enough; those of programs begin near six and pay little
// for a step, or they end with one, which does not learn programs (LOG.md).
var (
	executeSteps = halting.Fixed{Steps: 6}
	memoryDepth  = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
	programDepth = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: -2}}
)

func memory(operation string) Run {
	r := learningToExecute(operation, fourSteps, execute.Memory{Operation: operation, Length: 55})
	if operation != execute.Double { // whose answers are twice as long
		r.Training.Steps = 3000
	}
	return r
}

// program learns in many small batches, with Muon for the matrices: comparisons and products are learned late, and of large batches too few
// fit a laptop's time (LOG.md). Additions take a tenth of the updates of the others.
func program(operations string) Run {
	r := learningToExecute(operations, executeSteps, execute.Program{Operations: operations, Nesting: 2, Length: 5})
	r.Training.Steps, r.Training.Batch, r.Training.Muon = 200_000, Batch{Tokens: 512}, 0.95
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 500, 5000, 5000
	if operations == execute.Addition {
		r.Training.Steps, r.Training.EvaluateEvery = 20_000, 2500
	}
	return r
}

// Wide is a run of table 6 with twice the width and four steps, which learns loops in fewer updates (LOG.md). Training programs of control have
// the operations of program, half of them loops: loops after loops become better, conditionals worse than with sums, conditionals and loops
// alike (LOG.md).
func Wide(r Run) Run {
	r.Name += "-wide"
	u := r.universal()
	u.Width, u.Heads, u.Halting = 128, 8, Halting{fourSteps}
	r.Model.Value = r.with(*u)
	if p := r.Task.Value.(execute.Program); p.Operations == execute.Control {
		p.TrainingOperations = execute.ProgramAndLoops
		r.Task.Value = p
		r.Training.Steps = 270_000
	}
	return r
}

// FineTuned is a run of table 6 that starts from the weights of Wide's program, which has run more of its loops right than models of control
// (LOG.md), and takes six steps instead of four. Three quarters of the operations are loops, and most programs are of the greatest length
// and nesting: wrong are, after training on program, a third of the loops after loops, and hardly anything else.
func FineTuned(r Run) Run {
	r = Wide(r)
	r.Name = strings.TrimSuffix(r.Name, "-wide") + "-fine-tuned"
	r = r.WithPolicy(executeSteps)
	p := r.Task.Value.(execute.Program)
	p.TrainingOperations, p.TrainingLongest = execute.ControlAndLoops, 0.6
	r.Task.Value = p
	r.Training.Schedule = Schedule{schedule.Cosine{Peak: 2e-3, Floor: 1e-5, Warmup: 200}}
	r.Training.Steps = 230_000
	return r
}

// LittleEnd is control, as wide and deep as Wide has it, with answers from their last digit to their first, which is an easier task than the
// paper's: a digit needs no carry from digits that are not written yet. Loops after loops are learned last, so half of the operations in
// training are loops, the others sums and conditionals (LOG.md).
func LittleEnd(r Run) Run {
	name := r.Name
	r = Wide(r)
	r.Name = name + "-little-end"
	p := r.Task.Value.(execute.Program)
	p.LittleEndFirst, p.TrainingOperations = true, execute.AdditionAndLoops
	r.Task.Value = p
	r.Training.Steps = 330_000
	return r
}

// Large is program for a GPU, with answers from their last digit to their first, which is an easier task than the paper's. Products are what
// smaller models do not learn, so half of the operations in training are products, and many of them have few terms a digit.
func Large(r Run) Run {
	r.Name += "-large"
	u := r.universal()
	u.Width, u.Heads, u.Halting = 256, 8, Halting{executeSteps}
	u.Transition = Transition{universal.SeparableConvolution{Filter: 512}}
	r.Model.Value = r.with(*u)
	p := r.Task.Value.(execute.Program)
	p.LittleEndFirst, p.TrainingOperations, p.TrainingSparseFactors, p.TrainingLongest = true, execute.ProgramAndProducts, true, 0.3
	r.Task.Value = p
	r.Training.Batch = Batch{Tokens: 8192, Boundaries: []int{28, 52}}
	r.Training.Steps = 9000
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 2000, 2000
	return r
}

// AdaptiveMemory is a run of table 5 with adaptive halting.
func AdaptiveMemory(r Run) Run { return adaptive(r, memoryDepth) }

// AdaptiveProgram is a run of table 6 with adaptive halting.
func AdaptiveProgram(r Run) Run {
	r = adaptive(r, programDepth)
	r.Training.Ponder = objective.PonderSchedule{Weight: 0.001}
	return r
}

func adaptive(r Run, depth halting.Policy) Run {
	r.Name += "-adaptive"
	return r.WithPolicy(depth)
}

// ExecuteCopy is table 5's copy, to be tested at length 55. Paper: character accuracy 1.0, sequence accuracy 1.0.
func ExecuteCopy() Run { return memory(execute.Copy) }

// ExecuteDouble is table 5's double. Paper: 1.0 and 1.0.
func ExecuteDouble() Run { return memory(execute.Double) }

// ExecuteReverse is table 5's reverse. Paper: 1.0 and 1.0.
func ExecuteReverse() Run { return memory(execute.Reverse) }

// ExecuteProgram is table 6's program, to be tested at length 5, which has nesting 2. Paper: 0.89 and 0.63.
func ExecuteProgram() Run { return program(execute.AllOperations) }

// ExecuteControl is table 6's control. Paper: 1.0 and 1.0.
func ExecuteControl() Run { return program(execute.Control) }

// The same, wider, and control trained with all operations.
func ExecuteProgramWide() Run { return Wide(ExecuteProgram()) }
func ExecuteControlWide() Run { return Wide(ExecuteControl()) }

// ExecuteProgramLarge is program for a GPU, from its last digit.
func ExecuteProgramLarge() Run { return Large(ExecuteProgram()) }

// ExecuteControlLittleEnd is the same, wider, with answers from their last digit to their first.
func ExecuteControlLittleEnd() Run { return LittleEnd(ExecuteControl()) }

// ExecuteAddition is table 6's addition. Paper: 1.0 and 1.0.
func ExecuteAddition() Run { return program(execute.Addition) }

// The same with adaptive halting.
func ExecuteCopyAdaptive() Run     { return AdaptiveMemory(ExecuteCopy()) }
func ExecuteDoubleAdaptive() Run   { return AdaptiveMemory(ExecuteDouble()) }
func ExecuteReverseAdaptive() Run  { return AdaptiveMemory(ExecuteReverse()) }
func ExecuteProgramAdaptive() Run  { return AdaptiveProgram(ExecuteProgram()) }
func ExecuteControlAdaptive() Run  { return AdaptiveProgram(ExecuteControl()) }
func ExecuteAdditionAdaptive() Run { return AdaptiveProgram(ExecuteAddition()) }
