package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/training/schedule"
)

// Names of other programs, and fields named without their place, lead to the field that the run has; nothing leads to itself or to a field that
// the run does not have.
// Caught when planted: the field of another schedule; the first of several candidates, whatever the run has; a field that is offered for itself.
func TestSuggest(t *testing.T) {
	constant := experiment.Defaults()
	constant.Training.Schedule.Value = schedule.Constant{LearningRate: 1}
	lstm, err := experiment.FromDefaults([]byte(`{"model": {"lstm_encoder_decoder": {"width": 8}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run        experiment.Run
		name, want string
	}{
		{experiment.Defaults(), "lr", "training.schedule.peak"}, {constant, "lr", "training.schedule.rate"}, {constant, "training.Learning_Rate", "training.schedule.rate"},
		{experiment.Defaults(), "rate", "training.schedule.peak"}, {experiment.Defaults(), "epochs", "training.steps"}, {experiment.Defaults(), "model.layers", "model.halting.steps"},
		{lstm, "num_layers", "model.layers"}, {lstm, "model.halting.depth", "model.layers"}, {experiment.Defaults(), "width", "model.width"}, {lstm, "width", "model.width"},
		{experiment.Defaults(), "rows", "training.batch.rows"}, {experiment.Defaults(), "batch_size", "training.batch.rows"}, {experiment.Defaults(), "training.patience", "training.stop.patience"},
		{lstm, "model.heads", ""}, {lstm, "n_heads", ""}, {experiment.Defaults(), "nothing", ""}, {experiment.Defaults(), "model.width", ""}, {experiment.Defaults(), "", ""},
	} {
		if got, ok := c.run.Suggest(c.name); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == "" {
			continue
		}
		if _, err := experiment.ExplainPart(c.want); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	for name, said := range map[string]func() error{
		"--set":   func() error { _, err := experiment.Defaults().Set("training.learning_rate=1"); return err },
		"a file":  func() error { _, err := experiment.Parse([]byte(`{"training": {"learning_rate": 1}}`)); return err },
		"a field": func() error { _, err := experiment.ExplainPart("training.learning_rate"); return err },
		"a variant": func() error {
			_, err := experiment.Parse([]byte(`{"training": {"schedule": {"cosine": {"lr": 1}}}}`))
			return err
		},
	} {
		if err := said(); err == nil || !strings.HasSuffix(err.Error(), `did you mean "training.schedule.peak"?`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A batch has one size: stating both is an error, and stating one makes the other 0, also that of the defaults.
// Caught when planted: both sizes accepted; the size of the defaults that stays.
func TestOneSizeOfABatch(t *testing.T) {
	const task = `{"task": {"copy": {}}, "training": {"batch": `
	for batch, want := range map[string][2]int{`{"rows": 5}`: {5, 0}, `{"tokens": 7}`: {0, 7}, `{"rows": 0, "tokens": 7}`: {0, 7}, `{"rows": 5, "tokens": 0}`: {5, 0}, `{}`: {0, 1088}} {
		r, err := experiment.Parse([]byte(task + batch + "}}"))
		if got := [2]int{r.Training.Batch.Rows, r.Training.Batch.Tokens}; err != nil || got != want {
			t.Errorf("%s: rows and tokens are %v, %v, want %v", batch, got, err, want)
		}
	}
	const both = "training.batch.rows is 5 and training.batch.tokens is 7: give only one of them"
	if _, err := experiment.Parse([]byte(task + `{"rows": 5, "tokens": 7}}}`)); err == nil || !strings.HasPrefix(err.Error(), both) {
		t.Errorf("both in a file: %v", err)
	}
	r, err := experiment.Parse([]byte(task + "{}}}"))
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string][2]int{
		"training.batch.rows=5": {5, 0}, "training.batch.tokens=7": {0, 7}, "training.batch.rows=5 training.batch.tokens=0": {5, 0}, "training.batch.boundaries=[8]": {0, 1088},
		`training.batch={"rows":5}`: {5, 0}, `training.batch={"tokens":7}`: {0, 7}, `training.batch={"tokens":7} training.batch.rows=0`: {0, 7},
	} {
		changed, err := r.Set(strings.Fields(set)...)
		if got := [2]int{changed.Training.Batch.Rows, changed.Training.Batch.Tokens}; err != nil || got != want {
			t.Errorf("%s: rows and tokens are %v, %v, want %v", set, got, err, want)
		}
	}
	for _, set := range []string{"training.batch.rows=5 training.batch.tokens=7", `training.batch={"rows":5,"tokens":7}`, `training.batch={"tokens":7} training.batch.rows=5`} {
		if _, err := r.Set(strings.Fields(set)...); err == nil || !strings.HasPrefix(err.Error(), both) {
			t.Errorf("%s: %v", set, err)
		}
	}
	rows, err := r.Set("training.batch.rows=5")
	if err != nil || slices.Contains(strings.Fields(string(rows.Complete())), "1088,") {
		t.Errorf("the complete configuration is %s, %v", rows.Complete(), err)
	}
	if _, err := experiment.Parse(rows.Complete()); err != nil {
		t.Errorf("read again: %v", err)
	}
}
