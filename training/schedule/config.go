package schedule

import (
	"fmt"
	"strconv"

	"universal-transformer/internal/objective"
)

// Config determines how to train. Validate names the required fields.
type Config struct {
	Steps    int64    `json:"steps"` // updates in all
	Schedule Schedule `json:"-"`     // learning rate
	Width    int      `json:"-"`     // D of the model, which InverseSquareRoot scales with

	Beta1               float64                  `json:"beta1"` // of Adam; the authors use 0.9, 0.997 and 1e-9
	Beta2               float64                  `json:"beta2"`
	Epsilon             float64                  `json:"epsilon"`
	Muon                float64                  `json:"muon,omitempty"`          // matrices within the model are trained with Muon of this momentum, as 0.95, all else with Adam (Jordan et al., 2024); 0: all with Adam, as the authors do
	WeightDecay         float64                  `json:"weight_decay,omitempty"`  // an update takes this times the learning rate from every matrix, beside the optimizer's step (Loshchilov and Hutter, 2019); the authors have none
	DecayVectors        bool                     `json:"decay_vectors,omitempty"` // weight decay also of gains, biases and the halting unit
	objective.Objective                          // label smoothing, R-Drop
	Ponder              objective.PonderSchedule `json:"ponder"`            // weight of the ponder cost; the authors use 0.01
	Average             float64                  `json:"average,omitempty"` // an exponential mean of the weights keeps this share of itself in every update, as 0.999; validation and everything after training use the mean (Polyak and Juditsky, 1992); 0: the weights themselves
	ClipNorm            float64                  `json:"clip_norm"`         // gradients of a larger global norm are scaled down to it; 0: never
	Accumulate          int                      `json:"accumulate"`        // batches an update, which several ranks may share; 0 counts as 1

	ComputeHalted bool `json:"compute_halted,omitempty"` // compute halted positions too, instead of leaving them out

	LogEvery        int64 `json:"log_every"`        // updates between lines of metrics
	EvaluateEvery   int64 `json:"evaluate_every"`   // updates between validations
	CheckpointEvery int64 `json:"checkpoint_every"` // updates between checkpoints
	Keep            int   `json:"keep"`             // checkpoints kept besides the best
	Stop            Stop  `json:"stop"`
	// BestByAccuracy selects the checkpoint with the most correct validation sequences, and among equals the one with the lowest cross
	// entropy. Otherwise cross entropy alone decides.
	BestByAccuracy bool `json:"best_by_accuracy,omitempty"`
	// BestByMeasure selects the checkpoint whose decoded answers to validation examples are the best by the task's own measure, such as
	// BLEU; among equals the one with the lowest cross entropy.
	BestByMeasure bool `json:"best_by_measure,omitempty"`

	Seed uint64 `json:"-"`
}

// Stop ends training before its last update. The zero value never does.
type Stop struct {
	Patience int     `json:"patience"` // validations in a row without a new best
	Accuracy float64 `json:"accuracy"` // teacher-forced sequence accuracy of the validation set
}

// Validate returns an error that names the first invalid field, its value, and valid values.
func (c Config) Validate() error {
	rate := func(name string, v, below float64) error {
		if !(v >= 0 && v < below) {
			return fmt.Errorf("%s is %s: it must be at least 0 and below %s", name, plain(v), plain(below))
		}
		return nil
	}
	positive := func(name string, v int64) error {
		if v < 1 {
			return fmt.Errorf("%s is %d: it must be positive", name, v)
		}
		return nil
	}
	for _, err := range []error{
		positive("steps", c.Steps), positive("log_every", c.LogEvery), positive("evaluate_every", c.EvaluateEvery),
		positive("checkpoint_every", c.CheckpointEvery),
		rate("beta1", c.Beta1, 1), rate("beta2", c.Beta2, 1), rate("label_smoothing", c.LabelSmoothing, 1), rate("r_drop", c.RDrop, 1e3),
		rate("muon", c.Muon, 1), rate("weight_decay", c.WeightDecay, 1e3),
		rate("average", c.Average, 1), rate("clip_norm", c.ClipNorm, 1e9), rate("ponder.weight", c.Ponder.Weight, 1e9), rate("ponder.warmup", float64(c.Ponder.Steps), 1e15),
		rate("accumulate", float64(c.Accumulate), 1e6), rate("stop.patience", float64(c.Stop.Patience), 1e9), rate("stop.accuracy", c.Stop.Accuracy, 1.0001),
	} {
		if err != nil {
			return err
		}
	}
	if c.BestByAccuracy && c.BestByMeasure {
		return fmt.Errorf("best_by_accuracy and best_by_measure are both true: choose one")
	}
	if c.Keep < 2 {
		return fmt.Errorf("keep is %d: keep at least 2 checkpoints, so that there is one to go back to if the newest is damaged", c.Keep)
	}
	if !(c.Epsilon > 0) {
		return fmt.Errorf("epsilon is %v: it must be positive; the authors use 1e-9", c.Epsilon)
	}
	if c.Schedule == nil {
		return fmt.Errorf("schedule is missing: choose Constant, InverseSquareRoot or Cosine")
	}
	if err := c.Schedule.Validate(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	return nil
}

// plain formats a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// CheckRanks returns an error unless n ranks can share the batches of an update.
func (c Config) CheckRanks(n int) error {
	if c.Batches()%n != 0 {
		return fmt.Errorf("training.accumulate is %d, and there are %d ranks: it must be a multiple of %d, so that each computes as many batches of an update", c.Accumulate, n, n)
	}
	return nil
}

// Batches returns the number of batches of an update.
func (c Config) Batches() int { return max(c.Accumulate, 1) }
