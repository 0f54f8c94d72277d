package recipes

import (
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/universal"
)

// table5 returns the recipes of learning to execute on numbers of up to 55 digits (section 3.5). All models have about the same number of
// parameters. The baselines' updates are faster, so each baseline also has a row with more updates, which trains for about as long as the
// Universal Transformer.
//
// Paper, Universal Transformer: 1.0 (1.0) in all tasks.
func table5() []Recipe {
	return cells("table 5", append(baselines("memory", 80, 32),
		model{family: "memory", summary: "Universal Transformer", configure: unchanged},
		model{family: "memory-adaptive", summary: "UT with dynamic halting", configure: func(r experiment.Run) experiment.Run { return withHalting(r, adaptive(6, 1)) }},
	), []column{
		{name: "copy", run: func() experiment.Run { return memory(execute.Copy, 3000) }},
		{name: "double", run: func() experiment.Run { return memory(execute.Double, 6000) }}, // its answers are twice as long
		{name: "reverse", run: func() experiment.Run { return memory(execute.Reverse, 3000) }},
	})
}

// table6 returns the recipes of learning to execute on programs of nesting 2 with numbers of up to 5 digits (section 3.5). The baselines
// have about the same number of parameters as the Universal Transformer of width 64.
//
// Paper, Universal Transformer: program 0.89 (0.63), control 1.0 (1.0), addition 1.0 (1.0).
func table6() []Recipe {
	return cells("table 6", append(baselines("programs", 80, 26),
		model{family: "programs", summary: "Universal Transformer", configure: unchanged},
		model{family: "programs-adaptive", summary: "UT with dynamic halting", configure: adaptivePrograms},
		model{family: "programs-wide", summary: "UT, width 128, 4 steps", only: []string{"program", "control"}, configure: widePrograms},
		model{family: "programs-wide-transformer", summary: "Transformer, width 128, 4 layers", only: []string{"program", "control"}, configure: func(r experiment.Run) experiment.Run {
			return withTransformer(widePrograms(r), 128)
		}},
		model{family: "programs-fine-tuned", summary: "UT, width 128, 6 steps, fine-tuned", only: []string{"control"}, from: "programs-wide/program", configure: fineTunedPrograms},
		model{family: "programs-little-end", summary: "UT, width 128, 4 steps, answers from their last digit", only: []string{"control"}, configure: littleEndPrograms},
		model{family: "programs-large", summary: "UT, width 256, 6 steps, answers from their last digit, for a GPU", only: []string{"program"}, configure: largePrograms},
	), []column{
		{name: "program", run: func() experiment.Run { return program(execute.AllOperations) }},
		{name: "control", run: func() experiment.Run { return program(execute.Control) }},
		{name: "addition", run: func() experiment.Run { return program(execute.Addition) }},
	})
}

// baselines returns the rows of tables 5 and 6 that are not Universal Transformers, with widths that give them as many parameters.
func baselines(prefix string, lstmWidth, transformerWidth int) []model {
	recurrent := func(r experiment.Run) experiment.Run { return withLSTM(r, lstmWidth) }
	layers := func(r experiment.Run) experiment.Run { return withTransformer(r, transformerWidth) }
	return []model{
		{family: prefix + "-lstm", summary: "LSTM with attention", configure: recurrent},
		{family: prefix + "-lstm-longer", summary: "LSTM with attention, five times the updates", configure: func(r experiment.Run) experiment.Run { return withSteps(recurrent(r), 5) }},
		{family: prefix + "-transformer", summary: "Transformer", configure: layers},
		{family: prefix + "-transformer-longer", summary: "Transformer, twice the updates", configure: func(r experiment.Run) experiment.Run { return withSteps(layers(r), 2) }},
	}
}

// execution is a run of tables 5 and 6 for a laptop; the paper states neither size nor training. Sources end in End. The positions of each
// number are counted from both of its ends, which extends the paper's coordinates: they show which digits have the same place. With
// ordinary positions and a feed-forward transition, additions are learned several times as slowly. There is no dropout, because no sample
// is seen often.
func execution(of task.Definition, depth halting.Policy, steps int64) experiment.Run {
	return experiment.Run{
		Seed: 1, Task: experiment.Task{Value: of}, SourceEnd: true,
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: experiment.Universal{
			Config:     universal.Config{Width: 64, Heads: 4, ScaleEmbedding: true, PreNorm: true},
			Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 256}},
			Halting:    experiment.Halting{Value: depth},
			Counting:   experiment.Counting{Value: universal.BothEnds{Segments: universal.Segments{Separators: numbersEnd}}},
			Positions:  experiment.Positions{Value: universal.FromOne{}},
		}}},
		Training: experiment.Training{
			Config: updates(steps, 50, 500, 500), Schedule: cosineTo(3e-3, 1e-5, 200), Batch: experiment.Batch{Tokens: 2048}, Validation: 4096,
		},
	}
}

