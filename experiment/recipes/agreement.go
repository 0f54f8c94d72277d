package recipes

import (
	"path/filepath"

	"universal-transformer/experiment"
	"universal-transformer/task"
	"universal-transformer/task/agreement"
	"universal-transformer/universal"
)

// table2 returns the recipes of subject-verb agreement (section 3.2), which predict the number of a verb from the words before it. The
// models have about the same number of parameters.
func table2() []Recipe {
	return cells("table 2", []model{
		{family: "agreement-lstm", summary: "LSTM", configure: func(r experiment.Run) experiment.Run { return slower(withLSTM(r, 128)) }},
		{family: "agreement-transformer", summary: "Transformer", configure: func(r experiment.Run) experiment.Run {
			return withTransformer(r, agreementWidth(r.Task.Value))
		}},
		{family: "agreement", summary: "Universal Transformer", configure: unchanged},
		{family: "agreement-adaptive", summary: "UT with dynamic halting", configure: func(r experiment.Run) experiment.Run { return withHalting(r, adaptive(6, 1)) }},
	}, []column{
		{name: "natural-text", needs: []Need{linzen("")}, run: func() experiment.Run { return fewRows(agreementText(numbers(agreement.Natural))) }},
		{name: "natural-classes", needs: []Need{linzen("")}, run: func() experiment.Run { return fewRows(agreementClasses(agreement.Natural)) }},
		{name: "enriched-text", needs: []Need{linzen("")}, run: enrichedText},
		{name: "enriched-classes", needs: []Need{linzen("")}, run: func() experiment.Run { return agreementClasses(agreement.Enriched) }},
		{name: "verbs", needs: []Need{linzen(verbsFile)}, run: func() experiment.Run {
			return agreementText(agreement.Verbs{Path: filepath.Join(linzenFolder, verbsFile)})
		}},
		{name: "forms", needs: []Need{linzen(""), linzenPairs("task.agreement_forms.pairs")}, run: agreementForms},
		{name: "forms-text", needs: []Need{linzen(""), linzenPairs("task.agreement_text_forms.pairs")}, run: func() experiment.Run { return agreementTextForms("", 0) }},
		{name: "pairs", needs: []Need{linzen(pairsFile), prose("task.agreement_pairs.text")}, run: func() experiment.Run {
			return agreementText(agreement.Pairs{Path: filepath.Join(linzenFolder, pairsFile), Text: proseFolder, MinCount: 2})
		}},
		{name: "pairs-novels", needs: []Need{linzen(pairsFile), manyNovels("task.agreement_pairs.text")}, run: pairsNovels},
		{name: "forms-pretrained", from: "pairs-novels", needs: []Need{linzen(""), linzenPairs("task.agreement_text_forms.pairs"), manyNovels("task.agreement_text_forms.text")},
			run: func() experiment.Run { return agreementTextForms(novelsFolder, novelsVocabulary) }},
	})
}

// Default locations of the data of tables 2 and 3.
var (
	linzenFolder = filepath.Join("data", "linzen")
	proseFolder  = filepath.Join("data", "gutenberg")
	novelsFolder = filepath.Join("data", "novels")
)

// novelsVocabulary is the number of words of the novels that models know, about as many as of the few books.
const novelsVocabulary = 12_000

const (
	verbsFile = "agr_50_mostcommon_10K.tsv.gz" // the authors' table of sentences
	pairsFile = "subj_agr_filtered.text"
)

func linzen(file string) Need {
	return Need{Name: "linzen", Field: "task.path", File: file, Default: linzenFolder, Usage: "the folder of the agreement files"}
}

// linzenPairs is a file of the same folder in another field.
func linzenPairs(field string) Need {
	n := linzen(pairsFile)
	n.Field = field
	return n
}

func prose(field string) Need {
	return Need{Name: "prose", Field: field, Default: proseFolder, Usage: "a folder of books to train on"}
}

// numbers returns the task whose sequences are the words before a verb, followed by the verb's number. In three quarters of the training
// rows, one to four prepositional phrases of other rows are inserted before the verb. Without them, models learn the number of the last
// word from natural rows, and the number of the only noun in between from enriched rows.
func numbers(regime agreement.Regime) agreement.Number {
	return agreement.Number{Path: linzenFolder, Regime: regime, MinCount: 2, Extended: 0.75}
}

