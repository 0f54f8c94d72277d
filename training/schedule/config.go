package schedule

import (
	"fmt"
	"math"
	"strconv"

	"universal-transformer/internal/objective"
)

// Config determines how to train. Validate names the required fields.
type Config struct {
	Steps    int64    `json:"steps"` // number of updates
	Schedule Schedule `json:"-"`     // learning rate
	Width    int      `json:"-"`     // D of the model; InverseSquareRoot depends on it

	Beta1   float64 `json:"beta1"`   // share that Adam's mean of the gradients keeps in every update; the authors use 0.9
	Beta2   float64 `json:"beta2"`   // the same of the mean of squared gradients; the authors use 0.997
	Epsilon float64 `json:"epsilon"` // added to the denominator of Adam; the authors use 1e-9
	// Muon is the momentum of Muon for matrices within the model, such as 0.95; the rest is trained with Adam (Jordan et al., 2024). 0: everything
	// with Adam, as the authors do.
	Muon float64 `json:"muon,omitempty"`
	// WeightDecay times the learning rate times the weights is what an update subtracts from every matrix (Loshchilov and Hutter, 2019). 0: none, as
	// the authors.
	WeightDecay  float64 `json:"weight_decay,omitempty"`
	DecayVectors bool    `json:"decay_vectors,omitempty"` // apply weight decay also to gains, biases and the halting unit

	objective.Objective                          // label smoothing, R-Drop
	Ponder              objective.PonderSchedule `json:"ponder"` // weight of the ponder cost in the course of training

	// Average is the share that an exponential mean of the weights keeps in every update, such as 0.999; validation and trained models use the mean
	// (Polyak and Juditsky, 1992). 0: the weights themselves.
	Average    float64 `json:"average,omitempty"`
	ClipNorm   float64 `json:"clip_norm"`  // gradients with a larger global norm are scaled down to it; 0: no clipping
	Accumulate int     `json:"accumulate"` // batches per update, which several ranks may share; 0 counts as 1

	// WeighByTokens weighs the batches of an update by their tokens, so that its gradient is that of all of them as one batch. Otherwise it is the
	// mean of the batches' gradients, each a mean over its own tokens, as in version 0.2 and in published runs.
	WeighByTokens bool `json:"weigh_by_tokens"`

	ComputeHalted bool `json:"compute_halted,omitempty"` // compute halted positions too, instead of skipping them

	LogEvery        int64 `json:"log_every"`        // updates between lines of metrics
	EvaluateEvery   int64 `json:"evaluate_every"`   // updates between validations
	CheckpointEvery int64 `json:"checkpoint_every"` // updates between checkpoints
	Keep            int   `json:"keep"`             // number of newest checkpoints kept besides the best, at least 2
	// Events is what training writes for TensorBoard: "scalars" is the figures of metrics.jsonl and the speed, "none" is nothing, and empty is
	// scalars and, now and then, pictures of attention and ponder times.
	Events string `json:"events,omitempty"`

	Stop Stop `json:"stop"`
	// BestByAccuracy selects the checkpoint with the most correct validation sequences, and among equals the one with the lowest cross
	// entropy. Otherwise the lowest cross entropy decides.
	BestByAccuracy bool `json:"best_by_accuracy,omitempty"`
	// BestByMeasure selects the checkpoint with the best decoded answers to validation examples by the task's measure, such as BLEU; among
	// equals BestByAccuracy decides, if it is set, and then cross entropy.
	BestByMeasure bool `json:"best_by_measure,omitempty"`

	Seed uint64 `json:"-"`
}

// Values of [Config].Events, besides "".
const (
	ScalarEvents = "scalars"
	NoEvents     = "none"
)

// Stop determines when training ends before its last update. The zero value: never.
type Stop struct {
	Patience int     `json:"patience"`          // consecutive validations without a new best; 0: no limit
	Accuracy float64 `json:"accuracy"`          // teacher-forced sequence accuracy of the validation set to reach; 0: none
	Perfect  int     `json:"perfect,omitempty"` // consecutive validations in which every sequence is correct; 0: no limit
}

