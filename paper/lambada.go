package paper

import (
	"fmt"
	"path/filepath"

	"universal-transformer/task"
	"universal-transformer/task/lambada"
)

// lambadaTable is table 3, section 3.3: LAMBADA as a language model and as reading comprehension.
var lambadaTable = &metricTable{
	table: "table3", prefix: "lambada", name: "LAMBADA", title: "LAMBADA: last words of passages (section 3.3)",
	preface: "Trained on books from Project Gutenberg: six novels with 870,000 tokens, unless the configuration of a result names others. The paper trains on 2,662 novels with 203 million words. Words that occur fewer than three times in training are unknown; " +
		"with the six novels, these include more than half of the target words. The control set is **our own**: unfiltered passages of a seventh novel. Our results are therefore comparable with each other, but not with the paper's. The data are the authors' plain text. " +
		"The development set was used to select checkpoints; the test set was evaluated once per run. Nine lines of the development set also occur in the test set. Mean ± standard deviation over seeds.",
	needs: []Need{
		{"lambada", filepath.Join("data", "lambada"), "the folder of the LAMBADA passages, from ut data lambada"},
		{"prose", filepath.Join("data", "gutenberg"), "a folder of books to train on, from ut data gutenberg"},
	},
	rows: append(modelRows(map[string]map[string][]string{
		"lstm":        {"language": {"138 (0.23)", "4966 (0.0)", "5174 (0.0)"}, "reading": {"0.1103", "0.2316", "0.2007"}},
		"transformer": {"language": {"142 (0.19)", "5122 (0.0)", "7321 (0.0)"}, "reading": {"0.4102", "0.4401", "0.3988"}},
		"":            {"language": {"131 (0.32)", "279 (0.18)", "319 (0.17)"}, "reading": {"0.4801", "0.5422", "0.5216"}},
		"adaptive":    {"language": {"130 (0.32)", "134 (0.22)", "142 (0.19)"}, "reading": {"0.4603", "0.5831", "0.5625"}},
	}),
		stepsRow(8, "129 (0.32)", "192 (0.21)", "202 (0.18)"), stepsRow(9, "129 (0.33)", "214 (0.21)", "239 (0.17)")),
	columns: []metricColumn{
		{
			task: "language", title: "Language model, 6 steps unless stated otherwise", note: "Perplexity and accuracy on last words, followed by the same on last words in the vocabulary. An out-of-vocabulary word counts as an error, " +
				"and as the unknown token in the perplexity, which lowers it; the second pair should be read together with the coverage. The paper does not say which words its perplexities cover.",
			figures: lambadaFigures("last word perplexity", "last word accuracy", "perplexity of covered", "accuracy of covered"), compared: "accuracy of covered",
			baselines: []baseline{{"coverage of the vocabulary", func(figure) string { return "covered" }}},
		},
		{
			task: "reading", title: "Reading comprehension, 6 steps unless stated otherwise", note: "Accuracy over all passages; answers are words of the context. Training examples are passages of the novels that end in a content word which occurs in the context and which the last sentence does not give away; most content words are replaced by markers. " +
				"Additional input features tell each position how often its token occurs in the context, whether it occurs in the question, and whether it follows the same token as the blank does; the paper does not mention its features. The development set was used to select checkpoints and the configuration.",
			figures: lambadaFigures("accuracy"), compared: "accuracy",
			baselines: []baseline{
				{"upper bound: the answer occurs in the context", func(figure) string { return "ceiling" }},
				{"most frequent content word", func(figure) string { return "most frequent content word" }},
				{"last content word", func(figure) string { return "last content word" }},
				{"a random content word", func(figure) string { return "random content word" }},
			},
		},
		{
			task: "annotated", title: "Reading comprehension, also trained on most of the development set, 6 steps unless stated otherwise", note: "As above, but half of the training passages are taken from nine tenths of the development set, with their annotated answers; passages that " +
				"also occur in the test set are excluded. The development column is the remaining tenth, which was used to select checkpoints and the number of updates. The paper does not do this: its models are trained on 2,662 novels of the kind that LAMBADA was taken from, ours on six that are one or two centuries older.",
			figures: lambadaFigures("accuracy"), compared: "accuracy",
		},
	},
	cases: func(opened task.Task) ([]task.Case, error) {
		t, ok := opened.(*lambada.Task)
		if !ok {
			return nil, fmt.Errorf("the task is %s, which is not part of table 3", opened.Name())
		}
		return t.Cases(), nil
	},
	kinds: func(opened task.Task) []task.Case { return opened.(*lambada.Task).ByOccurrence() },
}

// stepsRow is the Universal Transformer of another number of steps, which the paper has as a language model only.
func stepsRow(steps int, paper ...string) metricRow {
	return metricRow{
		name: fmt.Sprintf("steps%d", steps), title: fmt.Sprintf("Universal Transformer, %d steps", steps), paper: map[string][]string{"language": paper}, only: "language",
	}
}

// lambadaFigures are the sets of table 3.
func lambadaFigures(metrics ...string) (list []figure) {
	for _, set := range []string{"control", "development", "test"} {
		title := set
		if set == "control" {
			title = "own control"
		}
		list = append(list, figure{title: title, set: set, metrics: metrics})
	}
	return list
}
