package recipes

import (
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/task/text"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// start is the first recipe to try.
func start() []Recipe {
	return []Recipe{{
		Name: "demo", Group: "start", Summary: "adaptive model that reverses 1 to 16 decimal digits", Expect: "minutes on a laptop", Run: demo,
	}}
}

// demo reverses up to 16 decimal digits with dynamic halting; halted states are copied, as in section 2.2. Layers are normalized after the
// sub-layers, as in the paper's equations. Training ends as soon as 99 % of the validation sequences are correct.
func demo() experiment.Run {
	model := experiment.Universal{
		Config:     universal.Config{Width: 64, Heads: 4, ScaleEmbedding: true},
		Transition: experiment.Transition{Value: universal.FeedForward{Filter: 256}},
		Halting:    experiment.Halting{Value: adaptive(4, 0)},
		Positions:  experiment.Positions{Value: universal.FromOne{}},
	}
	r := experiment.Run{
		Seed: 1, Task: experiment.Task{Value: algorithmic.Reverse{Base: 10, MaxLength: 16}},
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: model}},
		Training: experiment.Training{
			Config: updates(3000, 20, 100, 100), Schedule: cosine(1e-3, 200), Validation: 512,
			Batch: experiment.Batch{Rows: 64, Boundaries: []int{16}}, // a single shape, because compiling would cost more than padding
		},
	}
	r.Training.Stop = schedule.Stop{Accuracy: 0.99}
	return r
}

// ownData returns the starting points for your own data.
func ownData() []Recipe {
	return []Recipe{
		{
			Name: "own-pairs", Group: "own data", Summary: "pairs of input and output, one per line, separated by a tab", Run: ownPairs,
			Needs: []Need{{Name: "pairs", Field: "task.path", Default: "pairs.tsv", Usage: "your file of pairs"}},
		},
		{
			Name: "own-labels", Group: "own data", Summary: "a classifier of your own texts: one text and its label per row, TSV or CSV", Run: ownLabels,
			Needs: []Need{{Name: "labels", Field: "task.path", Default: "labels.csv", Usage: "your texts and labels"}},
		},
		{
			Name: "own-tags", Group: "own data", Summary: "a tag for each word of your own sentences, such as names: one word and its tag per row", Run: ownTags,
			Needs: []Need{{Name: "tags", Field: "task.path", Default: "tags.conll", Usage: "your words and tags"}},
		},
		{
			Name: "own-text", Group: "own data", Summary: "a character-level language model of your own text", Run: ownText,
			Needs: []Need{{Name: "text", Field: "task.path", Default: "text.txt", Usage: "your text"}},
		},
		{
			Name: "own-translation", Group: "own data", Summary: "translation, trained on your own parallel files: set task.training", Run: ownTranslation,
		},
	}
}

// ownModel is a small Universal Transformer of fixed depth, with layer normalization before the sub-layers.
func ownModel(width, steps int, dropout universal.Dropout) experiment.Universal {
	return experiment.Universal{
		Config:     universal.Config{Width: width, Heads: 4, ScaleEmbedding: true, PreNorm: true, Dropout: dropout},
		Transition: experiment.Transition{Value: universal.FeedForward{Filter: 4 * width}},
		Halting:    experiment.Halting{Value: halting.Fixed{Steps: steps}},
		Positions:  experiment.Positions{Value: universal.FromOne{}},
	}
}

// tenth is a dropout rate of 0.1 in the layers.
var tenth = universal.Dropout{Attention: 0.1, Transition: 0.1, Residual: 0.1}

// withMuon trains with Muon, weight decay and a mean of the weights over about the last hundred updates. With few data it generalizes
// better than Adam alone, and the mean makes up for a learning rate that is still high when training ends early.
func withMuon(r experiment.Run) experiment.Run {
	r.Training.Muon, r.Training.WeightDecay, r.Training.Average = 0.95, 0.1, 0.99
	r.Training.Ponder, r.Training.WeighByTokens = lowPonder, true
	return r
}

