package recipes

import (
	"fmt"

	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/universal"
)

// table4 returns the recipes of copy, reverse and addition (section 3.4), trained on up to 40 symbols and tested at 400. The rows
// algorithmic-alike differ from algorithmic in the model alone: they have its positions, data and training. Where an update takes less time
// than one of the Universal Transformer, a row of about equal time has more of them. The rows algorithmic-extended are these models with half
// as many updates again. The rows algorithmic-adam are these models, with another optimizer and positions that were chosen by accuracy at
// length 400.
func table4() []Recipe {
	narrow := func(r experiment.Run) experiment.Run { return withTransformer(r, 32) }
	oneStep := func(r experiment.Run) experiment.Run { return withHalting(r, halting.Fixed{Steps: 1}) }
	lstm := func(r experiment.Run) experiment.Run { return withLSTM(r, 80) }
	digits := algorithmic.Digits{Base: 10, MaxLength: 40}
	return cells("table 4", []model{
		{family: "algorithmic-lstm", summary: "LSTM with attention", configure: algorithmicLSTM(true)},
		{family: "algorithmic-lstm-plain", summary: "LSTM without attention", configure: algorithmicLSTM(false)},
		{family: "algorithmic-transformer", summary: "Transformer, random offsets of positions as in the paper", configure: func(r experiment.Run) experiment.Run {
			return withTransformer(inPaperSetting(fourSteps)(r), 64)
		}},
		{family: "algorithmic-paper", summary: "Universal Transformer, random offsets of positions as in the paper", configure: inPaperSetting(fourSteps)},
		{family: "algorithmic-paper-adaptive", summary: "UT with dynamic halting, random offsets of positions as in the paper", configure: inPaperSetting(adaptive(8, 1))},
		{family: "algorithmic-neural-gpu", summary: "Neural GPU (section 4)", configure: withNeuralGPU},
		{family: "algorithmic", summary: "Universal Transformer, sources counted from both ends", configure: unchanged},
		{family: "algorithmic-adam", summary: "Universal Transformer, sources counted from both ends, trained with Adam", configure: withoutMuon},
		{family: "algorithmic-adam-transformer", summary: "Transformer of the depth and width of algorithmic-adam, trained like it", configure: func(r experiment.Run) experiment.Run {
			return withTransformer(withoutMuon(r), 64)
		}},
		{family: "algorithmic-adam-transformer-narrow", summary: "Transformer with as many parameters as algorithmic-adam, trained like it",
			configure: func(r experiment.Run) experiment.Run { return narrow(withoutMuon(r)) }},
		{family: "algorithmic-adam-one-step", summary: "Universal Transformer of one step, trained like algorithmic-adam",
			configure: func(r experiment.Run) experiment.Run { return oneStep(withoutMuon(r)) }},
		{family: "algorithmic-adam-one-step-longer", summary: "the same, four times the updates",
			configure: func(r experiment.Run) experiment.Run { return withSteps(oneStep(withoutMuon(r)), 4) }},
		{family: "algorithmic-adam-lstm", summary: "LSTM with attention and as many parameters as algorithmic-adam, trained like it",
			configure: func(r experiment.Run) experiment.Run { return lstm(withoutMuon(r)) }},
		{family: "algorithmic-coupled", summary: "Universal Transformer, coupled positions", configure: withCoupledPositions},
		{family: "algorithmic-alike-transformer", summary: "Transformer of the depth and width of algorithmic, trained like it", configure: func(r experiment.Run) experiment.Run {
			return withTransformer(r, 64)
		}},
		{family: "algorithmic-alike-transformer-narrow", summary: "Transformer with as many parameters as algorithmic, trained like it",
			configure: func(r experiment.Run) experiment.Run { return withLowerRate(narrow(r)) }},
		{family: "algorithmic-alike-transformer-narrow-longer", summary: "the same, 2.3 times the updates",
			configure: func(r experiment.Run) experiment.Run { return withSteps(withLowerRate(narrow(r)), 2.3) }},
		{family: "algorithmic-alike-one-step", summary: "Universal Transformer of one step, trained like algorithmic", configure: oneStep},
		{family: "algorithmic-alike-one-step-longer", summary: "the same, four times the updates",
			configure: func(r experiment.Run) experiment.Run { return withSteps(oneStep(r), 4) }},
		{family: "algorithmic-alike-offset", summary: "Universal Transformer with the paper's positions, otherwise like algorithmic", configure: withPapersPositions},
		{family: "algorithmic-alike-lstm", summary: "LSTM with attention and as many parameters as algorithmic, trained like it", configure: lstm},
		{family: "algorithmic-alike-lstm-longer", summary: "the same, five times the updates",
			configure: func(r experiment.Run) experiment.Run { return withSteps(lstm(r), 5) }},
		{family: "algorithmic-extended", summary: "Universal Transformer, sources counted from both ends, 12,000 updates", configure: extended},
		{family: "algorithmic-extended-transformer", summary: "Transformer of the depth and width of algorithmic-extended, trained like it", configure: func(r experiment.Run) experiment.Run {
			return withTransformer(extended(r), 64)
		}},
		{family: "algorithmic-extended-transformer-narrow", summary: "Transformer with as many parameters as algorithmic-extended, trained like it",
			configure: func(r experiment.Run) experiment.Run { return withLowerRate(narrow(extended(r))) }},
		{family: "algorithmic-extended-one-step", summary: "Universal Transformer of one step, trained like algorithmic-extended",
			configure: func(r experiment.Run) experiment.Run { return oneStep(extended(r)) }},
		{family: "algorithmic-extended-lstm", summary: "LSTM with attention and as many parameters as algorithmic-extended, trained like it",
			configure: func(r experiment.Run) experiment.Run { return lstm(extended(r)) }},
	}, []column{
		{name: "copy", run: func() experiment.Run { return countedFromBothEnds(algorithmic.Copy{Digits: digits}) }},
		{name: "reverse", run: func() experiment.Run { return countedFromBothEnds(algorithmic.Reverse{Digits: digits}) }},
		{name: "addition", run: func() experiment.Run { return countedFromBothEnds(algorithmic.Addition{Digits: digits}) }},
	})
}

