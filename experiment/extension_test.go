package experiment_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Types as another module could define them.
type (
	Shuffle struct {
		algorithmic.Copy
		Seed  int    `json:"shuffle_seed"`
		Order func() `json:"-"`
	}
	Doubled struct {
		halting.Fixed
		Factor int `json:"factor"`
	}
	Gated  struct{ universal.FeedForward }
	Spread struct{ universal.FromOne }
	Ranged struct{ universal.RandomOffset }
	Decay  struct {
		schedule.Constant
		Every int64 `json:"every"`
	}
	Alias struct {
		halting.Fixed
		Name string `json:"-"`
	}
)

func (a Alias) ExtensionName() string { return a.Name }

// foreign is a run whose task, policy, transition, positions and schedule are of types of this file.
func foreign() experiment.Run {
	r := experiment.Defaults()
	r.Name = "foreign"
	r.Task = experiment.Task{Value: Shuffle{Copy: algorithmic.Copy{Digits: algorithmic.Digits{Base: 4, MaxLength: 5}}, Seed: 3}}
	m := r.Model.Value.(experiment.EncoderDecoder)
	m.Halting = experiment.Halting{Value: Doubled{halting.Fixed{Steps: 2}, 7}}
	m.Transition = experiment.Transition{Value: Gated{universal.FeedForward{Filter: 12}}}
	m.Positions = experiment.Positions{Value: Spread{}}
	r.Model.Value = m
	r.Training.Schedule = experiment.Schedule{Value: Decay{schedule.Constant{LearningRate: 0.01}, 5}}
	return r
}

