package schedule_test

import (
	"math"
	"strings"
	"testing"

	"universal-transformer/training/schedule"
)

// Closed forms at steps that can be worked out by hand.
// Caught when planted: a warm-up that starts at 0, a cosine that is not at its floor in the last step, a width that is left out; an end that
// counts from the start; a warm-up of a restart from step 0, or from a rate of 0, below the floor before it.
func TestSchedules(t *testing.T) {
	authors := func(step int64) float64 {
		return schedule.InverseSquareRoot{Factor: 2, Warmup: 8000}.Rate(step, 1, 128)
	}
	cosine := func(step int64) float64 {
		return schedule.Cosine{Peak: 1e-3, Floor: 1e-4, Warmup: 100}.Rate(step, 1100, 1)
	}
	ended := func(step, steps int64) float64 {
		return schedule.Cosine{Peak: 1e-3, Floor: 1e-4, Warmup: 100, End: 600}.Rate(step, steps, 1)
	}
	restarted := func(step int64) float64 {
		return schedule.Cosine{Peak: 1e-3, Floor: 1e-4, Warmup: 100, Start: 1000}.Rate(step, 1600, 1)
	}
	for _, test := range []struct {
		name string
		got  float64
		want float64
	}{
		{"constant", schedule.Constant{LearningRate: 0.25}.Rate(7, 9, 9), 0.25},
		{"inverse square root, first step", authors(1), 2 / 8000. / math.Sqrt(8000*128)},
		{"half of the warm-up", authors(4000), 1 / math.Sqrt(8000*128)},
		{"peak", authors(8000), 2 / math.Sqrt(8000*128)},
		{"four times as long, half the rate", authors(32000), 1 / math.Sqrt(8000*128)},
		{"cosine, first step", cosine(1), 1e-5}, {"cosine, half of the warm-up", cosine(50), 5e-4}, {"cosine, peak", cosine(100), 1e-3},
		{"cosine, a quarter down", cosine(350), 1e-4 + 9e-4*(1+math.Sqrt(0.5))/2}, {"cosine, half way", cosine(600), 5.5e-4},
		{"cosine, last step", cosine(1100), 1e-4}, {"cosine, beyond", cosine(2000), 1e-4},
		{"cosine that ends early, last step", ended(600, 9999), 1e-4}, {"half way", ended(350, 9999), 5.5e-4}, {"beyond", ended(5000, 9999), 1e-4},
		{"cosine whose end lies beyond the last step", ended(300, 300), 1e-4},
		{"cosine before its start", restarted(1000), 1e-4}, {"half of the warm-up after it", restarted(1050), 5.5e-4}, {"its first step", restarted(1001), 1.09e-4}, {"peak", restarted(1100), 1e-3},
		{"half way", restarted(1350), 5.5e-4}, {"last step", restarted(1600), 1e-4},
		{"cosine without warm-up", schedule.Cosine{Peak: 1}.Rate(1, 2, 9), 0.5},
	} {
		if math.Abs(test.got-test.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

// free is a schedule with any rate.
type free struct {
	schedule.Constant
	rate float64
}

func (f free) Rate(int64, int64, int) float64 { return f.rate }

// A rate that is not finite or negative, which a schedule of another module may return, is an error that names the type.
// Caught when planted: no check, a check in float64, a rate of 0 refused.
func TestRates(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "", 0.5: "", 1e38: "", 1e-50: "", -1: "is -1: it must", math.Inf(1): "is +Inf: it must", math.NaN(): "is NaN: it must", 1e39: "which is +Inf in float32: it must",
	} {
		got, err := schedule.Config{Schedule: free{rate: rate}}.Rate(3)
		if want == "" && (err != nil || got != rate) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), "update 3: the learning rate of schedule_test.free is ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, %v, want %q", rate, got, err, want)
		}
	}
}

