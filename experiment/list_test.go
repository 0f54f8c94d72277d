package experiment_test

import (
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/internal/objective"
)

// Runs of the paper's tables pay for pondering what the authors' code does (its act_loss_weight), and so does the demo, whatever a person's own
// runs start from; but not small translation and programs, which that price keeps from pondering (LOG.md).
// Caught when planted: a run that takes what Base has.
func TestPonderWeights(t *testing.T) {
	for _, e := range experiment.List {
		want := objective.PonderSchedule{Weight: 0.01}
		switch e.Name {
		case "base", "text", "multi30k-adaptive", "execute-program-adaptive", "execute-control-adaptive", "execute-addition-adaptive":
			want.Weight = 0.001
		}
		if got := e.Run().Training.Ponder; got != want {
			t.Errorf("%s: the ponder cost is weighed %+v, want %+v", e.Name, got, want)
		}
	}
}

// A person's own runs have the norms in front, also where a file says a part of the model only; the demo has them behind, as the paper
// prints them. Caught when planted: either of them changed.
func TestPlaceOfNorms(t *testing.T) {
	part, err := experiment.Parse([]byte(`{"task": {"copy": {}}, "model": {"encoder_decoder": {"width": 8, "heads": 2}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !kind(experiment.Base()).PreNorm || !kind(part).PreNorm || kind(experiment.Demo()).PreNorm {
		t.Errorf("norms in front: %v, %v, %v, want true, true, false", kind(experiment.Base()).PreNorm, kind(part).PreNorm, kind(experiment.Demo()).PreNorm)
	}
}
