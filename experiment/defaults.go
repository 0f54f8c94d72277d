package experiment

import (
	"reflect"

	"universal-transformer/internal/objective"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
)

// Defaults returns the default configuration for user files, see [Parse]: a small model of fixed depth, trained with Muon for at most a few
// thousand updates. It was chosen by the ten tasks of scripts/own_data.sh (docs/log.md). It has no task. The checkpoint with the most correct
// validation sequences is kept; training ends after ten consecutive validations without a better one, or after three without a mistake.
//
// If the depth is made adaptive, the weight of the ponder cost is a tenth of the authors' value: with the authors' value, small translation
// models halt after one step early in training.
//
// Published results do not depend on it: package recipes states all fields of its configurations.
func Defaults() Run {
	return Run{
		Name:  "own",
		Seed:  1,
		Model: Model{EncoderDecoder{small()}},
		Training: Training{
			Config: schedule.Config{
				Steps: 9000, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1, WeighByTokens: true,
				Muon: 0.95, WeightDecay: 0.1, Average: 0.99,
				Ponder:   objective.PonderSchedule{Weight: 0.001},
				LogEvery: 20, EvaluateEvery: 100, CheckpointEvery: 100, Keep: 2,
				Stop: schedule.Stop{Patience: 10, Perfect: 3}, BestByAccuracy: true,
			},
			Schedule:   Schedule{schedule.Cosine{Peak: 4e-3, Floor: 5e-5, Warmup: 200}},
			Batch:      Batch{Tokens: 1088},
			Validation: 512,
		},
	}
}

// FromDefaults reads a configuration whose missing fields have the values of [Defaults]. It does not validate.
//
// A configuration as [Run.JSON] writes it, such as that of a run directory, omits some fields that are zero. They stay zero.
//
// Defaults keep the checkpoint with the most correct sequences. Language models and translations are judged by probabilities and by BLEU, so
// the lowest cross entropy decides unless the configuration says otherwise.
func FromDefaults(data []byte) (Run, error) {
	run := Defaults()
	if err := runlog.DecodeConfig(data, &run); err != nil {
		return Run{}, err
	}
	written, err := Decode(data)
	if err == nil && reflect.DeepEqual(withOmitted(run, written), written) {
		return written, nil
	}
	if countsSequences(run.Task.Value) {
		return run, nil
	}
	run = Defaults()
	run.Training.BestByAccuracy = false
	return run, runlog.DecodeConfig(data, &run)
}

// withOmitted returns a run with the values of another one in the fields of Defaults that JSON omits if they are zero.
func withOmitted(r, from Run) Run {
	to, t := &r.Training, from.Training
	to.Muon, to.WeightDecay, to.Average, to.BestByAccuracy, to.Stop.Perfect = t.Muon, t.WeightDecay, t.Average, t.BestByAccuracy, t.Stop.Perfect
	return r
}

// countsSequences reports whether a task is measured by the number of correct sequences.
func countsSequences(d task.Definition) bool {
	if d == nil {
		return true
	}
	_, translates := d.(translation.Translation)
	return !translates && d.Kind() != task.LanguageModeling
}
