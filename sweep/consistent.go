package sweep

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// stopped lists the reasons for the end of a finished training.
var stopped = []string{"done", "accuracy", "perfect", "patience"}

// consistent returns an error that names the first field of a result that its configuration contradicts. It reads configurations of all versions,
// and skips fields that one lacks.
func (r Result) consistent() error {
	var c struct {
		Seed     *uint64 `json:"seed"`
		Training struct {
			Steps          *int64 `json:"steps"`
			BestByAccuracy bool   `json:"best_by_accuracy"`
			BestByMeasure  bool   `json:"best_by_measure"`
		} `json:"training"`
	}
	if err := json.Unmarshal(r.Config, &c); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	steps := c.Training.Steps
	switch {
	case c.Seed != nil && *c.Seed != r.Seed:
		return fmt.Errorf("seed is %d, but config.seed is %d", r.Seed, *c.Seed)
	case !slices.Contains(stopped, r.Stopped):
		return fmt.Errorf("stopped is %q: it must be one of %s", r.Stopped, strings.Join(stopped, ", "))
	case steps != nil && r.Step > *steps:
		return fmt.Errorf("step is %d, but config.training.steps is %d", r.Step, *steps)
	case steps != nil && r.Stopped == "done" && r.Step != *steps:
		return fmt.Errorf("step is %d and stopped %q, but config.training.steps is %d", r.Step, r.Stopped, *steps)
	}
	want := chosenBy(c.Training.BestByMeasure, c.Training.BestByAccuracy)
	if want == ByAccuracy && strings.HasPrefix(r.MeasuredBy.Version, "0.1.") {
		want = byPonder
	}
	if r.ChosenBy != want {
		return fmt.Errorf("chosen_by is %q, but by config.training it is %q", r.ChosenBy, want)
	}
	return nil
}

// chosenBy returns how the checkpoints of a run are compared, given two fields of its training.
func chosenBy(measure, accuracy bool) string {
	switch {
	case measure:
		return ByMeasure
	case accuracy:
		return ByAccuracy
	}
	return ByEntropy
}

// repeated returns an error if two results of a recipe are the same run: two seeds do not take the same nanoseconds. The results of a recipe
// must follow one another.
func repeated(results []Result) error {
	for i, r := range results {
		for j := i - 1; j >= 0 && results[j].Recipe == r.Recipe; j-- {
			if other := results[j]; r.Seconds > 0 && r.Seconds == other.Seconds && r.Validation == other.Validation {
				return fmt.Errorf("%s and %s have the same seconds, %v, and validation, %v: one is a copy of the other", other.File(), r.File(), r.Seconds, r.Validation)
			}
		}
	}
	return nil
}
