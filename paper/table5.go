package paper

// Table5 returns learning to execute: copy, double and reverse numbers of up to 55 digits.
func Table5() Table {
	lstm := figures("copy", "0.78 (0.11)", "double", "0.51 (0.047)", "reverse", "0.91 (0.32)")
	transformer := figures("copy", "0.98 (0.63)", "double", "0.94 (0.55)", "reverse", "0.81 (0.26)")
	universal := figures("copy", "1.0 (1.0)", "double", "1.0 (1.0)", "reverse", "1.0 (1.0)")
	return Table{
		Number: 5, Title: "Learning to execute: copy, double and reverse numbers of up to 55 digits", Section: "section 3.5",
		Preface: executePreface + "All are trained with Adam. ", Seen: []string{"the number of updates of double was chosen with the accuracy of the Universal Transformer at the maximum length known (docs/log.md, 2026-11-23). For the other columns it is not recorded. " + executeSeen}, Sets: executeSets(55), Rows: executeRows("memory", lstm, transformer, universal),
		Columns: []Column{{Name: "copy", Title: "copy"}, {Name: "double", Title: "double"}, {Name: "reverse", Title: "reverse"}},
	}
}

const executeSeen = "A hash of the source separates training, validation and test, and checkpoints and seeds were selected on validation data."

// executePreface is what readers of tables 5 and 6 should know.
const executePreface = "Token accuracy, with sequence accuracy in parentheses, of the seed with the lowest validation cross entropy; then mean ± standard deviation of the sequence accuracy over seeds, or for one seed its 95 % interval in brackets. Answers are decoded greedily from the model's own output and have to end with " +
	"the end token, which counts as a token. Programs and numbers are generated as in DeepMind's Sonnet, with mixed lengths and nestings in training (its mix strategy, no curriculum). The paper names the tasks " +
	"but gives neither its generator nor its model sizes, and does not say whether its tests have the maximum length and nesting or a mix as in training. These are the results at the maximum; the page of measurements has those of the mix, which are higher. " +
	"All models have the same number of parameters within 3 %, except where a row gives a width: the Universal Transformer is 64 wide, the Transformer 26 or 32, because its layers have weights of their own, and the LSTM 80. The Transformers count source positions from both ends, separately for each number, " +
	"which extends the paper's coordinates, and use separable convolutions as transitions. "

// executeSets returns two test sets: one at the maximum length and nesting, and one mixed as in training.
func executeSets(length int) []Set {
	return []Set{{Name: "maximum", Length: length, Count: 5000, Forced: true, Shown: true}, {Name: "mix", Count: 5000, Forced: true}}
}

// executeRows returns the models of tables 5 and 6 with about the same number of parameters. The baselines' updates are faster, so each
// baseline also has a row with more updates.
func executeRows(prefix string, lstm, transformer, universal map[string][]string) []Row {
	return []Row{
		{Family: prefix + "-lstm", Title: "LSTM with attention", Published: lstm},
		{Family: prefix + "-lstm-longer", Title: "LSTM with attention, five times the updates", EqualTime: true},
		{Family: prefix + "-transformer", Title: "Transformer", Published: transformer},
		{Family: prefix + "-transformer-longer", Title: "Transformer, twice the updates", EqualTime: true},
		{Family: prefix, Title: "Universal Transformer", Own: true, Published: universal},
		{Family: prefix + "-adaptive", Title: "UT with dynamic halting", Adaptive: true},
	}
}