// Validate returns an error that names the first invalid field, its value, and valid values.
func (c Config) Validate() error {
	outside := func(name, v string, below float64) error {
		return fmt.Errorf("%s is %s: it must be at least 0 and below %s", name, v, plain(below))
	}
	rate := func(name string, v, below float64) error {
		if x := computed(v); !(v >= 0 && x < below) || v > 0 && x == 0 {
			return outside(name, asComputed(v), below)
		}
		return nil
	}
	count := func(name string, v int, below float64) error {
		if v < 0 || float64(v) >= below {
			return outside(name, strconv.Itoa(v), below)
		}
		return nil
	}
	interval := func(name string, v int64) error {
		if v < 1 {
			return fmt.Errorf("%s is %d: it must be positive", name, v)
		}
		return nil
	}
	for _, err := range []error{
		interval("steps", c.Steps), interval("log_every", c.LogEvery), interval("evaluate_every", c.EvaluateEvery),
		interval("checkpoint_every", c.CheckpointEvery),
		rate("beta1", c.Beta1, 1), rate("beta2", c.Beta2, 1), rate("label_smoothing", c.LabelSmoothing, 1), rate("r_drop", c.RDrop, 1e3),
		rate("muon", c.Muon, 1), rate("weight_decay", c.WeightDecay, 1e3),
		rate("average", c.Average, 1), rate("clip_norm", c.ClipNorm, 1e9), rate("ponder.weight", c.Ponder.Weight, 1e9), count("ponder.warmup", c.Ponder.Steps, 1e15), count("ponder.delay", c.Ponder.Delay, 1e15),
		count("accumulate", c.Accumulate, 1e6), count("stop.patience", c.Stop.Patience, 1e9), rate("stop.accuracy", c.Stop.Accuracy, 1.0001),
		count("stop.perfect", c.Stop.Perfect, 1e9),
	} {
		if err != nil {
			return err
		}
	}
	if c.Keep < 2 {
		return fmt.Errorf("keep is %d: it must be at least 2, so that a damaged newest checkpoint has a predecessor", c.Keep)
	}
	if err := positive("epsilon", c.Epsilon); err != nil {
		return fmt.Errorf("%w; the authors use 1e-9", err)
	}
	if c.Events != "" && c.Events != ScalarEvents && c.Events != NoEvents {
		return fmt.Errorf("events is %q: it must be %q or %q, or empty for scalars and pictures", c.Events, ScalarEvents, NoEvents)
	}
	if c.Schedule == nil {
		return fmt.Errorf("schedule is missing: choose Constant, InverseSquareRoot or Cosine")
	}
	if err := c.Schedule.Validate(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	return nil
}

// computed returns a number as training computes with it, in float32. Below the smallest normal number it is 0, as on processors that
// flush such numbers.
func computed(v float64) float64 {
	if math.Abs(v) < 0x1p-126 {
		return 0
	}
	return float64(float32(v))
}

// asComputed formats a number, and says what it becomes in float32 if that is a bound of most ranges: 0, 1 or infinity.
func asComputed(v float64) string {
	if x := computed(v); x != v && (v > 0 && x == 0 || x == 1 || math.IsInf(x, 0)) {
		return fmt.Sprintf("%v, which is %v in float32", v, x)
	}
	return plain(v)
}

// positive returns an error unless a number is positive and finite in training.
func positive(name string, v float64) error {
	switch x := computed(v); {
	case !(x > 0):
		return fmt.Errorf("%s is %s: it must be positive", name, asComputed(v))
	case math.IsInf(x, 0):
		return fmt.Errorf("%s is %s: it must be finite", name, asComputed(v))
	}
	return nil
}

// plain formats a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// CheckRanks returns an error unless n ranks can share the batches of an update.
func (c Config) CheckRanks(n int) error {
	if c.Batches()%n != 0 {
		return fmt.Errorf("training.accumulate is %d, and there are %d ranks: it must be a multiple of %d, so that each rank computes the same number of batches", c.Accumulate, n, n)
	}
	return nil
}

// Weighs reports whether the batches of an update are weighed. A single batch is not.
func (c Config) Weighs() bool { return c.WeighByTokens && c.Batches() > 1 }

// Batches returns the number of batches of an update.
func (c Config) Batches() int { return max(c.Accumulate, 1) }
