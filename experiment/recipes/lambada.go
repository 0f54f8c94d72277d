package recipes

import (
	"path/filepath"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/lambada"
	"universal-transformer/universal"
)

// table3 returns the recipes of LAMBADA (section 3.3): the last word of a passage, by a language model and by reading comprehension. The
// models have about the same number of parameters. The recipes of family lambada-paper need the authors' novels and an accelerator.
func table3() []Recipe {
	list := cells("table 3", slices.Concat(lambadaModels, []model{
		{family: "lambada-steps8", summary: "Universal Transformer, 8 steps", only: []string{"language"}, configure: func(r experiment.Run) experiment.Run {
			return withHalting(r, halting.Fixed{Steps: 8})
		}},
		{family: "lambada-steps9", summary: "Universal Transformer, 9 steps", only: []string{"language"}, configure: func(r experiment.Run) experiment.Run {
			return withHalting(r, halting.Fixed{Steps: 9})
		}},
	}), []column{
		{name: "language", needs: lambadaNeeds, run: lambadaLanguage},
		{name: "reading", needs: lambadaNeeds, run: lambadaReading},
		{name: "annotated", needs: lambadaNeeds, run: lambadaAnnotated},
	})
	list = append(list, cells("table 3", lambadaModels, []column{
		{name: "novels", needs: novelNeeds, run: novelsLanguage},
		{name: "novels-words", needs: novelNeeds, run: novelsWords},
		{name: "novels-reading", needs: novelNeeds, run: novelsReading},
		{name: "novels-pretrained", needs: novelNeeds, from: "novels-words", run: novelsReading},
	})...)
	return append(list, cells("table 3", []model{{family: "lambada-paper", summary: "Universal Transformer of the paper's base size, on the authors' novels", configure: inAuthorsSize}}, []column{
		{name: "language", needs: lambadaNeeds[:1], run: lambadaLanguage},
		{name: "reading", needs: lambadaNeeds[:1], run: lambadaReading},
	})...)
}

// lambadaModels are the rows of table 3 with a cell in every column.
var lambadaModels = []model{
	{family: "lambada-lstm", summary: "LSTM", configure: lambadaLSTM},
	{family: "lambada-transformer", summary: "Transformer", configure: func(r experiment.Run) experiment.Run { return withTransformer(r, 96) }},
	{family: "lambada", summary: "Universal Transformer, 6 steps", configure: unchanged},
	{family: "lambada-adaptive", summary: "UT with dynamic halting, at most 9 steps", configure: func(r experiment.Run) experiment.Run { return withHalting(r, adaptive(9, 1)) }},
}

var lambadaNeeds = []Need{
	{Name: "lambada", Field: "task.path", Default: filepath.Join("data", "lambada"), Usage: "the folder of the LAMBADA passages"},
	prose("task.prose"),
}

// books returns a task on novels of Project Gutenberg; one novel is held out for the control set. Words with fewer than three occurrences
// are unknown.
func books() lambada.Data {
	return lambada.Data{Path: lambadaNeeds[0].Default, Version: lambada.Plain, Prose: proseFolder, KeptOut: "chesterton-thursday.txt", MinCount: 3}
}

// lambadaLanguage is a language model of the books. Most of its weights are embeddings of words, so its readout is tied.
func lambadaLanguage() experiment.Run {
	r := lambadaRun(lambada.Language{Data: books(), Length: 96})
	u := lambadaModel(0.1)
	u.TiedReadout = true
	r.Model.Value = experiment.LanguageModel{Universal: u}
	r.Training.Config = updates(3000, 50, 500, 500)
	r.Training.Muon = 0.95
	r.Training.WeightDecay, r.Training.DecayVectors = 0.1, true
	r.Training.Schedule = cosine(8e-3, 100)
	r.Training.Batch = experiment.Batch{Tokens: 1536, Boundaries: []int{32, 64, 95, 128}}
	r.Training.Validation = 500
	return r
}

// lambadaReading is an encoder that answers with a word of the context. It is trained on passages like LAMBADA's, whose last sentence does
// not give the answer away. Most content words are hidden, so that it learns references rather than the words of these few books. Training
// is short: accuracy on the development set falls early.
func lambadaReading() experiment.Run {
	r := lambadaRun(lambada.Reading{Data: books(), Hidden: 0.8, Withheld: true})
	r.Model.Value = experiment.Pointer{Universal: lambadaModel(0.2), Evidence: true}
	r.Training.Config = updates(800, 50, 100, 100)
	r.Training.Average = 0.99
	r.Training.WeightDecay, r.Training.DecayVectors = 0.1, true
	r.Training.BestByAccuracy = true
	r.Training.Schedule = cosine(2e-3, 100)
	r.Training.Batch = experiment.Batch{Rows: 32, Boundaries: []int{64, 80, 96, 112, 128, 160}}
	r.Training.Validation = 2000
	return r
}

// lambadaAnnotated is also trained on nine tenths of the development set, which gives half of the examples: LAMBADA's own kind of text, with
// answers that people found. The books are one or two centuries older.
func lambadaAnnotated() experiment.Run {
	r := lambadaReading()
	of := r.Task.Value.(lambada.Reading)
	of.Annotated = 0.5
	r.Task.Value = of
	r.Training.Steps = 2000
	return r
}

// lambadaLSTM replaces the model by an LSTM of the same width, with a lower rate if Muon trains its matrices.
func lambadaLSTM(r experiment.Run) experiment.Run {
	if r = withLSTM(r, 128); r.Training.Muon > 0 {
		r = slower(r)
	}
	return r
}

func lambadaModel(dropout float64) experiment.Universal {
	return experiment.Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true, PreNorm: true,
			Dropout: universal.Dropout{Embedding: dropout, Transition: dropout, Residual: dropout},
		},
		Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 256}},
		Halting:    experiment.Halting{Value: sixSteps},
		Positions:  experiment.Positions{Value: universal.FromOne{}},
	}
}

func lambadaRun(of task.Definition) experiment.Run {
	return experiment.Run{Seed: 1, Task: experiment.Task{Value: of}}
}

// inAuthorsSize uses the authors' archive with its 2,662 novels, the 60,000 most frequent words, as in their code, and the size of its base
// setting: width 1024, filter 4096, 16 heads, 6 steps. The paper does not state the size. It needs an accelerator.
//
// Paper, test set, 6 steps: perplexity 319 and accuracy 0.17 of the language model, accuracy 0.5216 of reading comprehension.
func inAuthorsSize(r experiment.Run) experiment.Run {
	r = withUniversal(r, func(u *experiment.Universal) {
		u.Width, u.Heads = 1024, 16
		u.Transition.Value = universal.FeedForward{Filter: 4096}
		u.Dropout = universal.Dropout{Embedding: 0.1, Attention: 0.1, Transition: 0.1, Residual: 0.3}
	})
	novels := lambada.Data{Path: lambadaNeeds[0].Default, Version: lambada.Plain, Vocabulary: 60_000}
	switch r.Task.Value.(type) {
	case lambada.Language:
		r.Task.Value = lambada.Language{Data: novels, Length: 256}
	case lambada.Reading:
		r.Task.Value = lambada.Reading{Data: novels, LastOnly: true}
		m := r.Model.Value.(experiment.Pointer)
		m.Evidence = false
		r.Model.Value = m
	}
	best := r.Training.BestByAccuracy
	r.Training.Config = updates(200_000, 50, 500, 500)
	r.Training.BestByAccuracy = best
	r.Training.Schedule = inverseSquareRoot(2, 8000)
	r.Training.Batch = experiment.Batch{Tokens: 4096}
	r.Training.Validation = 500
	return r
}