// ownPairs equals the default configuration for user files. The checkpoint with the most correct validation sequences is kept. Training ends
// after ten consecutive validations without a better one, or after three without a mistake.
func ownPairs() experiment.Run {
	r := withMuon(experiment.Run{
		Seed: 1, Task: experiment.Task{Value: table.Table{Path: "pairs.tsv"}},
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: ownModel(64, 4, tenth)}},
		Training: experiment.Training{
			Config: updates(9000, 20, 100, 100), Schedule: cosineTo(4e-3, 5e-5, 200), Batch: experiment.Batch{Tokens: 1088}, Validation: 512,
		},
	})
	r.Training.BestByAccuracy = true
	r.Training.Stop = schedule.Stop{Patience: 10, Perfect: 3}
	return r
}

// ownLabels classifies texts, split into subwords. It is selected and stopped as own-pairs.
func ownLabels() experiment.Run {
	r := withMuon(experiment.Run{
		Seed: 1, Task: experiment.Task{Value: labels.Labels{Path: "labels.csv", Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 2000}}},
		Model: experiment.Model{Value: experiment.Classifier{Pool: experiment.MeanPool, Universal: ownModel(64, 3, tenth)}},
		Training: experiment.Training{
			Config: updates(3000, 20, 50, 50), Schedule: cosineTo(4e-3, 5e-5, 100), Batch: experiment.Batch{Rows: 32}, Validation: 2000,
		},
	})
	r.Training.BestByAccuracy, r.Training.LabelSmoothing = true, 0.1
	r.Training.Stop = schedule.Stop{Patience: 10, Perfect: 3}
	return r
}

// ownTags tags words. Words that occur once in training are read as unknown ones, so that the model learns to tag those by their affixes
// and their sentence. The checkpoint with the best measure, F1 of the spans or token accuracy, is kept.
func ownTags() experiment.Run {
	r := ownLabels()
	r.Task.Value = tags.Tags{Path: "tags.conll", Affixes: 3, MinCount: 2}
	r.Model.Value = experiment.Tagger{Universal: r.Model.Value.(experiment.Classifier).Universal}
	r.Training.BestByAccuracy, r.Training.BestByMeasure, r.Training.Decoded = false, true, 2000
	return r
}

// ownText is a character-level language model. A book takes some minutes on a laptop. Training ends after five consecutive validations
// without a lower cross entropy.
func ownText() experiment.Run {
	r := withMuon(experiment.Run{
		Seed: 1, Task: experiment.Task{Value: text.Text{Path: "text.txt", Length: 128}},
		Model: experiment.Model{Value: experiment.LanguageModel{Universal: ownModel(128, 4, universal.Dropout{})}},
		Training: experiment.Training{
			Config: updates(1500, 20, 150, 150), Schedule: cosineTo(8e-3, 1e-4, 200),
			Batch: experiment.Batch{Rows: 16, Boundaries: []int{127}}, Validation: 64,
		},
	})
	r.Training.Stop = schedule.Stop{Patience: 5}
	return r
}

// ownTranslation is a translation that trains in minutes: smaller than translation/multi30k, which is for tens of thousands of pairs. The
// checkpoint with the best BLEU of decoded validation sentences is kept.
func ownTranslation() experiment.Run {
	model := ownModel(128, 4, universal.Dropout{Embedding: 0.1, Residual: 0.1})
	model.SharedEmbedding, model.TiedReadout = true, true
	r := withMuon(experiment.Run{
		Seed: 1, Task: experiment.Task{Value: translation.Translation{
			Training: []translation.Corpus{{Source: "train.en", Target: "train.de"}}, Choice: subword.Choice{TokenizerSize: translationSubwords}, MaxLength: 100,
		}},
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: model}},
		Training: experiment.Training{
			Config: updates(1500, 20, 150, 150), Schedule: cosineTo(8e-3, 2e-5, 200),
			Batch:   experiment.Batch{Tokens: 2048, Boundaries: []int{10, 14, 18, 24, 32, 48, 72, 100}},
			Decoded: 500,
		},
	})
	r.Training.LabelSmoothing, r.Training.BestByMeasure = 0.1, true
	r.Training.Stop = schedule.Stop{Patience: 6, Perfect: 3}
	return r
}
