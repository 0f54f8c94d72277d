package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/lambada"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// The depths of LAMBADA: the paper's table 3 has 6, 8 and 9 steps, and adaptive ones, which took 8.2 steps on average.
var (
	lambadaSteps = halting.Fixed{Steps: 6}
	lambadaDepth = halting.Frozen{ACT: halting.ACT{MaxSteps: 9, Epsilon: 0.01, Bias: 1}}
)

// books is what a laptop learns from: a folder of novels, one of which is kept out for the own control set. Words that occur less than
// three times are unknown.
var books = lambada.Data{Path: "data/lambada", Version: lambada.Plain, Prose: "data/gutenberg", KeptOut: "chesterton-thursday.txt", MinCount: 3}

// Lambada is section 3.3 as a language model, at the size of a laptop and on few books: fill in task.lambada.path and prose. Its
// readout is tied: most of its weights are those of words. Measure with --count 0.
func Lambada() Run { return lambadaText("lambada", lambadaSteps) }

// LambadaAdaptive is Lambada with adaptive halting.
func LambadaAdaptive() Run { return lambadaText("lambada-adaptive", lambadaDepth) }

// LambadaReading is section 3.3 as reading comprehension: an encoder that answers with a word of the context.
func LambadaReading() Run { return lambadaReading("lambada-reading", lambadaSteps) }

// LambadaReadingAdaptive is LambadaReading with adaptive halting.
func LambadaReadingAdaptive() Run { return lambadaReading("lambada-reading-adaptive", lambadaDepth) }

// LambadaReadingAnnotated is LambadaReading that learns nine tenths of the development set too, half of the examples: of the text that
// LAMBADA was made of, with the words that people found, where the books at hand are a century or two older.
func LambadaReadingAnnotated() Run {
	r := LambadaReading()
	r.Name = "lambada-reading-annotated"
	of := r.Task.Value.(lambada.Reading)
	of.Annotated = 0.5
	r.Task.Value = of
	r.Training.Steps = 2000
	return r
}

// LambadaPaper is the language model for who has the authors' archive with its 2,662 novels: their 60,000 most frequent words, as in
// their code, and its size, base: width 1024, filter 4096, 16 heads, 6 steps. The paper does not state its own. It wants accelerators.
// Paper: perplexity 319, accuracy 0.17 on the test, with 6 steps.
func LambadaPaper() Run {
	r := authorsLambada(Lambada())
	r.Name = "lambada-paper"
	r.Task.Value = lambada.Language{Data: novels, Length: 256}
	return r
}

// LambadaReadingPaper is LambadaReading likewise. Paper: accuracy 0.5216 on the test, with 6 steps.
func LambadaReadingPaper() Run {
	r := authorsLambada(LambadaReading())
	r.Name = "lambada-reading-paper"
	r.Task.Value = lambada.Reading{Data: novels, LastOnly: true}
	return r
}

// novels is the authors' archive.
var novels = lambada.Data{Path: "data/lambada", Version: lambada.Plain, Vocabulary: 60_000}

func lambadaText(name string, depth halting.Policy) Run {
	r := lambadaRun(name, lambada.Language{Data: books, Length: 96})
	u := lambadaModel(depth)
	u.TiedReadout = true
	r.Model = Model{LanguageModel{u}}
	r.Training.Steps, r.Training.Muon = 3000, 0.95
	r.Training.Schedule = cosine(8e-3, 100)
	r.Training.Batch = Batch{Tokens: 1536, Boundaries: []int{32, 64, 95, 128}}
	return r
}

// lambadaReading learns from passages that are like those of LAMBADA: the last sentence does not give the answer away. Most content words
// are hidden, so that what is learned of these few books is how passages refer, more than which words are in them, and training is
// short: after a few hundred updates the development set is answered worse (LOG.md).
func lambadaReading(name string, depth halting.Policy) Run {
	r := lambadaRun(name, lambada.Reading{Data: books, Hidden: 0.8, Withheld: true})
	u := lambadaModel(depth)
	u.Dropout = universal.Dropout{Embedding: 0.2, Transition: 0.2, Residual: 0.2}
	r.Model = Model{Pointer{Universal: u, Evidence: true}}
	r.Training.Batch = Batch{Rows: 32, Boundaries: []int{64, 80, 96, 112, 128, 160}}
	r.Training.BestByAccuracy = true
	r.Training.Steps, r.Training.Average = 800, 0.99
	r.Training.Schedule = cosine(2e-3, 100)
	r.Training.Validation, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 2000, 100, 100
	return r
}

func lambadaModel(depth halting.Policy) Universal {
	return Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true, PreNorm: true,
			Dropout: universal.Dropout{Embedding: 0.1, Transition: 0.1, Residual: 0.1},
		},
		Transition: Transition{universal.SeparableConvolution{Filter: 256}},
		Halting:    Halting{depth},
		Positions:  Positions{universal.FromOne{}},
	}
}

func lambadaRun(name string, of task.Definition) Run {
	r := Base()
	r.Name = name
	r.Task = Task{of}
	r.Training.Ponder = authorsPonder
	r.Training.WeightDecay, r.Training.DecayVectors = 0.1, true
	r.Training.Validation = 500
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 50, 500, 500
	return r
}

// authorsLambada is a run at the size of the authors' base set, with its optimiser.
func authorsLambada(r Run) Run {
	base := func(u Universal) Universal {
		u.Width, u.Heads = 1024, 16
		u.Transition.Value = universal.FeedForward{Filter: 4096}
		u.Dropout = universal.Dropout{Embedding: 0.1, Attention: 0.1, Transition: 0.1, Residual: 0.3}
		return u
	}
	switch m := r.Model.Value.(type) {
	case LanguageModel:
		r.Model.Value = LanguageModel{base(m.Universal)}
	case Pointer:
		r.Model.Value = Pointer{Universal: base(m.Universal)}
	}
	r.Training.Schedule = Schedule{schedule.InverseSquareRoot{Factor: 2, Warmup: 8000}}
	r.Training.WeightDecay, r.Training.DecayVectors = 0, false
	r.Training.Steps, r.Training.Average, r.Training.Muon = 200_000, 0, 0
	r.Training.Validation, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 500, 500, 500
	r.Training.Batch = Batch{Tokens: 4096}
	return r
}
