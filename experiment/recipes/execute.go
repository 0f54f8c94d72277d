package recipes

import (
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/universal"
)

// table5 is learning to execute, numbers of up to 55 digits (section 3.5). All models have the same number of parameters within 3 %. The
// baselines' updates take less time, so each has a row with more of them, which trains for about as long as the Universal Transformer.
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

// table6 is learning to execute, programs of nesting 2 on numbers of up to 5 digits (section 3.5). The baselines have the same number of
// parameters as the Universal Transformer of width 64, within 3 %.
//
// Paper, Universal Transformer: program 0.89 (0.63), control 1.0 (1.0), addition 1.0 (1.0).
func table6() []Recipe {
	return cells("table 6", append(baselines("programs", 80, 26),
		model{family: "programs", summary: "Universal Transformer", configure: unchanged},
		model{family: "programs-adaptive", summary: "UT with dynamic halting", configure: adaptivePrograms},
		model{family: "programs-wide", summary: "UT, width 128, 4 steps", only: []string{"program", "control"}, configure: widePrograms},
		model{family: "programs-fine-tuned", summary: "UT, width 128, 6 steps, fine-tuned", only: []string{"control"}, from: "programs-wide/program", configure: fineTunedPrograms},
		model{family: "programs-little-end", summary: "UT, width 128, 4 steps, answers from their last digit", only: []string{"control"}, configure: littleEndPrograms},
		model{family: "programs-large", summary: "UT, width 256, 6 steps, answers from their last digit, for a GPU", only: []string{"program"}, configure: largePrograms},
	), []column{
		{name: "program", run: func() experiment.Run { return program(execute.AllOperations) }},
		{name: "control", run: func() experiment.Run { return program(execute.Control) }},
		{name: "addition", run: func() experiment.Run { return program(execute.Addition) }},
	})
}

// baselines are the rows of tables 5 and 6 that are not Universal Transformers, with widths that give them as many parameters.
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

// execution is a run of tables 5 and 6 at the size of a laptop; the paper states neither size nor training. Sources end in End and are
// counted from both ends, every number of a program for itself, which extends the paper's coordinates: positions tell which digits have
// the same place. Counting from one and a feed-forward transition learn additions several times as slowly. There is no dropout, because no
// sample is seen often.
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

// numbersEnd is what can follow a number in a program: all characters but digits.
var numbersEnd = strings.Split("()+-*<>=[]xifelsor", "")

// memory repeats numbers in four steps.
func memory(operation string, steps int64) experiment.Run {
	return execution(execute.Memory{Operation: operation, Length: 55}, fourSteps, steps)
}

// program has six steps, as many as the longest chain of two operations and their carries may need. It learns in many small batches, with
// Muon for the matrices: comparisons and products are learned late, and a laptop computes too few large batches. Additions take a tenth of the
// updates of the others.
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

// adaptivePrograms takes up to six steps. It starts near six and pays little for a step, or it ends with one, which does not learn programs.
func adaptivePrograms(r experiment.Run) experiment.Run {
	r = withHalting(r, adaptive(6, -2))
	r.Training.Ponder = lowPonder
	return r
}

// widePrograms has twice the width and four steps, which learns loops in fewer updates. Control is trained on all operations of program, half
// of them loops: loops after loops become better than with sums, conditionals worse.
func widePrograms(r experiment.Run) experiment.Run {
	r = withUniversal(r, func(u *experiment.Universal) { u.Width, u.Heads, u.Halting.Value = 128, 8, fourSteps })
	if p := r.Task.Value.(execute.Program); p.Operations == execute.Control {
		p.TrainingOperations = execute.ProgramAndLoops
		r.Task.Value = p
		r.Training.Steps = 270_000
	}
	return r
}

// fineTunedPrograms starts control from the weights of programs-wide/program, which runs more loops correctly than models that were trained on
// control, and takes six steps instead of four. Three quarters of the operations in training are loops, and most programs have the
// greatest length and nesting: loops after loops are nearly all that the other model gets wrong.
func fineTunedPrograms(r experiment.Run) experiment.Run {
	r = withHalting(widePrograms(r), sixSteps)
	p := r.Task.Value.(execute.Program)
	p.TrainingOperations, p.TrainingLongest = execute.ControlAndLoops, 0.6
	r.Task.Value = p
	r.Training.Steps, r.Training.Schedule = 230_000, cosineTo(2e-3, 1e-5, 200)
	return r
}

// littleEndPrograms answers from the last digit to the first, an easier task than the paper's: a digit needs no carry from digits that are
// not written yet. Loops after loops are learned last, so half of the operations in training are loops, the others sums and conditionals.
func littleEndPrograms(r experiment.Run) experiment.Run {
	r = widePrograms(r)
	p := r.Task.Value.(execute.Program)
	p.LittleEndFirst, p.TrainingOperations = true, execute.AdditionAndLoops
	r.Task.Value = p
	r.Training.Steps = 330_000
	return r
}

// largePrograms is for a GPU and answers from the last digit to the first, an easier task than the paper's. Smaller models do not learn
// products, so half of the operations in training are products, and many of them have factors with zeros in the middle.
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
