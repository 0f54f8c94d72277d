package experiment_test

import (
	"reflect"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/training/schedule"
)

// Every named run of a Universal Transformer has its two baselines: they learn the same task from the same data with the same updates,
// but for clipping, are valid, and are themselves again after being written and read.
// Caught when planted: an adaptive Transformer; label smoothing changed along with clipping.
func TestBaselines(t *testing.T) {
	for _, e := range experiment.List {
		r := e.Run()
		switch r.Model.Value.(type) {
		case experiment.EncoderDecoder, experiment.Classifier, experiment.Pointer, experiment.LanguageModel:
		default:
			continue // a baseline itself
		}
		if e.Name == "base" { // is completed by its user
			r.Task = experiment.Copy().Task
		}
		for suffix, baseline := range map[string]experiment.Run{"-transformer": experiment.Transformer(r), "-lstm": experiment.LSTM(r)} {
			if err := baseline.Validate(); err != nil {
				t.Errorf("%s: %v", baseline.Name, err)
			}
			if baseline.Name != e.Name+suffix {
				t.Errorf("%s of %s", baseline.Name, e.Name)
			}
			if again, err := experiment.Parse(baseline.JSON()); err != nil || !reflect.DeepEqual(again, baseline) {
				t.Errorf("%s: written and read again it is %+v, %v", baseline.Name, again, err)
			}
			same := baseline
			same.Name, same.Model, same.Training.ClipNorm = r.Name, r.Model, r.Training.ClipNorm
			if !reflect.DeepEqual(same, r) {
				t.Errorf("%s differs from %s in more than its model", baseline.Name, e.Name)
			}
			if m, ok := baseline.Model.Value.(experiment.EncoderDecoder); ok {
				if fixed, ok := m.Halting.Value.(halting.Fixed); !ok || !m.UntiedLayers || fixed.Steps < 2 {
					t.Errorf("%s: %+v", baseline.Name, m)
				}
			}
		}
	}
}

// Published recipes of translation keep their optimizer and their tokens an update, whatever ours are: eight and two GPUs with 4,096 each. Caught
// when planted: ours for WMT14.
func TestPublishedTranslation(t *testing.T) {
	for r, gpus := range map[*experiment.Run]int{new(experiment.TranslateWMT14()): 8, new(experiment.Multi30kTiny()): 2} {
		tr := r.Training
		if tr.Muon != 0 || tr.WeightDecay != 0 || tr.Batch.Tokens != 4096 || tr.Accumulate != gpus {
			t.Errorf("%s: muon %v, weight decay %v, %d times %d tokens", r.Name, tr.Muon, tr.WeightDecay, tr.Accumulate, tr.Batch.Tokens)
		}
		if _, ok := tr.Schedule.Value.(schedule.InverseSquareRoot); !ok {
			t.Errorf("%s: schedule %v", r.Name, tr.Schedule)
		}
	}
}
