package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task/generated"
)

// Twice is a policy as another module could define it.
type Twice struct{ halting.Fixed }

// ownCells returns two cells whose runs have a task and a policy of another module.
func ownCells(t *testing.T) []Cell {
	t.Helper()
	copying := generated.Task{Name: "copying", Vocabulary: []string{"0", "1"}, MaxLength: 4, Draw: func(rng *rand.Rand, length int) (source, target []string) {
		for range length {
			source = append(source, string(rune('0'+rng.IntN(2))))
		}
		return source, source
	}}
	f, err := ParseFile([]byte(`{"name": "own", "base": "copying", "grid": {"model.width": [16, 24]}, "seeds": 1, "measure": {"count": 20}}`))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(t.TempDir(), func(string) (experiment.Run, error) {
		r := experiment.Defaults()
		r.Name, r.Task = "copying", experiment.Task{Value: copying}
		return r.WithPolicy(Twice{halting.Fixed{Steps: 2}}).Set("model.heads=2", "training.steps=4", "training.evaluate_every=4", "training.validation=20", "training.batch.rows=4")
	})
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	return cells
}

// Cells whose runs have types of other modules are trained and measured. Caught when planted: a model loaded without the types of its run.
func TestTypesOfOtherModules(t *testing.T) {
	run, outcomes := runner(1)
	if err := run.Run(t.Context(), ownCells(t)); err != nil {
		t.Fatal(err)
	}
	for name, o := range outcomes {
		if o.Err != nil || !strings.Contains(string(o.Result.Config), `"go:Twice"`) || o.Measured.(*Metrics).Examples != 20 {
			t.Errorf("%s: %v, %s", name, o.Err, o.Result.Config)
		}
	}
	if len(outcomes) != 2 {
		t.Errorf("%d outcomes", len(outcomes))
	}
}

// Cells whose runs have types of other modules are resumed, and measured again without their results, like all others.
// Caught when planted: a run that is read, or resumed, without its types.
func TestTypesOfOtherModulesResume(t *testing.T) {
	whole, broken := ownCells(t)[:1], ownCells(t)[:1]
	run, want := runner(1)
	if err := run.Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	name := whole[0].Name()
	ctx, cancel := context.WithCancel(t.Context())
	run, first := runner(1)
	run.Progress = func(p Progress) {
		if p.Updates == 2 {
			cancel()
		}
	}
	if err := run.Run(ctx, broken); !errors.Is(err, ErrInterrupted) || first[name].Err != ErrInterrupted {
		t.Fatalf("%v, %v", err, first[name].Err)
	}
	for _, what := range []string{"resumed", "measured again"} {
		run, got := runner(1)
		if err := run.Run(t.Context(), broken); err != nil || !reflect.DeepEqual(timeless(got[name].Result), timeless(want[name].Result)) {
			t.Errorf("%s: %+v, want %+v, %v", what, got[name].Result, want[name].Result, err)
		}
		if err := os.Remove(broken[0].File()); err != nil {
			t.Fatal(err)
		}
	}
}

// A cell starts from the weights of a run with types of other modules: of another cell, or of a folder, for which the cell names those that it does not
// have itself. Caught when planted: a run that is checked, or loaded, without its types.
func TestStartFromTypesOfOtherModules(t *testing.T) {
	source := ownCells(t)[0]
	run, got := runner(1)
	if err := run.Run(t.Context(), []Cell{source}); err != nil {
		t.Fatal(err)
	}
	next := source
	next.Recipe, next.From = "next", &source
	next.Run.Training.Pretrained = source.Dir()
	other := next
	other.Recipe, other.From, other.Extensions = "other", nil, source.Run.Extensions()
	other.Run = other.Run.WithPolicy(halting.Fixed{Steps: 2})
	if err := (File{Measure: other.Protocol}).Check(t.Context(), []Cell{next, other}, nil); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := run.Run(t.Context(), []Cell{next, other}); err != nil {
		t.Error(err)
	}
	for _, c := range []Cell{next, other} {
		if o := got[c.Name()]; o.Err != nil || o.Result.Step != 4 || !strings.Contains(string(o.Result.Config), filepath.Base(source.Dir())) {
			t.Errorf("%s: %+v", c.Name(), o)
		}
	}
}
