package pipeline_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/task/tags"
	"universal-transformer/training"
)

// damaged returns the model of a run with weights that are no numbers.
func damaged(t *testing.T, dir string) *pipeline.Model {
	t.Helper()
	intact, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer intact.Close()
	parameters := training.Parameters(lastCheckpoint(t, dir).Tensors)
	for _, p := range parameters {
		for at := 0; at < len(p.Data); at += 4 {
			binary.LittleEndian.PutUint32(p.Data[at:], 0x7fc00000) // NaN
		}
	}
	out := filepath.Join(t.TempDir(), "damaged")
	if err := pipeline.WriteWeights(out, enginetest.Backend(t), intact.Run, intact.Vocabularies, parameters, 1); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(out, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// Scores, classes and tags of a model with weights that are no numbers are errors of their texts: JSON, for one, has no such numbers.
// Caught when planted: each of them without an error.
func TestWeightsThatAreNoNumbers(t *testing.T) {
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%s: %v", what, err)
		}
	}
	scored, err := damaged(t, "../models/reverse").Score(t.Context(), []pipeline.Pair{{Source: "12", Target: "21"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	refused("score", scored[0].Err)
	const story = "Mary went to the kitchen. Where is Mary?"
	answers := damaged(t, "../models/babi")
	classified, err := answers.ClassifyAll(t.Context(), []string{story}, 0)
	if err != nil {
		t.Fatal(err)
	}
	refused("class", classified[0].Err)
	_, err = answers.Classify(t.Context(), story)
	refused("class with its attention", err)
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "tagger")
	step := r.Model.Value.(experiment.UniversalKind).Step()
	r.Task.Value, r.Model.Value = tags.Tags{Path: taggedNumbers(t), Affixes: 1, HeldOut: 0.3}, experiment.Tagger{Universal: step}
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	tagged, err := damaged(t, dir).Tag(t.Context(), []string{"1 2 3"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	refused("tags", tagged[0].Err)
}
