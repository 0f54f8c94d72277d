package paper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/task"
	"universal-transformer/task/agreement"
	"universal-transformer/training/schedule"
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
	}, agreementTransformer, experiment.AgreementAdaptive),
	columns: []metricColumn{
		numberColumn("natural-text", "Natural regime, next-token number prediction", agreement.Natural, experiment.Agreement),
		numberColumn("natural-classes", "Natural regime, two classes", agreement.Natural, experiment.AgreementClasses),
		numberColumn("enriched-text", "Enriched regime, next-token number prediction", agreement.Enriched, experiment.Agreement),
		numberColumn("enriched-classes", "Enriched regime, two classes", agreement.Enriched, experiment.AgreementClasses),
		{
			task: "verbs", title: "Ranking of verb forms, the paper's measure", note: "Trained on 9 % of the authors' table, as in the paper.",
			figures: attractors(0), baselines: append(agreementBaselines(), moreFrequent), compared: totalBalanced,
			run: func(d Data) experiment.Run {
				r := experiment.Agreement()
				path := filepath.Join(d["linzen"], verbsFile)
				if unpacked := strings.TrimSuffix(path, ".gz"); there(path) != nil && there(unpacked) == nil {
					path = unpacked
				}
				r.Task.Value = agreement.Verbs{Path: path}
				return r
			},
		},
		{
			task: "pairs", title: "Ranking of sentence pairs", note: "Language models trained on books rank whole sentences from Wikipedia with both forms of their verb. This is not the paper's measure, and the books are a small substitute for a larger corpus.",
			figures: attractors(0), baselines: append(agreementBaselines(), moreFrequent), compared: totalBalanced,
			run: func(d Data) experiment.Run {
				r := experiment.Agreement()
				r.Task.Value = agreement.Pairs{Path: filepath.Join(d["linzen"], pairsFile), Text: d["prose"], MinCount: 2}
				return r
			},
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
	missing: agreementMissing,
}

const (
	testSet       = "test"
	totalBalanced = "total balanced"
	verbsFile     = "agr_50_mostcommon_10K.tsv.gz"
	pairsFile     = "subj_agr_filtered.text"
)

// agreementTransformer is the width of the Transformer: the larger the vocabulary, the smaller the part of the parameters in its layers.
func agreementTransformer(r experiment.Run) int {
	if _, ok := r.Task.Value.(agreement.Pairs); ok {
		return 108
	}
	return 100
}

// peak is a cosine schedule with another peak.
func peak(s experiment.Schedule, rate float64) experiment.Schedule {
	c := s.Value.(schedule.Cosine)
	return experiment.Schedule{Value: schedule.Cosine{Peak: rate, Floor: rate / 20, Warmup: c.Warmup}}
}

// extendedRows is the fraction of the training rows that are extended with phrases of others: without it, models learn the number of the last word
// from natural rows, and of the only noun between from enriched ones (LOG.md).
const extendedRows = 0.75

// numberColumn is a regime and a form of the numpred files.
func numberColumn(label, title string, regime agreement.Regime, base func() experiment.Run) metricColumn {
	note := "Trained on nine tenths of numpred.val, about 14,200 rows with the natural distribution of attractors: a tenth of the paper's training data. The test set contains all rows except those whose words may occur in training. "
	if regime == agreement.Enriched {
		note = "Trained additionally on four fifths of numpred.test.1, so that three quarters of the rows have an attractor; in natural text about one sentence in twenty does. **Not comparable with the paper's table.** "
	}
	note += fmt.Sprintf("For all models, one to four prepositional phrases from other training rows are inserted before the verb in a fraction %g of the training rows. The number of the verb stays the same, so these rows contain more attractors.", extendedRows)
	return metricColumn{
		task: label, title: title, note: note, figures: attractors(1), baselines: agreementBaselines(), compared: totalBalanced,
		run: func(d Data) experiment.Run {
			r := base()
			if regime == agreement.Natural { // a quarter of the rows
				r.Training.Steps = 1200
				r.Training.Schedule = peak(r.Training.Schedule, 0.02)
			}
			switch of := r.Task.Value.(type) {
			case agreement.Number:
				r.Training.Steps = 1200 // rows of all words take longer than those of a class
				of.Path, of.Regime, of.Extended = d["linzen"], regime, extendedRows
				r.Task.Value = of
			case agreement.Classes:
				of.Path, of.Regime, of.Extended = d["linzen"], regime, extendedRows
				r.Task.Value = of
			}
			return r
		},
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

// agreementMissing is an error if a file that a run reads is not there.
func agreementMissing(r experiment.Run) error {
	switch d := r.Task.Value.(type) {
	case agreement.Number:
		return numpredThere(d.Path)
	case agreement.Classes:
		return numpredThere(d.Path)
	case agreement.Verbs:
		return there(d.Path)
	case agreement.Pairs:
		return errors.Join(there(d.Path), there(d.Text))
	}
	return fmt.Errorf("the task is %s, which is not part of table 2", r.Task.Value)
}

func numpredThere(folder string) error {
	names := []string{"numpred.val"}
	for k := 1; k <= 5; k++ {
		names = append(names, fmt.Sprintf("numpred.test.%d", k))
	}
	for _, name := range names {
		if err := there(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// there is an error if a file or folder is not.
func there(path string) error {
	_, err := os.Stat(path)
	return err
}

// modelRows are the models of tables 2 and 3, with the paper's figures by model and task. The LSTM is as wide as the Universal Transformer,
// the Transformer has the width given for a run: all have as many parameters, within a tenth. The adaptive row has the policy of the run adaptive.
func modelRows(paper map[string]map[string][]string, transformer func(experiment.Run) int, adaptive func() experiment.Run) []metricRow {
	policy := adaptive().Policy()
	return []metricRow{
		{name: "lstm", title: "LSTM", paper: paper["lstm"], configure: func(r *experiment.Run) {
			*r = experiment.LSTM(*r)
			if r.Training.Muon > 0 { // rates that suit attention are too high for it (LOG.md)
				r.Training.Schedule = peak(r.Training.Schedule, 0.003)
			}
		}},
		{name: "transformer", title: "Transformer", paper: paper["transformer"], configure: func(r *experiment.Run) { *r = experiment.Sized(experiment.Transformer(*r), transformer(*r)) }},
		{name: "", title: "Universal Transformer", paper: paper[""], configure: func(*experiment.Run) {}},
		{name: "adaptive", title: "UT with dynamic halting", paper: paper["adaptive"], configure: func(r *experiment.Run) { *r = r.WithPolicy(policy) }},
	}
}
