package ut_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	ut "universal-transformer"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/generated"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Types as another module could define them, which compute what the embedded ones do.
type (
	Steps   struct{ halting.Fixed }
	Filter  struct{ universal.FeedForward }
	Places  struct{ universal.RandomOffset }
	Falling struct{ schedule.InverseSquareRoot }
)

func reversal() generated.Task {
	return generated.Task{Name: "reversal", Vocabulary: strings.Split("0123", ""), MaxLength: 5, Draw: func(rng *rand.Rand, length int) (source, target []string) {
		for range length {
			digit := string(rune('0' + rng.IntN(4)))
			source, target = append(source, digit), append([]string{digit}, target...)
		}
		return source, target
	}}
}

// briefly is a run of four updates with the parts.
func briefly(t *testing.T, transition universal.Transition, positions universal.Positions, policy halting.Policy) ut.Run {
	r := ut.Defaults()
	r.Name, r.Task = "foreign", ut.Task{Value: reversal()}
	r, err := r.WithPolicy(policy).Set("model.width=16", "model.heads=2", "training.steps=4", "training.evaluate_every=4", "training.validation=20", "training.batch.rows=4")
	if err != nil {
		t.Fatal(err)
	}
	model := r.Model.Value.(experiment.EncoderDecoder)
	model.Transition, model.Positions = experiment.Transition{Value: transition}, experiment.Positions{Value: positions}
	r.Model.Value = model
	return r
}

// A task, a policy, a transition, positions and a schedule of other modules train, resume and load when their values are passed, with the losses of
// the types that they embed; without the values, the error names what is missing.
// Caught when planted: a schedule that a resumed run does not get.
func TestExtensions(t *testing.T) {
	own := briefly(t, universal.FeedForward{Filter: 24}, universal.RandomOffset{Max: 64}, halting.Fixed{Steps: 2})
	foreign := briefly(t, Filter{universal.FeedForward{Filter: 24}}, Places{universal.RandomOffset{Max: 64}}, Steps{halting.Fixed{Steps: 2}})
	rate := schedule.InverseSquareRoot{Factor: 0.1, Warmup: 3}
	own.Training.Schedule.Value, foreign.Training.Schedule.Value = rate, Falling{rate}
	ownDir, dir := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "foreign")
	if _, err := ut.Train(t.Context(), own, ownDir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ut.Train(t.Context(), foreign, dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	x := ut.Extensions{Tasks: []task.Definition{reversal()}}
	want, err := ut.Resume(t.Context(), ownDir, ut.TrainOptions{Extensions: x}, "training.steps=8")
	if err != nil {
		t.Fatal(err)
	}
	var missing *ut.MissingTypeError
	if _, err := ut.Resume(t.Context(), dir, ut.TrainOptions{Extensions: x}, "training.steps=8"); !errors.As(err, &missing) || missing.Path != "model.transition" || missing.Type != "Filter" {
		t.Errorf("without its types: %v", err)
	}
	x.Halting, x.Transitions, x.Positions = []halting.Policy{Steps{}}, []universal.Transition{Filter{}}, []universal.Positions{Places{}}
	if _, err := ut.Resume(t.Context(), dir, ut.TrainOptions{Extensions: x}, "training.steps=8"); !errors.As(err, &missing) || missing.Path != "training.schedule" || missing.Type != "Falling" {
		t.Errorf("without its schedule: %v", err)
	}
	x.Schedules = []schedule.Schedule{Falling{}}
	got, err := ut.Resume(t.Context(), dir, ut.TrainOptions{Extensions: x}, "training.steps=8")
	if err != nil || got.Step != 8 || got.CrossEntropy != want.CrossEntropy || got.Parameters != want.Parameters {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := ut.Load(dir, ut.LoadOptions{}); !errors.As(err, &missing) || missing.Path != "task" {
		t.Errorf("loaded without its types: %v", err)
	}
	m, err := ut.Load(dir, ut.LoadOptions{Extensions: x})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if answers, err := m.Decode(t.Context(), []string{"0123", "9"}, ut.DecodeOptions{}); err != nil || answers[0].Err != nil || answers[1].Err == nil {
		t.Errorf("%+v, %v", answers, err)
	}
}

// A run does not continue with another function of the same name, unless its caller accepts that. Caught when planted: a task without a digest.
func TestOtherFunction(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := ut.Train(t.Context(), briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2}), dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	other := reversal()
	other.Draw = func(rng *rand.Rand, length int) (source, target []string) {
		source, _ = reversal().Draw(rng, length)
		return source, source
	}
	options := ut.TrainOptions{Extensions: ut.Extensions{Tasks: []task.Definition{other}}}
	var changed *ut.DataError
	if _, err := ut.Resume(t.Context(), dir, options, "training.steps=8"); !errors.As(err, &changed) || !strings.Contains(err.Error(), "the training data have changed since the checkpoint of update 4: resume it with the function that drew them, or accept") {
		t.Errorf("another function: %v", err)
	}
	options.AcceptData = true
	if _, err := ut.Resume(t.Context(), dir, options, "training.steps=8"); err != nil {
		t.Errorf("another function that is accepted: %v", err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := ut.Load(t.TempDir(), ut.LoadOptions{}); !errors.Is(err, ut.ErrNotRun) {
		t.Errorf("no run: %v", err)
	}
	r := briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2})
	if _, err := ut.Train(t.Context(), r, copier, ut.TrainOptions{}); !errors.Is(err, ut.ErrExists) {
		t.Errorf("a run that is there: %v", err)
	}
	if _, err := ut.Load(copier, ut.LoadOptions{Backend: "abacus"}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("no backend: %v", err)
	}
	if _, err := ut.Recipe("algorithmic/copi"); err == nil || !strings.Contains(err.Error(), "algorithmic/copy") {
		t.Errorf("no recipe: %v", err)
	}
	if r, err := ut.Recipe("algorithmic/copy"); err != nil || r.Name != "algorithmic/copy" {
		t.Errorf("%s, %v", r.Name, err)
	}
	m := load(t)
	if _, err := m.Classify(t.Context(), []string{"12"}); err == nil {
		t.Error("a model that decodes answers with a class")
	}
	m.Close() // twice: the test's cleanup is the second
}
