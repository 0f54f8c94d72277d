package paper

import (
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/training"
)

// lengthGeneralization is table 4, section 3.4: trained on up to 40 symbols, tested at 400.
var lengthGeneralization = &sequences{
	table: "table4", prefix: "algorithmic", title: "Copy, reverse and addition, trained to length 40, tested at 400 (section 3.4)",
	preface: "Accuracy by tokens, and by whole sequences in parentheses, of the seed with the lowest validation cross entropy, where there are several; all seeds are below. Answers are decoded greedily, each token after the model's own, " +
		"and have to end by themselves: End counts as a token. The paper says neither whether its tests have exactly 400 symbols or up to 400, nor whether they were decoded; its authors' " +
		"code draws lengths of 1 to 400 and predicts every token from the true ones. So both kinds of lengths are here, and teacher forcing among all measurements. Lengths are of the whole source, as in the " +
		"authors' code: of a sum, both numbers and the plus sign. Numbers are written from their last digit to their first. No model was trained on more than 40 symbols, and nothing above that length chose a checkpoint: " +
		"training has a fixed number of updates and the checkpoint with the lowest cross entropy on validation examples of up to 40 symbols is measured. ",
	rows: []sequenceRow{
		{
			name: "lstm", title: "LSTM with attention", paper: []string{"0.45 (0.09)", "0.66 (0.11)", "0.08 (0.0)"},
			told: "nothing: it reads one token after the other; the paper does not say whether its LSTM had attention", configure: lstm(true),
		},
		{name: "lstm-plain", title: "LSTM without attention", told: "nothing", configure: lstm(false)},
		{
			name: "transformer", title: "Transformer", paper: []string{"0.53 (0.03)", "0.13 (0.06)", "0.07 (0.0)"},
			told: "one count from a random offset, as the Universal Transformer in the paper's setting; sums are trained with Muon", configure: paperTransformer,
		},
		{
			name: "paper", title: "Universal Transformer, the paper's positions", paper: []string{"0.91 (0.35)", "0.96 (0.46)", "0.34 (0.02)"},
			told: "one count from a random offset for source and target; sums are trained with Muon, also at adaptive depth", configure: inThePaper(experiment.CopyPaper, experiment.ReversePaper, experiment.AdditionPaper),
		},
		{
			name: "paper-adaptive", title: "UT with dynamic halting, the paper's positions",
			told: "the same", configure: inThePaper(experiment.CopyPaperAdaptive, experiment.ReversePaperAdaptive, experiment.AdditionPaperAdaptive),
		},
		{
			name: "neural-gpu", title: "Neural GPU", paper: []string{"1.0 (1.0)", "1.0 (1.0)", "1.0 (1.0)"},
			told: "nothing: it is a gated convolution, applied as often as the source has tokens, whose answer is read at the end, all tokens at once. The paper's figures are of Kaiser and Sutskever's training by a curriculum; " +
				"here it is trained as all others, for 4,000 updates, each of which takes five times as long", configure: func(r *experiment.Run) { *r = experiment.Convolved(*r) },
		},
		{
			name: "", title: "Universal Transformer, counted from both ends",
			told: "two counts of every source token, from the start and from the end, anew after a plus sign, and which number it belongs to; the target is counted from its start. One rule for all tasks, " +
				"beyond the paper's coordinates; positions are runs of consecutive numbers of 1 to 512 with random gaps between them; sources end in End", configure: func(*experiment.Run) {},
		},
		{
			name: "coupled", title: "Universal Transformer, coupled positions",
			told: "every source token has the number of the target token that it belongs to, which is another rule for each task: copy from the start, reverse from the end, digits of a sum by their place value. It hands " +
				"the model the alignment of the answer; otherwise as the row above", configure: func(r *experiment.Run) { *r = experiment.Coupled(*r) },
		},
	},
	columns: []sequenceColumn{{"copy", experiment.Copy}, {"reverse", experiment.Reverse}, {"addition", experiment.Addition}},
	sets: []sequenceSet{
		{name: "length 400", choice: task.Selection{Length: 400, Count: 1000}, forced: true, shown: true, length: 400},
		{name: "lengths 1 to 400", choice: task.Selection{Mix: 400, Count: 1000}, forced: true, shown: true},
		{name: "length 40", choice: task.Selection{Length: 40, Count: 1000}, length: 40},
		{name: "length 60", choice: task.Selection{Length: 60, Count: 1000}, length: 60},
		{name: "length 100", choice: task.Selection{Length: 100, Count: 1000}, length: 100},
		{name: "length 200", choice: task.Selection{Length: 200, Count: 1000}, length: 200},
		{name: "length 800", choice: task.Selection{Length: 800, Count: 200}, length: 800},
	},
	kinds: func(d task.Definition) []task.Case { return algorithmic.HardCases(d, 400, 200) },
	axis:  "symbols of the source", trained: 40,
}

// inThePaper gives the run of the same task in the paper's setting.
func inThePaper(copying, reversing, adding func() experiment.Run) func(*experiment.Run) {
	return func(r *experiment.Run) {
		switch r.Task.Value.(type) {
		case algorithmic.Copy:
			*r = copying()
		case algorithmic.Reverse:
			*r = reversing()
		case algorithmic.Addition:
			*r = adding()
		default:
			panic(fmt.Sprintf("paper: %s is no task of table 4", r.Task.Value))
		}
	}
}

// paperTransformer is the paper's setting with weights of its own for every layer, as many layers as the Universal Transformer has steps.
func paperTransformer(r *experiment.Run) {
	inThePaper(experiment.CopyPaper, experiment.ReversePaper, experiment.AdditionPaper)(r)
	*r = experiment.Transformer(*r)
}

// lstm is a run with an LSTM of 128 channels, trained on the same fresh examples for longer.
func lstm(attention bool) func(*experiment.Run) {
	return func(r *experiment.Run) {
		*r = experiment.LSTM(*r)
		m := r.Model.Value.(experiment.LSTMEncoderDecoder)
		m.Width, m.Attention = 128, attention
		r.Model.Value = m
		r.Training.Steps = 8000
		r.Training.Schedule = experiment.Schedule{Value: training.Cosine{Peak: 1e-3, Floor: 1e-5, Warmup: 200}}
	}
}
