package paper

import (
	"errors"
	"fmt"
	"path/filepath"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/lambada"
)

// lambadaTable is table 3, section 3.3: LAMBADA as a language model and as reading comprehension.
var lambadaTable = &metricTable{
	table: "table3", prefix: "lambada", name: "LAMBADA", title: "LAMBADA: last words of passages (section 3.3)",
	preface: "Trained on books of Project Gutenberg, six novels of 870,000 words and marks unless the configuration of a result names others, where the paper has 2,662 novels of 203 million words; words that occur less than three times there are unknown, of the six novels more than half of " +
		"the words to be found. The control set is **our own**: passages of a seventh novel as they come. So no figure here compares with the paper's but among themselves. The version is the authors' plain text. " +
		"Development chose checkpoints; the test was measured once for each run. Nine lines of the development set stand in the test too. Mean ± deviation over seeds.",
	needs: []Need{
		{"lambada", filepath.Join("data", "lambada"), "the folder of LAMBADA's passages, as ut data lambada gets them"},
		{"prose", filepath.Join("data", "gutenberg"), "a folder of books to learn from, as ut data gutenberg gets them"},
	},
	rows: append(modelRows(map[string]map[string][]string{
		"lstm":        {"language": {"138 (0.23)", "4966 (0.0)", "5174 (0.0)"}, "reading": {"0.1103", "0.2316", "0.2007"}},
		"transformer": {"language": {"142 (0.19)", "5122 (0.0)", "7321 (0.0)"}, "reading": {"0.4102", "0.4401", "0.3988"}},
		"":            {"language": {"131 (0.32)", "279 (0.18)", "319 (0.17)"}, "reading": {"0.4801", "0.5422", "0.5216"}},
		"adaptive":    {"language": {"130 (0.32)", "134 (0.22)", "142 (0.19)"}, "reading": {"0.4603", "0.5831", "0.5625"}},
	}, 96, experiment.LambadaAdaptive),
		stepsRow(8, "129 (0.32)", "192 (0.21)", "202 (0.18)"), stepsRow(9, "129 (0.33)", "214 (0.21)", "239 (0.17)")),
	columns: []metricColumn{
		{
			task: "language", title: "Language model, 6 steps unless said otherwise", note: "Perplexity of last words, in parentheses accuracy; then perplexity and accuracy over those last words that the vocabulary has. A word that it does not have is an " +
				"error, and counts as the unknown word in perplexity, which makes that figure small: read the second with the share that is covered. The paper does not say which words its perplexities are over.",
			figures: lambadaFigures("last word perplexity", "last word accuracy", "perplexity of covered", "accuracy of covered"), run: lambadaRun(experiment.Lambada), compared: "accuracy of covered",
			baselines: []baseline{{"covered by the vocabulary", func(figure) string { return "covered" }}},
		},
		{
			task: "reading", title: "Reading comprehension, 6 steps unless said otherwise", note: "Accuracy over all passages; answers are words of the context. Learned from passages of the novels that end in any content word which stands in the context and which the last sentence does not give away, most content words hidden behind markers. " +
				"Positions are told how often their token stands in the context, whether in the question, and whether it follows what the blank follows; the paper does not say what its models were told. The development set chose checkpoints and configuration.",
			figures: lambadaFigures("accuracy"), run: lambadaRun(experiment.LambadaReading), compared: "accuracy",
			baselines: []baseline{
				{"ceiling: the answer stands in the context", func(figure) string { return "ceiling" }},
				{"most frequent content word", func(figure) string { return "most frequent content word" }},
				{"last content word", func(figure) string { return "last content word" }},
				{"a random content word", func(figure) string { return "random content word" }},
			},
		},
		{
			task: "annotated", title: "Reading comprehension, most of the development set learned too, 6 steps unless said otherwise", note: "As above, but half of the passages learned are of the development set, nine of ten of which are learned with the words that people found; those " +
				"that stand in the test are not. So the development column is the tenth that is left, which chose checkpoints and the number of updates. The paper does not do so: its models learn 2,662 novels of the kind that LAMBADA was taken from, ours six that are a century or two older.",
			figures: lambadaFigures("accuracy"), run: lambadaRun(experiment.LambadaReadingAnnotated), compared: "accuracy",
		},
	},
	cases: func(opened task.Task) ([]task.Case, error) {
		t, is := opened.(*lambada.Task)
		if !is {
			return nil, fmt.Errorf("the task is %s, which is not of table 3", opened.Name())
		}
		return t.Cases(), nil
	},
	kinds:   func(opened task.Task) []task.Case { return opened.(*lambada.Task).ByOccurrence() },
	missing: lambadaMissing,
}

// stepsRow is the Universal Transformer of another number of steps; the paper has figures of the language model only.
func stepsRow(steps int, paper ...string) metricRow {
	return metricRow{
		name: fmt.Sprintf("steps%d", steps), title: fmt.Sprintf("Universal Transformer, %d steps", steps), paper: map[string][]string{"language": paper},
		configure: func(r *experiment.Run) { *r = r.WithPolicy(halting.Fixed{Steps: steps}) },
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

// lambadaRun is a run on the data.
func lambadaRun(base func() experiment.Run) func(Data) experiment.Run {
	return func(d Data) experiment.Run {
		r := base()
		switch of := r.Task.Value.(type) {
		case lambada.Language:
			of.Path, of.Prose = d["lambada"], d["prose"]
			r.Task.Value = of
		case lambada.Reading:
			of.Path, of.Prose = d["lambada"], d["prose"]
			r.Task.Value = of
		}
		return r
	}
}

// lambadaMissing is an error if the passages or the books that a run reads are not there.
func lambadaMissing(r experiment.Run) error {
	var d lambada.Data
	switch of := r.Task.Value.(type) {
	case lambada.Language:
		d = of.Data
	case lambada.Reading:
		d = of.Data
	default:
		return fmt.Errorf("the task is %s, which is not of table 3", r.Task.Value)
	}
	return errors.Join(there(filepath.Join(d.Path, lambada.Test)), there(d.Prose))
}