// A run with types of another module is itself again after it was written and read with values of these types, whatever their fields.
func TestExtensionsSurviveJSON(t *testing.T) {
	r := foreign()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	text := string(r.JSON())
	if complete, err := experiment.Decode(r.Complete()); err != nil || complete.Fingerprint() != r.Fingerprint() {
		t.Errorf("complete: %v", err)
	}
	for _, part := range []string{`"go:Shuffle"`, `"shuffle_seed": 3`, `"go:Doubled"`, `"factor": 7`, `"go:Gated"`, `"filter": 12`, `"go:Spread"`, `"go:Decay"`, `"every": 5`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	read, err := experiment.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := string(read.JSON()); again != text {
		t.Errorf("before Extend: %s, want %s", again, text)
	}
	read, err = read.Extend(experiment.Extensions{
		Tasks: []task.Definition{Shuffle{Seed: 9}}, Halting: []halting.Policy{Alias{Name: "other"}, Doubled{}},
		Transitions: []universal.Transition{Gated{}}, Positions: []universal.Positions{Spread{}}, Schedules: []schedule.Schedule{Decay{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	if again := string(read.JSON()); again != text || read.Policy() != r.Policy() || read.Digest() != r.Digest() {
		t.Errorf("%s, want %s", again, text)
	}
}

// Fields of such types are set like others, and stay of these types.
func TestExtensionsAreSet(t *testing.T) {
	for _, set := range []string{"model.halting.factor=8", "model.halting.go:Doubled.factor=8", "halting.factor=8"} {
		changed, err := foreign().Set(set)
		if set == "halting.factor=8" {
			if err == nil {
				t.Errorf("%s: no error", set)
			}
			continue
		}
		if err != nil || changed.Policy() != (Doubled{halting.Fixed{Steps: 2}, 8}) {
			t.Errorf("%s: %v, %v", set, changed.Policy(), err)
		}
	}
	changed, err := foreign().Set("model.halting.fixed.steps=3")
	if err != nil || changed.Policy() != (halting.Fixed{Steps: 3}) {
		t.Errorf("replaced: %v, %v", changed.Policy(), err)
	}
}

func TestMissingExtensions(t *testing.T) {
	read, err := experiment.Decode(foreign().JSON())
	if err != nil {
		t.Fatal(err)
	}
	var missing *experiment.MissingTypeError
	if err := read.Validate(); !errors.As(err, &missing) || *missing != (experiment.MissingTypeError{Path: "task", Type: "Shuffle", List: "Tasks"}) {
		t.Errorf("%v", err)
	} else if want := "task is of the type Shuffle, which the Go program that made this run defines: pass a value of it in Extensions.Tasks"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	read, err = read.Extend(experiment.Extensions{Tasks: []task.Definition{Shuffle{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); !errors.As(err, &missing) || missing.Path != "model.transition" {
		t.Errorf("%v", err)
	} else if want := "model.transition is of the type Gated, which the Go program that made this run defines: pass a value of it in Extensions.Transitions"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	read, err = read.Extend(experiment.Extensions{Transitions: []universal.Transition{Gated{}}, Halting: []halting.Policy{Doubled{}}, Positions: []universal.Positions{Spread{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); !errors.As(err, &missing) || *missing != (experiment.MissingTypeError{Path: "training.schedule", Type: "Decay", List: "Schedules"}) {
		t.Errorf("%v", err)
	}
	if _, err := read.Extend(experiment.Extensions{Halting: []halting.Policy{Alias{Name: "a"}, Doubled{}, Alias{Name: "a"}}}); err == nil {
		t.Error("two values of one name: no error")
	}
	for text, says := range map[string]string{
		`{"task": {"go:": {}}}`:                          "not known",
		`{"task": {"go:A": {}, "go:B": {}}}`:             "not known",
		`{"model": {"go:Kind": {}}}`:                     "not known",
		`{"training": {"ponder_cost": {"go:Cost": {}}}}`: "not known",
	} {
		if _, err := experiment.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	bad, err := experiment.Decode([]byte(strings.Replace(string(foreign().JSON()), `"factor"`, `"factors"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bad.Extend(experiment.Extensions{Halting: []halting.Policy{Doubled{}}}); err == nil || !strings.Contains(err.Error(), `did you mean "factor"`) {
		t.Errorf("a field that the type does not have: %v", err)
	}
}

// A value that JSON cannot hold is an error of Validate and Set, which names the field, and no panic.
func TestUnrecordableValues(t *testing.T) {
	pointer, nan := foreign(), foreign()
	model := pointer.Model.Value.(experiment.EncoderDecoder)
	model.Transition.Value = &Gated{}
	pointer.Model.Value = model
	nan.Training.WeightDecay = math.NaN()
	for want, run := range map[string]experiment.Run{
		"model.transition: a value of type *experiment_test.Gated cannot be recorded: its type must be a named struct": pointer,
		"model.halting: a value of type *experiment_test.Doubled cannot be recorded: its type must be a named struct":  foreign().WithPolicy((*Doubled)(nil)),
		"training.weight_decay is NaN: it must be at least 0":                                                          nan,
	} {
		if err := run.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := run.Set("training.steps=7"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set: %v, want %q", err, want)
		}
		if _, err := run.FieldsWith("training.steps=7"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FieldsWith: %v, want %q", err, want)
		}
	}
}

type (
	Axes struct{ universal.Coordinates }
	Rows struct{ universal.Arrangement }
	Ways struct{ universal.Counting }
)

// Validate finds nothing wrong: what is refused is the type.
func (Axes) Validate() error { return nil }
func (Rows) Validate() error { return nil }
func (Ways) Validate() error { return nil }

// Parts that have no extensions refuse types of other modules in Validate and Set, which name the part, and nothing panics.
// Caught when planted: each part left unchecked; a message that asks for a named struct, which these are.
func TestPartsWithoutExtensions(t *testing.T) {
	for part, change := range map[string]func(*experiment.EncoderDecoder){
		"model.coordinates": func(m *experiment.EncoderDecoder) { m.Coordinates.Value = Axes{universal.Sinusoidal{}} },
		"model.arrangement": func(m *experiment.EncoderDecoder) { m.Arrangement.Value = Rows{universal.Submitted{}} },
		"model.counting":    func(m *experiment.EncoderDecoder) { m.Counting.Value = Ways{universal.FromEnd{}} },
	} {
		run := foreign()
		model := run.Model.Value.(experiment.EncoderDecoder)
		change(&model)
		run.Model.Value = model
		want := part + " takes only types of this module, and not experiment_test."
		if err := run.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := run.Set("training.steps=7"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set: %v, want %q", err, want)
		}
	}
}