// countedFromBothEnds is the row "algorithmic", which generalizes to sequences twenty times as long as those of training. It extends the
// paper's coordinates: source positions are counted from both ends, and restart after a plus sign, so that positions show which symbols
// have the same distance from either end. Training draws positions from 1 to 1,024, as consecutive runs with random gaps between them. The
// separable convolution sees the neighbours of a position, whatever positions were drawn. Sources end in End. Every update has new
// examples. Heads, positions, optimizer and rate were chosen by the cross entropy of random validation sequences of 60 to 100 symbols. Half
// of the validation sequences that choose the checkpoint are hard cases, because random ones do not tell seeds apart.
func countedFromBothEnds(of task.Definition) experiment.Run {
	config := updates(8000, 50, 500, 500)
	config.Muon, config.Average = 0.95, 0.999
	return experiment.Run{
		Seed: 1, Task: experiment.Task{Value: of}, SourceEnd: true,
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: experiment.Universal{
			Config:     universal.Config{Width: 64, Heads: 2, ScaleEmbedding: true, PreNorm: true},
			Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 256}},
			Halting:    experiment.Halting{Value: fourSteps},
			Counting:   experiment.Counting{Value: universal.BothEnds{Segments: universal.Segments{Separators: []string{"+"}}}},
			Positions:  experiment.Positions{Value: universal.RandomRuns{Max: 1024}},
		}}},
		Training: experiment.Training{
			Config: config, Schedule: cosine(0.01, 200), Batch: experiment.Batch{Tokens: 2048},
			Validation: 1024, ValidationLengths: experiment.Lengths{From: 60, To: 100}, ValidationHard: true,
		},
	}
}

// extended returns a run with half as many updates again.
func extended(r experiment.Run) experiment.Run {
	r.Training.Steps += r.Training.Steps / 2
	return r
}

// withLowerRate has the peak and floor that the narrow Transformer needs.
func withLowerRate(r experiment.Run) experiment.Run {
	r.Training.Schedule = cosineTo(0.003, 0.00015, 200)
	return r
}

// withoutMuon trains with Adam, and chooses the checkpoint on validation sequences of the lengths of training. Positions are drawn from 1 to
// 512, and there are four heads.
func withoutMuon(r experiment.Run) experiment.Run {
	r.Training = experiment.Training{
		Config: updates(10_000, 50, 500, 500), Schedule: cosineTo(3e-3, 1e-5, 200), Batch: experiment.Batch{Tokens: 2048},
		Validation: 4096, // with fewer examples, single tokens would select the best checkpoint
	}
	return withUniversal(r, func(u *experiment.Universal) { u.Heads, u.Positions.Value = 4, universal.RandomRuns{Max: 512} })
}