// Halving the field that a schedule names halves its rate, but never below its floor, which is halved if there is nothing else.
// Caught when planted: a suggestion of the present value.
func TestHalved(t *testing.T) {
	for _, test := range []struct {
		schedule schedule.Schedule
		field    string
		value    float64
	}{
		{schedule.Constant{LearningRate: 0.5}, "rate", 0.25}, {schedule.InverseSquareRoot{Factor: 2, Warmup: 10}, "factor", 1},
		{schedule.Cosine{Peak: 1, Floor: 0.1}, "peak", 0.5}, {schedule.Cosine{Peak: 1, Floor: 0.75}, "peak", 0.75},
		{schedule.Cosine{Peak: 1, Floor: 1}, "floor", 0.5},
	} {
		if field, value := test.schedule.Halved(); field != test.field || value != test.value {
			t.Errorf("%+v: %s %v, want %s %v", test.schedule, field, value, test.field, test.value)
		}
	}
}

// Every refusal names the field and its value.
// Caught when planted: a check left out.
func TestValidate(t *testing.T) {
	if err := config(1).Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*schedule.Config){
		"steps is 0: it must be positive":                                                         func(c *schedule.Config) { c.Steps = 0 },
		"log_every is -1: it must be positive":                                                    func(c *schedule.Config) { c.LogEvery = -1 },
		"evaluate_every is 0: it must be positive":                                                func(c *schedule.Config) { c.EvaluateEvery = 0 },
		"checkpoint_every is 0: it must be positive":                                              func(c *schedule.Config) { c.CheckpointEvery = 0 },
		"keep is 0: it must be at least 2, so that a damaged newest checkpoint has a predecessor": func(c *schedule.Config) { c.Keep = 0 },
		"beta1 is 1: it must be at least 0 and below 1":                                           func(c *schedule.Config) { c.Beta1 = 1 },
		"beta2 is -0.5: it must be at least 0 and below 1":                                        func(c *schedule.Config) { c.Beta2 = -0.5 },
		"label_smoothing is NaN: it must be at least 0 and below 1":                               func(c *schedule.Config) { c.LabelSmoothing = math.NaN() },
		"weight_decay is -0.1: it must be at least 0 and below 1000":                              func(c *schedule.Config) { c.WeightDecay = -0.1 },
		"clip_norm is -1: it must be at least 0 and below 1000000000":                             func(c *schedule.Config) { c.ClipNorm = -1 },
		"ponder.weight is -1: it must be at least 0 and below 1000000000":                         func(c *schedule.Config) { c.Ponder.Weight = -1 },
		"accumulate is -1: it must be at least 0 and below 1000000":                               func(c *schedule.Config) { c.Accumulate = -1 },
		"stop.patience is -1: it must be at least 0 and below 1000000000":                         func(c *schedule.Config) { c.Stop.Patience = -1 },
		"stop.perfect is -1: it must be at least 0 and below 1000000000":                          func(c *schedule.Config) { c.Stop.Perfect = -1 },
		"stop.accuracy is 1.5: it must be at least 0 and below 1.0001":                            func(c *schedule.Config) { c.Stop.Accuracy = 1.5 },
		"epsilon is 0: it must be positive; the authors use 1e-9":                                 func(c *schedule.Config) { c.Epsilon = 0 },
		`events is "all": it must be "scalars" or "none", or empty for scalars and pictures`:      func(c *schedule.Config) { c.Events = "all" },
		"schedule is missing: choose Constant, InverseSquareRoot or Cosine":                       func(c *schedule.Config) { c.Schedule = nil },
		"ponder.warmup is -1: it must be at least 0 and below 1000000000000000":                   func(c *schedule.Config) { c.Ponder.Steps = -1 },
	} {
		c := config(1)
		change(&c)
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A number that training, in float32, computes with as 0, 1 or infinity is refused as that: Adam divides by epsilon and by 1 - beta, and an
// update with a rate of 0, or a gradient that is clipped to 0, changes nothing. The nearest numbers that are none of these are accepted.
// Caught when planted: comparisons in float64; a subnormal number, which some processors flush to 0, taken as positive.
func TestValidateAsComputed(t *testing.T) {
	const least, nextToOne = 0x1p-126, 1 - 0x1p-24 // the smallest normal number of float32, and the largest below 1
	for want, change := range map[string]func(*schedule.Config){
		"epsilon is 1e-40, which is 0 in float32: it must be positive; the authors use 1e-9":    func(c *schedule.Config) { c.Epsilon = 1e-40 },
		"epsilon is 1e+60, which is +Inf in float32: it must be finite; the authors use 1e-9":   func(c *schedule.Config) { c.Epsilon = 1e60 },
		"beta1 is 0.99999999, which is 1 in float32: it must be at least 0 and below 1":         func(c *schedule.Config) { c.Beta1 = 0.99999999 },
		"beta2 is 0.99999999, which is 1 in float32: it must be at least 0 and below 1":         func(c *schedule.Config) { c.Beta2 = 0.99999999 },
		"average is 0.99999999, which is 1 in float32: it must be at least 0 and below 1":       func(c *schedule.Config) { c.Average = 0.99999999 },
		"clip_norm is 1e-60, which is 0 in float32: it must be at least 0 and below 1000000000": func(c *schedule.Config) { c.ClipNorm = 1e-60 },
		"schedule: rate is 1e-60, which is 0 in float32: it must be positive":                   func(c *schedule.Config) { c.Schedule = schedule.Constant{LearningRate: 1e-60} },
		"schedule: factor is 1e+60, which is +Inf in float32: it must be finite":                func(c *schedule.Config) { c.Schedule = schedule.InverseSquareRoot{Factor: 1e60, Warmup: 1} },
		"schedule: peak is 1e+60, which is +Inf in float32: it must be finite":                  func(c *schedule.Config) { c.Schedule = schedule.Cosine{Peak: 1e60} },
	} {
		c := config(1)
		change(&c)
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := config(1)
	c.Epsilon, c.ClipNorm, c.Beta1, c.Beta2, c.Average = least, least, nextToOne, nextToOne, nextToOne
	c.Schedule, c.Stop.Patience = schedule.Constant{LearningRate: least}, 999_999_999 // which is 1e9 in float32, but no number of training
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// config is valid.
func config(steps int64) schedule.Config {
	return schedule.Config{
		Steps: steps, Schedule: schedule.Constant{LearningRate: 3e-3}, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9,
		LogEvery: 1, EvaluateEvery: 1, CheckpointEvery: 1, Keep: 2,
	}
}

// A cosine refuses a start before the run, and an end within its warm-up, and names the first step that is possible.
func TestCosineRefuses(t *testing.T) {
	for want, c := range map[string]schedule.Cosine{
		"start is -1: it must be a step, or 0 to begin at once":                                                 {Peak: 1, Start: -1},
		"end is 12: it must be an update after start and warmup, 12, or 0 for the last update":                  {Peak: 1, Start: 5, Warmup: 7, End: 12},
		"end is 3: it must be an update after start and warmup, 9223372036854775812, or 0 for the last update":  {Peak: 1, Start: 5, Warmup: math.MaxInt64, End: 3},
		"end is -9223372036854775808: it must be an update after start and warmup, 5, or 0 for the last update": {Peak: 1, Start: 5, End: math.MinInt64},
		"end is -1: it must be an update after start and warmup, 0, or 0 for the last update":                   {Peak: 1, End: -1},
		"warmup is -1: it must not be negative":                                                                 {Peak: 1, Warmup: -1},
		"floor is 2: it must be from 0 to the peak, 1":                                                          {Peak: 1, Floor: 2},
	} {
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
	if err := (schedule.Cosine{Peak: 1, Start: 5, Warmup: 7, End: 13}).Validate(); err != nil {
		t.Error(err)
	}
}