// agreementText is a language model of the words before a verb and of its continuation.
func agreementText(of task.Definition) experiment.Run {
	r := agreementRun(of)
	u := agreementModel()
	u.TiedReadout = true
	r.Model.Value = experiment.LanguageModel{Universal: u}
	return r
}

// enrichedText has fewer updates than a classifier on the same rows, because its updates take longer.
func enrichedText() experiment.Run {
	r := agreementText(numbers(agreement.Enriched))
	r.Training.Steps = 1200
	return r
}

// agreementClasses is a classifier that reads all words before a verb and predicts its number. Checkpoints are selected by validation
// accuracy.
func agreementClasses(regime agreement.Regime) experiment.Run {
	r := agreementRun(agreement.Classes{Path: linzenFolder, Regime: regime, MinCount: 2, Extended: 0.75})
	r.Model.Value = experiment.Classifier{Universal: agreementModel(), Pool: experiment.LastPool}
	r.Training.BestByAccuracy = true
	r.Training.LabelSmoothing = 0.1
	return r
}

// agreementForms is the classifier of the natural regime, tested by the ranking of verb forms.
func agreementForms() experiment.Run {
	r := fewRows(agreementClasses(agreement.Natural))
	r.Task.Value = agreement.Forms{Number: agreement.Number(r.Task.Value.(agreement.Classes)), Pairs: filepath.Join(linzenFolder, pairsFile)}
	return r
}

// agreementTextForms is the language model of the natural regime, tested by the ranking of verb forms. It knows the most frequent words of a text,
// if there is one.
func agreementTextForms(text string, words int) experiment.Run {
	forms := agreementForms().Task.Value.(agreement.Forms)
	return fewRows(agreementText(agreement.TextForms{Forms: forms, Text: text, Vocabulary: words}))
}

// pairsNovels is a language model of many novels, trained on less than one epoch of them, with less dropout than on few rows.
func pairsNovels() experiment.Run {
	r := agreementText(agreement.Pairs{Path: filepath.Join(linzenFolder, pairsFile), Text: novelsFolder, Vocabulary: novelsVocabulary})
	r = withUniversal(r, func(u *experiment.Universal) {
		u.Dropout = universal.Dropout{Embedding: 0.1, Transition: 0.1, Residual: 0.1}
	})
	r.Training.Steps, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 10_000, 500, 500
	r.Training.Validation = 2000
	return r
}

// agreementWidth returns the width of the Transformer. A larger vocabulary leaves fewer parameters for the layers.
func agreementWidth(of task.Definition) int {
	switch d := of.(type) {
	case agreement.Pairs:
		return 108
	case agreement.TextForms:
		if d.Text != "" { // that of the model whose weights it starts from
			return 108
		}
	}
	return 100
}

// fewRows adapts a run to the natural regime, which has fewer rows than the enriched one.
func fewRows(r experiment.Run) experiment.Run {
	r.Training.Steps, r.Training.Schedule = 1200, cosine(0.02, 100)
	return r
}

// slower lowers the learning rate for LSTMs whose matrices Muon trains: the rates for attention are too high for them.
func slower(r experiment.Run) experiment.Run {
	r.Training.Schedule = cosine(0.003, 100)
	return r
}

// agreementModel has a separable convolution, which sees the phrase around a noun. With a feed-forward transition, accuracy with an
// attractor is lower.
func agreementModel() experiment.Universal {
	return experiment.Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true, PreNorm: true,
			Dropout: universal.Dropout{Embedding: 0.2, Transition: 0.2, Residual: 0.2},
		},
		Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 256}},
		Halting:    experiment.Halting{Value: fourSteps},
		Positions:  experiment.Positions{Value: universal.FromOne{}},
	}
}

// agreementRun trains with Muon: with Adam, models overfit the few rows before they learn to find the subjects.
func agreementRun(of task.Definition) experiment.Run {
	r := experiment.Run{
		Seed: 1, Task: experiment.Task{Value: of},
		Training: experiment.Training{
			Config: updates(3000, 50, 400, 400), Schedule: cosine(8e-3, 100),
			Batch: experiment.Batch{Rows: 64, Boundaries: []int{8, 16, 32}},
		},
	}
	r.Training.Muon, r.Training.Average = 0.95, 0.999
	r.Training.WeightDecay, r.Training.DecayVectors = 0.1, true
	return r
}
