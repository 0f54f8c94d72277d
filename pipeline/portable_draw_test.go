package pipeline_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// drawRun draws a valid configuration. i determines kind and halting policy.
func drawRun(t *testing.T, rng *rand.Rand, i int) (experiment.Run, task.Vocabularies) {
	t.Helper()
	for attempt := range 1000 {
		kinds, n := stepKinds, i
		if i >= stepCases {
			kinds, n = otherKinds, i-stepCases
		}
		kind, round := kinds[n%len(kinds)], n/len(kinds)
		v := drawVocabularies(t, rng, kind)
		config := map[string]any{"name": "random", "task": json.RawMessage(kind.task), "model": map[string]any{kind.name: drawModel(rng, kind, round, n+round+attempt/200)}}
		if kind.transduces && rng.IntN(3) == 0 {
			config["source_end"] = true
		}
		data, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		run, err := experiment.Parse(data)
		if err == nil && run.Model.Value.Build(v, 1).Validate() == nil {
			return run, v
		}
		if err != nil && !strings.Contains(err.Error(), "model.") {
			t.Fatalf("%s: %v", data, err)
		}
	}
	t.Fatalf("no valid configuration of %d", i)
	return experiment.Run{}, task.Vocabularies{}
}

// A portableKind is a kind of model with a task that it learns.
type portableKind struct {
	name, task string
	source     bool
	transduces bool
	same       bool // answers with tokens of its source
	pairs      bool // may have several tokens at a position
}

var stepKinds = []portableKind{
	{name: "encoder_decoder", task: `{"copy": {}}`, source: true, transduces: true},
	{name: "classifier", task: `{"labels": {"path": "x.csv"}}`, source: true, pairs: true},
	{name: "encoder_decoder", task: `{"reverse": {}}`, source: true, transduces: true},
	{name: "language_model", task: `{"text": {"path": "x.txt"}}`},
	{name: "tagger", task: `{"tags": {"path": "x.tsv"}}`, source: true},
	{name: "encoder_decoder", task: `{"addition": {}}`, source: true, transduces: true},
	{name: "pointer", task: `{"lambada_reading": {"path": "x", "prose": "y"}}`, source: true, same: true},
}

var otherKinds = []portableKind{
	{name: "lstm_encoder_decoder", task: `{"copy": {}}`, source: true, transduces: true},
	{name: "lstm_classifier", task: `{"labels": {"path": "x.csv"}}`, source: true, pairs: true},
	{name: "lstm_tagger", task: `{"tags": {"path": "x.tsv"}}`, source: true},
	{name: "lstm_pointer", task: `{"lambada_reading": {"path": "x", "prose": "y"}}`, source: true, same: true},
	{name: "lstm_language_model", task: `{"text": {"path": "x.txt", "lines": true}}`},
	{name: "neural_gpu", task: `{"reverse": {}}`, source: true, transduces: true},
}

