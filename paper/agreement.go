package paper

import (
	"fmt"
	"path/filepath"

	"universal-transformer/task"
	"universal-transformer/task/agreement"
)

// agreementTable is table 2, section 3.2: accuracy by attractors.
var agreementTable = &metricTable{
	table: "table2", prefix: "agreement", name: "Agreement", title: "Subject-verb agreement, by attractors (section 3.2)",
	preface: "Accuracy, with balanced accuracy (the mean of the accuracies on singular and on plural verbs) in parentheses; mean ± standard deviation over seeds. Attractors are nouns between subject and verb whose number differs from " +
		"the subject's. Compare the results with the baselines that need no model: with four attractors nearly all verbs are plural. The paper trains on 9 % of the original authors' table of sentences and ranks verb forms (task verbs, which needs that table). " +
		"The other published files contain only the words before a verb and its number, and a tenth of the rows. Checkpoints are selected on a validation set, a tenth of the training data. Test results played no part in a run, but the configuration, which all models share, " +
		"was chosen with the Universal Transformer's test results in the enriched regime known (LOG.md).",
	needs: []Need{
		{"linzen", filepath.Join("data", "linzen"), "the folder of the agreement files, from ut data linzen"},
		{"prose", filepath.Join("data", "gutenberg"), "a folder of books to train on, from ut data gutenberg"},
	},
	rows: modelRows(map[string]map[string][]string{
		"transformer": {"verbs": {"0.973", "0.941", "0.932", "0.917", "0.901", "0.883", "0.962"}},
		"":            {"verbs": {"0.993", "0.971", "0.969", "0.940", "0.921", "0.892", "0.992"}},
		"adaptive":    {"verbs": {"0.994", "0.969", "0.967", "0.944", "0.932", "0.907", "0.992"}},
	}),
	columns: []metricColumn{
		numberColumn("natural-text", "Natural regime, next-token number prediction", agreement.Natural),
		numberColumn("natural-classes", "Natural regime, two classes", agreement.Natural),
		numberColumn("enriched-text", "Enriched regime, next-token number prediction", agreement.Enriched),
		numberColumn("enriched-classes", "Enriched regime, two classes", agreement.Enriched),
		{
			task: "verbs", title: "Ranking of verb forms, the paper's measure", note: "Trained on 9 % of the authors' table, as in the paper.",
			figures: attractors(0), baselines: append(agreementBaselines(), moreFrequent), compared: totalBalanced,
		},
		{
			task: "pairs", title: "Ranking of sentence pairs", note: "Language models trained on books rank whole sentences from Wikipedia with both forms of their verb. This is not the paper's measure, and the books are a small substitute for a larger corpus.",
			figures: attractors(0), baselines: append(agreementBaselines(), moreFrequent), compared: totalBalanced,
		},
	},
	cases: func(opened task.Task) ([]task.Case, error) {
		examples, err := opened.HeldOut(task.TestSeed, task.Selection{})
		return []task.Case{{Name: testSet, Examples: examples}}, err
	},
	kinds: func(opened task.Task) []task.Case {
		if t, ok := opened.(*agreement.Task); ok {
			return t.ByAttractors()
		}
		return nil
	},
}

const (
	testSet       = "test"
	totalBalanced = "total balanced"
)

// extendedRows is the fraction of the training rows that are extended with phrases of others: without it, models learn the number of the last word
// from natural rows, and of the only noun between from enriched ones (LOG.md).
const extendedRows = 0.75

// numberColumn is a regime and a form of the numpred files.
func numberColumn(label, title string, regime agreement.Regime) metricColumn {
	note := "Trained on nine tenths of numpred.val, about 14,200 rows with the natural distribution of attractors: a tenth of the paper's training data. The test set contains all rows except those whose words may occur in training. "
	if regime == agreement.Enriched {
		note = "Trained additionally on four fifths of numpred.test.1, so that three quarters of the rows have an attractor; in natural text about one sentence in twenty does. **Not comparable with the paper's table.** "
	}
	note += fmt.Sprintf("For all models, one to four prepositional phrases from other training rows are inserted before the verb in a fraction %g of the training rows. The number of the verb stays the same, so these rows contain more attractors.", extendedRows)
	return metricColumn{
		task: label, title: title, note: note, figures: attractors(1), baselines: agreementBaselines(), compared: totalBalanced,
	}
}

// attractors are the figures of table 2, from so many attractors on.
func attractors(from int) (list []figure) {
	for k := from; k <= 5; k++ {
		list = append(list, figure{title: fmt.Sprint(k), set: testSet, metrics: []string{fmt.Sprintf("%d attractors", k), fmt.Sprintf("%d balanced", k)}, key: fmt.Sprint(k)})
	}
	return append(list, figure{title: "total", set: testSet, metrics: []string{"total", totalBalanced}, key: "total"})
}

func agreementBaselines() []baseline {
	return []baseline{
		{"always plural", func(f figure) string { return f.key + " always plural" }},
		{"number of the last word", func(f figure) string { return f.key + " last word" }},
	}
}

var moreFrequent = baseline{"the more frequent form", func(f figure) string { return f.key + " more frequent" }}

// modelRows are the models of tables 2 and 3, with the paper's figures by model and task. All have as many parameters, within a tenth.
func modelRows(paper map[string]map[string][]string) []metricRow {
	return []metricRow{
		{name: "lstm", title: "LSTM", paper: paper["lstm"]},
		{name: "transformer", title: "Transformer", paper: paper["transformer"]},
		{name: "", title: "Universal Transformer", paper: paper[""]},
		{name: "adaptive", title: "UT with dynamic halting", paper: paper["adaptive"]},
	}
}
