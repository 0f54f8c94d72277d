package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/universal"
)

// The recurrent step has a line of its own. Caught when planted: norms before and after exchanged; no fields of a transition; an arrangement
// that is left out.
func TestInfoOfSteps(t *testing.T) {
	for dir, want := range map[string]string{
		"../../models/reverse": "transition feedforward (filter 256), norms after the sub-layers, coordinates sinusoidal, positions from_one\n",
		"../../models/babi":    "transition separable_convolution (filter 256, widths [3, 1]), norms before the sub-layers, coordinates sinusoidal, positions from_one\n",
	} {
		dir, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		if out := succeeds(t, "info", dir); !strings.Contains(out, "\nstep        "+want) {
			t.Errorf("%s, want %q", out, want)
		}
	}
	u := experiment.Universal{
		Transition:  experiment.Transition{Value: universal.FeedForward{Filter: 9}},
		Arrangement: experiment.Arrangement{Value: universal.Submitted{}}, Coordinates: experiment.Coordinates{Value: universal.Tensor2Tensor{Alternate: true}},
		Positions: experiment.Positions{Value: universal.RandomOffset{Max: 7}},
	}
	if got := u.DescribeStep(); got != "transition feedforward (filter 9), arrangement submitted, coordinates tensor2tensor (alternate true), positions random_offset (max 7)" {
		t.Error(got)
	}
}

// The number of updates comes with that of the newest checkpoint if the last ones are not saved, or with the words that there is none.
// Caught when planted: the oldest checkpoint in place of the newest; the words also if all are saved; nothing said without a checkpoint, or
// of exported weights.
func TestInfoOfUnsavedUpdates(t *testing.T) {
	for want, i := range map[string]pipeline.Info{
		"updates          40 of 100, saved up to update 20\n": {Step: 40, Steps: 100, Checkpoints: []int64{10, 20}},
		"updates          40 of 100\n":                        {Step: 40, Steps: 100, Checkpoints: []int64{20, 40}},
		"updates          0 of 100\nlast":                     {Steps: 100, Status: pipeline.WeightsOnly},
		"updates          100 of 100\ncheckpoints      none yet: training starts from the beginning if it is resumed\n": {Step: 100, Steps: 100},
	} {
		i.Newest = &pipeline.Validation{Step: i.Step}
		var b bytes.Buffer
		if err := printInfo(&b, i); err != nil || !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "last validation  update ") {
			t.Errorf("%s, %v, want %q", &b, err, want)
		}
	}
}

// A classifier answers each example with one token, so it has one accuracy; a run without a marked checkpoint says which one is used.
// Caught when planted: both accuracies of a classifier; one accuracy of sequences; no line without a marked checkpoint.
func TestInfoOfValidations(t *testing.T) {
	at := func(tokens float64) *pipeline.Validation {
		return &pipeline.Validation{Step: 40, Metrics: []pipeline.Figure{
			{Name: "cross_entropy", Value: 0.25}, {Name: "sequence_accuracy", Value: 0.5}, {Name: "sequences", Value: 4}, {Name: "token_accuracy", Value: 0.5}, {Name: "tokens", Value: tokens},
		}}
	}
	for want, i := range map[string]pipeline.Info{
		"\nbest             update 40: cross entropy 0.25, accuracy 0.5\n":                                                               {Best: at(4)},
		"\nbest             update 40: cross entropy 0.25, sequence accuracy 0.5, token accuracy 0.5\n":                                  {Best: at(12)},
		"\nbest             no checkpoint is marked, because best.json is missing: commands use that of update 10\nlast validation  upd": {Unmarked: "best.json is missing", Used: 10, Checkpoints: []int64{10, 20}},
	} {
		var b bytes.Buffer
		i.Newest = at(4)
		if err := printInfo(&b, i); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s, %v, want %q", &b, err, want)
		}
	}
}
