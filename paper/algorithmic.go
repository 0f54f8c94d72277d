package paper

import (
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// lengthGeneralization is table 4, section 3.4: trained on up to 40 symbols, tested at 400.
var lengthGeneralization = &sequences{
	table: "table4", prefix: "algorithmic", title: "Copy, reverse and addition, trained to length 40, tested at 400 (section 3.4)",
	preface: "Token accuracy, with sequence accuracy in parentheses. Where there are several seeds, the one with the lowest validation cross entropy is shown; all seeds are listed below. Answers are decoded greedily from the model's own output " +
		"and have to end with End, which counts as a token. The paper does not say whether its test sequences have exactly 400 symbols or up to 400, or whether they were decoded; the authors' " +
		"code draws lengths of 1 to 400 and uses teacher forcing. We report both kinds of lengths, and teacher-forced results under all measurements. Lengths count the whole source, as in the " +
		"authors' code: for addition, both numbers and the plus sign. Numbers are written with the last digit first. No model was trained on more than 40 symbols, and no longer sequence was used to select a checkpoint: " +
		"the number of updates is fixed, and the checkpoint with the lowest cross entropy on validation examples of up to 40 symbols is evaluated. ",
	rows: []sequenceRow{
		{
			name: "lstm", title: "LSTM with attention", paper: []string{"0.45 (0.09)", "0.66 (0.11)", "0.08 (0.0)"},
			told: "no position information, as it reads one token after the other; the paper does not say whether its LSTM had attention",
		},
		{name: "lstm-plain", title: "LSTM without attention", told: "no position information"},
		{
			name: "transformer", title: "Transformer", paper: []string{"0.53 (0.03)", "0.13 (0.06)", "0.07 (0.0)"},
			told: "positions counted from a random offset, as for the Universal Transformer in the paper's setting; addition is trained with Muon",
		},
		{
			name: "paper", title: "Universal Transformer, the paper's positions", paper: []string{"0.91 (0.35)", "0.96 (0.46)", "0.34 (0.02)"},
			told: "positions counted from a random offset, for source and target; addition is trained with Muon",
		},
		{
			name: "paper-adaptive", title: "UT with dynamic halting, the paper's positions",
			told: "as in the row above",
		},
		{
			name: "neural-gpu", title: "Neural GPU", paper: []string{"1.0 (1.0)", "1.0 (1.0)", "1.0 (1.0)"},
			told: "no position information: it is a gated convolution, applied as many times as the source has tokens, and the whole answer is read from its final state. The paper's results are from Kaiser and Sutskever's training with a curriculum; " +
				"here it is trained like the other models, for 4,000 updates, each of which takes five times as long",
		},
		{
			name: "", title: "Universal Transformer, counted from both ends",
			told: "two positions for each source token, counted from the start and from the end of its number (the count restarts after a plus sign), and an index of the number it belongs to; the target is counted from its start. The same scheme is used for all tasks; " +
				"it extends the paper's coordinates. In training, positions are runs of consecutive integers from 1 to 512 with random gaps between the runs; sources end with End",
		},
		{
			name: "coupled", title: "Universal Transformer, coupled positions",
			told: "each source token gets the position of the target token it corresponds to, a different rule for each task: counted from the start for copy, from the end for reverse, by place value for addition. This gives " +
				"the model the alignment of the answer; otherwise as in the row above",
		},
	},
	columns: []sequenceColumn{{"copy"}, {"reverse"}, {"addition"}},
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