// inPaperSetting replaces the model by the paper's, with the same size and number of updates: layer normalization before the sub-layers, as
// in the authors' code; the separable convolution that section 2.1 offers as a transition; positions with a random offset, so that
// sequences of up to 41 tokens end at position 401 at the latest; and the dropout, label smoothing and training sets of 100,000 examples of
// the authors' code. Neither paper nor code states size, transition or learning rate for table 4. Addition is trained with Muon: without
// it, these updates do not suffice even for the lengths of training.
//
// Paper (token accuracy, sequence accuracy in parentheses): copy 0.91 (0.35), reverse 0.96 (0.46), addition 0.34 (0.02).
func inPaperSetting(depth halting.Policy) func(experiment.Run) experiment.Run {
	return func(r experiment.Run) experiment.Run {
		r = withoutMuon(r)
		r.SourceEnd = false
		r.Model.Value = experiment.EncoderDecoder{Universal: experiment.Universal{
			Config: universal.Config{
				Width: 64, Heads: 4, ScaleEmbedding: true, PreNorm: true,
				Dropout: universal.Dropout{Embedding: 0.1, Attention: 0.1, Transition: 0.1, Residual: 0.1},
			},
			Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 256}},
			Halting:    experiment.Halting{Value: depth},
			Positions:  experiment.Positions{Value: universal.RandomOffset{Max: 401}}, // a source or target of 40 tokens and End ends at 401 at the latest
		}}
		r.Training.LabelSmoothing = 0.1
		r.Task.Value = r.Task.Value.(interface{ WithExamples(int) task.Definition }).WithExamples(100_000)
		if _, ok := r.Task.Value.(algorithmic.Addition); ok {
			r.Training.Muon = 0.95
		}
		return r
	}
}

// withPapersPositions counts source and target from a random offset, as the paper does for table 4.
func withPapersPositions(r experiment.Run) experiment.Run {
	return withUniversal(r, func(u *experiment.Universal) {
		u.Counting.Value, u.Positions.Value = universal.FromStart{}, universal.RandomOffset{Max: 401}
	})
}

// withCoupledPositions couples positions (Cho et al., 2024): each source token has the position of the target token that it belongs to.
// The rule differs by task, and tells the model the alignment of the answer.
func withCoupledPositions(r experiment.Run) experiment.Run {
	return withUniversal(withoutMuon(r), func(u *experiment.Universal) {
		switch r.Task.Value.(type) {
		case algorithmic.Reverse:
			u.Counting.Value = universal.FromEnd{}
		case algorithmic.Addition:
			u.Counting.Value = universal.Restarting{Segments: universal.Segments{Separators: []string{"+"}}}
		case algorithmic.Copy:
			u.Counting.Value = universal.FromStart{}
		default:
			panic(fmt.Sprintf("recipes: how positions of %s are coupled is not known", r.Task.Value))
		}
	})
}

// algorithmicLSTM replaces the model by an LSTM, trained at a lower rate. Paper: copy 0.45 (0.09), reverse 0.66 (0.11), addition 0.08 (0.0).
func algorithmicLSTM(attention bool) func(experiment.Run) experiment.Run {
	return func(r experiment.Run) experiment.Run {
		r = withLSTM(withoutMuon(r), 128)
		m := r.Model.Value.(experiment.LSTMEncoderDecoder)
		m.Attention = attention
		r.Model.Value = m
		r.Training.Steps, r.Training.Schedule = 8000, cosineTo(1e-3, 1e-5, 200)
		return r
	}
}

// withNeuralGPU replaces the model by a Neural GPU, whose number of steps is the number of source tokens. It has fewer updates, because each
// takes several times as long as one of the Universal Transformer. Paper, from training with a curriculum: 1.0 (1.0) in all tasks.
func withNeuralGPU(r experiment.Run) experiment.Run {
	r = withoutMuon(r)
	r.Model.Value = experiment.NeuralGPU{Model: neuralgpu.Model{Width: 96}}
	r.Training.ClipNorm, r.Training.Steps, r.Training.Schedule = 1, 4000, cosineTo(1e-3, 1e-5, 200)
	return r
}
