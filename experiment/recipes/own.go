package recipes

import (
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/task"
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
		Name: "demo", Group: "start", Summary: "adaptive model that reverses 1 to 16 decimal digits", Expect: "half a minute on a laptop", Run: demo,
	}}
}

// demo reverses up to 16 decimal digits with dynamic halting; halted states are copied, as in section 2.2. Layers are normalized after the
// sub-layers, as in the paper's equations. Digits are counted from both ends, and in training positions have random gaps, so that longer
// numbers are reversed, too. Training ends as soon as 99.9 % of the validation sequences are correct.
func demo() experiment.Run {
	model := experiment.Universal{
		Config:     universal.Config{Width: 64, Heads: 2, ScaleEmbedding: true},
		Transition: experiment.Transition{Value: universal.FeedForward{Filter: 256}},
		Halting:    experiment.Halting{Value: adaptive(4, -1)},
		Counting:   experiment.Counting{Value: universal.BothEnds{}},
		Positions:  experiment.Positions{Value: universal.RandomRuns{Max: 128}},
	}
	r := experiment.Run{
		Seed: 1, Task: experiment.Task{Value: algorithmic.Reverse{Digits: algorithmic.Digits{Base: 10, MaxLength: 16}}},
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: model}},
		Training: experiment.Training{
			Config: updates(600, 20, 100, 100), Schedule: cosine(0.01, 50), Validation: 512,
			Batch: experiment.Batch{Rows: 64, Boundaries: []int{16}}, // a single shape, because compiling would cost more than padding
		},
	}
	r.Training.Muon, r.Training.Ponder.Weight = 0.95, 0.005
	r.Training.Stop = schedule.Stop{Accuracy: 0.999}
	return r
}

// ownData returns the starting points for your own data: the defaults of configuration files, which package experiment states.
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

// own returns the defaults for own data of a type of task, with its files.
func own(d task.Definition, files string) experiment.Run {
	r, err := experiment.DefaultsFor(d).Set(files)
	if err != nil {
		panic(fmt.Sprintf("recipes: %v", err)) // the defaults are valid
	}
	return r
}

func ownPairs() experiment.Run  { return own(table.Table{}, "task.path=pairs.tsv") }
func ownLabels() experiment.Run { return own(labels.Labels{}, "task.path=labels.csv") }
func ownTags() experiment.Run   { return own(tags.Tags{}, "task.path=tags.conll") }
func ownText() experiment.Run   { return own(text.Text{}, "task.path=text.txt") }

func ownTranslation() experiment.Run {
	return own(translation.Translation{}, `task.training=[{"source": "train.en", "target": "train.de"}]`)
}