// drawVocabularies draws vocabularies that fit a kind.
func drawVocabularies(t *testing.T, rng *rand.Rand, kind portableKind) task.Vocabularies {
	t.Helper()
	vocabulary := func() *vocab.Vocabulary {
		tokens := []string{"+", "-"}
		for i := range 3 + rng.IntN(6) {
			tokens = append(tokens, fmt.Sprint(i))
		}
		if kind.same {
			tokens = append(tokens, task.Question)
		}
		var options []vocab.Option
		if rng.IntN(2) == 0 {
			options = append(options, vocab.WithUnknown())
		}
		made, err := vocab.New(tokens, options...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	v := task.Vocabularies{Target: vocabulary()}
	if kind.source {
		v.Source = vocabulary()
	}
	if kind.same || kind.source && rng.IntN(2) == 0 {
		v.Source = v.Target
	}
	if kind.pairs {
		v.TokensPerPosition = rng.IntN(4)
	}
	return v
}

// pick returns a random element.
func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// drawModel draws the fields of a model; round alternates switches of a kind, and policy is the number of the halting policy.
func drawModel(rng *rand.Rand, kind portableKind, round, policy int) map[string]any {
	coin := func() bool { return rng.IntN(2) == 0 }
	fields := map[string]any{"scale_embedding": coin(), "shared_embedding": rng.IntN(3) == 0, "tied_readout": rng.IntN(3) == 0}
	switch {
	case strings.HasSuffix(kind.name, "classifier"):
		fields["pool"] = []string{"mean", "last"}[round%2]
	case strings.HasSuffix(kind.name, "pointer"):
		fields["evidence"] = round%2 == 0
	case kind.name == "lstm_encoder_decoder":
		fields["attention"] = round%2 == 0
	}
	if kind.name == "neural_gpu" {
		return map[string]any{"width": 5 + rng.IntN(6)}
	}
	if strings.HasPrefix(kind.name, "lstm") {
		fields["width"], fields["layers"] = 3+rng.IntN(6), 1+round%3
		return fields
	}
	heads := 1 + rng.IntN(3)
	width := heads * (3 + rng.IntN(6))
	fields["width"], fields["heads"] = width, heads
	fields["transition"] = pick(rng, []map[string]any{
		{"feedforward": map[string]any{"filter": 7}}, {"separable_convolution": map[string]any{"filter": 6}},
		{"separable_convolution": map[string]any{"filter": 9, "widths": []int{1 + rng.IntN(4), 1 + rng.IntN(6)}}},
	})
	act := map[string]any{"max_steps": 3 + rng.IntN(3), "epsilon": pick(rng, []float64{0.01, 0.1, 0.3}), "bias": 0}
	fields["halting"] = []map[string]any{
		{"frozen": act}, {"fixed": map[string]any{"steps": 1 + rng.IntN(4)}}, {"graves": act}, {"length": map[string]any{"max": pick(rng, []int{0, 3})}},
		{"listing": act}, {"random": map[string]any{"min_steps": 1, "max_steps": 3}}, {"fixed": map[string]any{"steps": 3}},
	}[policy%7]
	fields["coordinates"] = pick(rng, []map[string]any{{"sinusoidal": map[string]any{}}, {"tensor2tensor": map[string]any{"alternate": coin()}}})
	fields["counting"] = pick(rng, []map[string]any{
		{"from_start": map[string]any{}}, {"from_end": map[string]any{}}, {"restarting": map[string]any{"separators": []string{"+"}}},
		{"both_ends": map[string]any{"separators": []string{"+", "-", "absent"}}},
	})
	fields["positions"] = pick(rng, []map[string]any{
		{"from_one": map[string]any{}}, {"random_offset": map[string]any{"max": 100}}, {"random_subset": map[string]any{"max": 100}}, {"random_runs": map[string]any{"max": 100}},
	})
	switch rng.IntN(4) {
	case 0, 1:
		fields["pre_norm"] = true
	case 2:
		fields["pre_norm"] = false
	default:
		fields["pre_norm"] = false
		fields["arrangement"] = pick(rng, []map[string]any{{"submitted": map[string]any{}}, {"first_version": map[string]any{}}})
	}
	if policy%7 == round { // branches need a transition that they can share
		fields["pre_norm"], fields["transition"] = false, map[string]any{"feedforward": map[string]any{"filter": 4 * heads}}
		fields["arrangement"] = map[string]any{"branched": map[string]any{"pre_norm": coin()}}
	}
	switch rng.IntN(3) {
	case 0:
		fields["learned_steps"], fields["scale_steps"] = true, coin()
	case 1:
		fields["untied_layers"] = coin()
	}
	if coin() {
		fields["embedding_width"] = 4
	}
	return fields
}

// draw draws ids: four rows of different lengths, with separators and ends among them.
func (c *portableCase) draw(rng *rand.Rand, v task.Vocabularies) {
	words := v.Positions()
	question, asks := int32(0), false
	if v.Source != nil {
		question, asks = v.Source.ID(task.Question)
	}
	for _, length := range []int{5, 9, 2, 7} { // the longest row of a pointer repeats a word
		var source, target []int32
		for p := range length * words {
			id := int32(rng.IntN(v.Target.Size()))
			if v.Source != nil {
				id = int32(rng.IntN(v.Source.Size()))
			}
			switch {
			case p%words == 0 && id == 0, rng.IntN(4) == 0 && p%words == 0:
				id = 2 // a separator
			case asks && (id == question || length == 9 && rng.IntN(5) > 0):
				id = 3
			}
			source = append(source, id)
		}
		if asks {
			source[0] = 3
			source = append(source, question, 2, 3)
		}
		for range 1 + length*2/3 {
			target = append(target, 1+int32(rng.IntN(v.Target.Size()-1)))
		}
		c.source, c.target = append(c.source, pad(source, 12*words)), append(c.target, pad(target, 8))
	}
}

func pad(ids []int32, length int) []int32 { return append(ids, make([]int32, length-len(ids))...) }
