package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/task/text"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// ownModel is a small Universal Transformer of fixed depth, with layer normalization before the sub-layers.
func ownModel(width, steps int, dropout universal.Dropout) Universal {
	return Universal{
		Config:     universal.Config{Width: width, Heads: 4, ScaleEmbedding: true, PreNorm: true, Dropout: dropout},
		Transition: Transition{universal.FeedForward{Filter: 4 * width}},
		Halting:    Halting{halting.Fixed{Steps: steps}},
		Positions:  Positions{universal.FromOne{}},
	}
}

// tenth is a dropout rate of 0.1 in the layers.
var tenth = universal.Dropout{Attention: 0.1, Transition: 0.1, Residual: 0.1}

// ownTraining trains with Muon, weight decay and a mean of the weights over about the last hundred updates. With few data it generalizes
// better than Adam alone, and the mean makes up for a learning rate that is still high when training ends early. The first arguments count
// updates: in all, and between validations and checkpoints.
//
// If the depth is made adaptive, the weight of the ponder cost is a tenth of the authors' value: with the authors' value, small translation
// models halt after one step early in training.
func ownTraining(steps, every int64, rate schedule.Cosine, b Batch) Training {
	return Training{
		Config: schedule.Config{
			Steps: steps, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1, WeighByTokens: true,
			Muon: 0.95, WeightDecay: 0.1, Average: 0.99,
			Ponder:   objective.PonderSchedule{Weight: 0.001},
			LogEvery: 20, EvaluateEvery: every, CheckpointEvery: every, Keep: 2,
		},
		Schedule: Schedule{rate}, Batch: b,
	}
}

// ownPairs learns pairs. The checkpoint with the most correct validation sequences is kept. Training ends after ten consecutive
// validations without a better one, or after three without a mistake.
func ownPairs() Run {
	r := Run{
		Name: "own", Seed: 1, Task: Task{table.Table{}}, Model: Model{EncoderDecoder{ownModel(64, 4, tenth)}},
		Training: ownTraining(9000, 100, schedule.Cosine{Peak: 4e-3, Floor: 5e-5, Warmup: 200}, Batch{Tokens: 1088}),
	}
	r.Training.Validation, r.Training.BestByAccuracy = 512, true
	r.Training.Stop = schedule.Stop{Patience: 10, Perfect: 3}
	return r
}

// ownLabels classifies texts, split into subwords. It is selected and stopped as ownPairs.
func ownLabels() Run {
	r := Run{
		Name: "own", Seed: 1, Task: Task{labels.Labels{Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 2000}}},
		Model:    Model{Classifier{Pool: MeanPool, Universal: ownModel(64, 3, tenth)}},
		Training: ownTraining(3000, 50, schedule.Cosine{Peak: 4e-3, Floor: 5e-5, Warmup: 100}, Batch{Rows: 32}),
	}
	r.Training.Validation, r.Training.BestByAccuracy, r.Training.LabelSmoothing = 2000, true, 0.1
	r.Training.Stop = schedule.Stop{Patience: 10, Perfect: 3}
	return r
}

// ownTags tags words. Words that occur once in training are read as unknown ones, so that the model learns to tag those by their affixes
// and their sentence. The checkpoint with the best measure, F1 of the spans or token accuracy, is kept.
func ownTags() Run {
	r := ownLabels()
	r.Task.Value = tags.Tags{Affixes: 3, MinCount: 2}
	r.Model.Value = Tagger{r.Model.Value.(Classifier).Universal}
	r.Training.BestByAccuracy, r.Training.BestByMeasure, r.Training.Decoded = false, true, 2000
	return r
}

// ownText is a character-level language model. A book takes some minutes on a laptop. Training ends after five consecutive validations
// without a lower cross entropy.
func ownText() Run {
	r := Run{
		Name: "own", Seed: 1, Task: Task{text.Text{Length: 128}}, Model: Model{LanguageModel{ownModel(128, 4, universal.Dropout{})}},
		Training: ownTraining(1500, 150, schedule.Cosine{Peak: 8e-3, Floor: 1e-4, Warmup: 200}, Batch{Rows: 16, Boundaries: []int{127}}),
	}
	r.Training.Validation = 64
	r.Training.Stop = schedule.Stop{Patience: 5}
	return r
}

// ownTranslation is a translation that trains in minutes: smaller than translation/multi30k, which is for tens of thousands of pairs. The
// checkpoint with the best BLEU of decoded validation sentences is kept.
func ownTranslation() Run {
	model := ownModel(128, 4, universal.Dropout{Embedding: 0.1, Residual: 0.1})
	model.SharedEmbedding, model.TiedReadout = true, true
	r := Run{
		Name: "own", Seed: 1, Task: Task{translation.Translation{Choice: subword.Choice{TokenizerSize: 10_000}, MaxLength: 100, MinHeldOut: 100}},
		Model: Model{EncoderDecoder{model}},
		Training: ownTraining(1500, 150, schedule.Cosine{Peak: 8e-3, Floor: 2e-5, Warmup: 200},
			Batch{Tokens: 2048, Boundaries: []int{10, 14, 18, 24, 32, 48, 72, 100}}),
	}
	r.Training.Decoded, r.Training.LabelSmoothing, r.Training.BestByMeasure = 500, 0.1, true
	r.Training.Stop = schedule.Stop{Patience: 6, Perfect: 3}
	return r
}
