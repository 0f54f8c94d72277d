package sweep

import (
	"math/rand/v2"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task/generated"
)

// Twice is a policy as another module could define it.
type Twice struct{ halting.Fixed }

// Cells whose runs have types of other modules are trained and measured. Caught when planted: a model loaded without the types of its run.
func TestTypesOfOtherModules(t *testing.T) {
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
	run, outcomes := runner(1)
	if err := run.Run(t.Context(), cells); err != nil {
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