// numbersEnd lists the characters that can follow a number in a program: all except digits.
var numbersEnd = strings.Split("()+-*<>=[]xifelsor", "")

// memory is a run of table 5, with four steps.
func memory(operation string, steps int64) experiment.Run {
	return execution(execute.Memory{Operation: operation, Length: 55}, fourSteps, steps)
}

// program is a run of table 6, with six steps for chains of two operations and their carries. It has many small batches and trains matrices
// with Muon: comparisons and products are learned late, and a laptop computes too few large batches. Additions need far fewer updates.
func program(operations string) experiment.Run {
	r := execution(execute.Program{Operations: operations, Nesting: 2, Length: 5}, sixSteps, 200_000)
	r.Training.Config = updates(200_000, 500, 5000, 5000)
	r.Training.Muon = 0.95
	r.Training.Batch = experiment.Batch{Tokens: 512}
	if operations == execute.Addition {
		r.Training.Steps, r.Training.EvaluateEvery = 20_000, 2500
	}
	return r
}

// adaptivePrograms has at most six steps. It starts near six, at a low ponder cost; otherwise it would end at one step, with which programs
// are not learned.
func adaptivePrograms(r experiment.Run) experiment.Run {
	r = withHalting(r, adaptive(6, -2))
	r.Training.Ponder = lowPonder
	return r
}

// widePrograms has twice the width and four steps, and learns loops in fewer updates. Control is trained on all operations of program, half
// of them loops: this helps loops after loops and harms conditionals.
func widePrograms(r experiment.Run) experiment.Run {
	r = withUniversal(r, func(u *experiment.Universal) { u.Width, u.Heads, u.Halting.Value = 128, 8, fourSteps })
	if p := r.Task.Value.(execute.Program); p.Operations == execute.Control {
		p.TrainingOperations = execute.ProgramAndLoops
		r.Task.Value = p
		r.Training.Steps = 270_000
	}
	return r
}

// fineTunedPrograms starts control from the weights of programs-wide/program, which executes more loops correctly than models trained on
// control, and has six steps instead of four. Three quarters of the operations in training are loops, and most programs have maximal
// length and nesting, because nearly all errors of the other model are in loops after loops.
func fineTunedPrograms(r experiment.Run) experiment.Run {
	r = withHalting(widePrograms(r), sixSteps)
	p := r.Task.Value.(execute.Program)
	p.TrainingOperations, p.TrainingLongest = execute.ControlAndLoops, 0.6
	r.Task.Value = p
	r.Training.Steps, r.Training.Schedule = 230_000, cosineTo(2e-3, 1e-5, 200)
	return r
}

// littleEndPrograms answers from the last digit to the first, an easier task than the paper's: a digit needs no carry from digits that
// follow it. Loops after loops are learned last, so half of the operations in training are loops; the others are sums and conditionals.
func littleEndPrograms(r experiment.Run) experiment.Run {
	r = widePrograms(r)
	p := r.Task.Value.(execute.Program)
	p.LittleEndFirst, p.TrainingOperations = true, execute.AdditionAndLoops
	r.Task.Value = p
	r.Training.Steps = 330_000
	return r
}

// largePrograms needs a GPU and answers from the last digit to the first, an easier task than the paper's. Smaller models do not learn
// products, so half of the operations in training are products, many of them with zeros within a factor.
func largePrograms(r experiment.Run) experiment.Run {
	r = withUniversal(r, func(u *experiment.Universal) {
		u.Width, u.Heads, u.Halting.Value = 256, 8, sixSteps
		u.Transition.Value = universal.SeparableConvolution{Filter: 512}
	})
	p := r.Task.Value.(execute.Program)
	p.LittleEndFirst, p.TrainingOperations, p.TrainingSparseFactors, p.TrainingLongest = true, execute.ProgramAndProducts, true, 0.3
	r.Task.Value = p
	r.Training.Config = updates(9000, 100, 2000, 2000)
	r.Training.Muon = 0.95
	r.Training.Batch = experiment.Batch{Tokens: 8192, Boundaries: []int{28, 52}}
	return r
}
