package experiment

import (
	"strings"

	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/training"
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
	r.Training.Schedule = Schedule{training.Cosine{Peak: 3e-3, Floor: 1e-5, Warmup: 200}}
	r.Training.Steps = 6000
	r.Training.Ponder = authorsPonder
	r.Training.Batch = Batch{Tokens: 2048}
	r.Training.Validation = 4096
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 50, 500, 500
	return r
}

// numbersEnd is what a number of a program can end in: all characters but digits. Numbers to be repeated have none of them.
var numbersEnd = strings.Split("()+-*<>=[]xifelsor", "")

// The depths: numbers are repeated in four steps; programs take as many as the longest chain of two operations and their carries may need;
// adaptive ones may take as many.
var (
	executeSteps = halting.Fixed{Steps: 6}
	executeDepth = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
)

func memory(operation string, depth halting.Policy, suffix string) Run {
	r := learningToExecute(operation+suffix, depth, execute.Memory{Operation: operation, Length: 55})
	if operation != execute.Double { // whose answers are twice as long
		r.Training.Steps = 3000
	}
	return r
}

// program learns additions in large batches, and what has comparisons and products, which are learned late, in many small ones, with Muon for
// the matrices: measured with control (LOG.md).
func program(operations string, depth halting.Policy, suffix string) Run {
	r := learningToExecute(operations+suffix, depth, execute.Program{Operations: operations, Nesting: 2, Length: 5})
	if operations != execute.Addition {
		r.Training.Schedule = Schedule{training.Cosine{Peak: 3e-3, Floor: 1e-5, Warmup: 200}}
		r.Training.Steps, r.Training.Batch, r.Training.Muon = 200_000, Batch{Tokens: 512}, 0.95
		r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 500, 5000, 5000
	}
	return r
}

const adaptive = "-adaptive"

// ExecuteCopy is table 5's copy, to be tested at length 55. Paper: character accuracy 1.0, sequence accuracy 1.0.
func ExecuteCopy() Run { return memory(execute.Copy, fourSteps, "") }

// ExecuteDouble is table 5's double. Paper: 1.0 and 1.0.
func ExecuteDouble() Run { return memory(execute.Double, fourSteps, "") }

// ExecuteReverse is table 5's reverse. Paper: 1.0 and 1.0.
func ExecuteReverse() Run { return memory(execute.Reverse, fourSteps, "") }

// ExecuteProgram is table 6's program, to be tested at length 5, which has nesting 2. Paper: 0.89 and 0.63.
func ExecuteProgram() Run { return program(execute.AllOperations, executeSteps, "") }

// ExecuteControl is table 6's control. Paper: 1.0 and 1.0.
func ExecuteControl() Run { return program(execute.Control, executeSteps, "") }

// ExecuteAddition is table 6's addition. Paper: 1.0 and 1.0.
func ExecuteAddition() Run { return program(execute.Addition, executeSteps, "") }

// The same with adaptive halting.
func ExecuteCopyAdaptive() Run     { return memory(execute.Copy, executeDepth, adaptive) }
func ExecuteDoubleAdaptive() Run   { return memory(execute.Double, executeDepth, adaptive) }
func ExecuteReverseAdaptive() Run  { return memory(execute.Reverse, executeDepth, adaptive) }
func ExecuteProgramAdaptive() Run  { return program(execute.AllOperations, executeDepth, adaptive) }
func ExecuteControlAdaptive() Run  { return program(execute.Control, executeDepth, adaptive) }
func ExecuteAdditionAdaptive() Run { return program(execute.Addition, executeDepth, adaptive) }
