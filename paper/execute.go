package paper

import (
	"universal-transformer/task"
	"universal-transformer/task/execute"
)

// executePreface is what readers of tables 5 and 6 should know.
const executePreface = "Token accuracy, with sequence accuracy in parentheses. Where there are several seeds, the one with the lowest validation cross entropy is shown; all seeds are listed below. Answers are decoded greedily from the model's own output and have to end with " +
	"End, which counts as a token. Programs and numbers are generated as in DeepMind's Sonnet, with mixed lengths and nestings in training (its mix strategy, no curriculum). The paper names the tasks " +
	"but gives neither its generator nor its model sizes, and does not say whether its tests have the maximum length and nesting or a mix as in training. We report both. A hash of the source separates training, validation and test, and " +
	"the checkpoint with the lowest validation cross entropy is evaluated. All models have the same number of parameters within 3 %, except where a row gives a width. The Transformers count source positions from both ends, separately for each number, " +
	"which extends the paper's coordinates, and use separable convolutions as transitions. "

// executeSets are all at the greatest length and nesting, and mixed as in training.
func executeSets(length int) []sequenceSet {
	return []sequenceSet{
		{name: "maximum", choice: task.Selection{Length: length, Count: 5000}, forced: true, shown: true},
		{name: "mix", choice: task.Selection{Count: 5000}, forced: true, shown: true},
	}
}

// executeKinds are of the greatest length: 1,000 samples of every kind.
func executeKinds(d task.Definition) []task.Case { return execute.Kinds(d, 1000) }

// executeRows are the models of tables 5 and 6, all of as many parameters: the baselines have these widths. The paper's figures are of the
// LSTM, the Transformer and the Universal Transformer. The baselines' updates take less time, so each has a row with more of them, which trains
// for at least about as long as the Universal Transformer (LOG.md).
func executeRows(lstms, transformer, universal []string) []sequenceRow {
	return []sequenceRow{
		{name: "lstm", title: "LSTM with attention", paper: lstms},
		{name: "lstm-longer", title: "LSTM with attention, five times the updates"},
		{name: "transformer", title: "Transformer", paper: transformer},
		{name: "transformer-longer", title: "Transformer, twice the updates"},
		{name: "", title: "Universal Transformer", paper: universal},
		{name: "adaptive", title: "UT with dynamic halting"},
	}
}

// memorization is table 5, section 3.5: strings of up to 55 digits.
var memorization = &sequences{
	table: "table5", prefix: "memory", title: "Learning to execute: copy, double and reverse numbers of up to 55 digits (section 3.5)",
	preface: executePreface, sets: executeSets(55), kinds: executeKinds,
	rows:    executeRows([]string{"0.78 (0.11)", "0.51 (0.047)", "0.91 (0.32)"}, []string{"0.98 (0.63)", "0.94 (0.55)", "0.81 (0.26)"}, []string{"1.0 (1.0)", "1.0 (1.0)", "1.0 (1.0)"}),
	columns: []sequenceColumn{{"copy"}, {"double"}, {"reverse"}},
}

// evaluatedPrograms is table 6, section 3.5: programs of nesting 2 on numbers of up to 5 digits.
var evaluatedPrograms = &sequences{
	table: "table6", prefix: "programs", title: "Learning to execute: results of programs, nesting 2, numbers of up to 5 digits (section 3.5)",
	preface: executePreface + "Answers are taken modulo 10 to the power of the number of digits plus one, as in that generator. ", sets: executeSets(5),
	kinds: executeKinds,
	rows: append(executeRows([]string{"0.53 (0.12)", "0.68 (0.21)", "0.83 (0.11)"}, []string{"0.71 (0.29)", "0.93 (0.66)", "1.0 (1.0)"}, []string{"0.89 (0.63)", "1.0 (1.0)", "1.0 (1.0)"}),
		sequenceRow{name: "wide", title: "UT, width 128, 4 steps", told: "control is trained on all operations, half of them loops", only: []string{"program", "control"}},
		sequenceRow{name: "fine-tuned", title: "UT, width 128, 6 steps, fine-tuned", told: "starts from the weights of program in the row of 4 steps, of the same seed, whose minutes come on top; it continues with six steps on control alone, three quarters of the operations loops, and 60 % of the training programs have the greatest length and nesting, the others are mixed", only: []string{"control"}, from: &Pretrained{"programs-wide", "program"}},
		sequenceRow{name: "little-end", title: "UT, width 128, 4 steps, answers from their last digit", told: "an easier task than the paper's; also trained on sums, half of the operations loops", only: []string{"control"}},
		sequenceRow{name: "large", title: "UT, width 256, 6 steps, answers from their last digit", told: "an easier task than the paper's; trained on a GPU, where the first 2,604 of the 9,000 updates had the learning rates of a schedule of 36,000; half of the operations in training are products, whose second factors have zeros in the middle, and 30 % of the training programs have the greatest length and nesting, the others are mixed", only: []string{"program"}}),
	columns: []sequenceColumn{{"program"}, {"control"}, {"addition"}},
}
