package experiment_test

import (
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/objective"
)

// Ponder cost, supervision and delay are set by path or in JSON, survive it, reach the training configuration, and change the digest. A run
// without them is written as before. Caught when planted: a supervision that is not passed on, a key written for the default.
func TestObjectives(t *testing.T) {
	run := recipes.MustRun("demo")
	for _, key := range []string{"ponder_cost", "supervision", "delay"} {
		if strings.Contains(string(run.JSON()), key) {
			t.Errorf("a run without %s has its key", key)
		}
	}
	set, err := run.Set("training.ponder_cost.geometric_prior.lambda=0.2", "training.supervision=halting", "training.ponder.delay=300")
	if err == nil {
		t.Errorf("a supervision without fields is no object, but %+v", set.Training.Supervision)
	}
	set, err = run.Set("training.ponder_cost.geometric_prior.lambda=0.2", `training.supervision={"geometric": {}}`, "training.ponder.delay=300")
	if err != nil {
		t.Fatal(err)
	}
	again, err := experiment.Decode(set.JSON())
	if err != nil || !reflect.DeepEqual(again, set) {
		t.Errorf("read again it is %+v, %v", again, err)
	}
	c := again.TrainingConfig()
	if c.PonderCost != (objective.GeometricPrior{Lambda: 0.2}) || c.Supervision != (objective.Geometric{Lambda: 0.25}) || c.Ponder.Delay != 300 {
		t.Errorf("%+v", c)
	}
	if set.Digest() == run.Digest() || set.Fingerprint() != run.Fingerprint() {
		t.Error("the objective is part of the configuration, and not of the model")
	}
}

// An objective that is not defined for the model is one error that names the field.
func TestObjectivesThatDoNotFit(t *testing.T) {
	fixed, listing := `model.halting={"fixed": {"steps": 4}}`, `model.halting={"listing": {}}`
	for _, c := range []struct{ recipe, set, more, want string }{
		{"own-pairs", `training.ponder_cost={"geometric_prior": {}}`, fixed, "training.ponder_cost.geometric_prior: a model of fixed depth (4 steps) has no ponder cost"},
		{"own-pairs", `training.ponder_cost={"graves": {}}`, fixed, "training.ponder_cost.graves: a model of fixed depth (4 steps) has no ponder cost"},
		{"own-pairs", `training.ponder_cost={"geometric_prior": {}}`, listing, "training.ponder_cost.geometric_prior: under listing the weights"},
		{"own-pairs", `training.ponder_cost={"geometric_prior": {"lambda": 1}}`, listing, "training.ponder_cost.geometric_prior.lambda is 1: it must be above 0 and below 1"},
		{"own-pairs", `training.ponder_cost={"geometric_prior": {"beta": 1}}`, listing, `unknown key "beta" in training.ponder_cost.geometric_prior`},
		{"own-pairs", `training.ponder_cost={"prior": {}}`, listing, `training.ponder_cost "prior" is not known`},
		{"own-pairs", `training.supervision={"halting": {}}`, fixed, "training.supervision.halting: a model of fixed depth (4 steps) has no halting weights"},
		{"own-pairs", `training.supervision={"halting": {}}`, listing, "training.supervision.halting: under listing"},
		{"own-labels", `training.supervision={"halting": {}}`, `model.halting={"frozen": {}}`, "training.supervision.halting: the model has one answer for all positions"},
		{"own-pairs", `training.supervision={"uniform": {}}`, `model.halting={"length": {}}`, "training.supervision.uniform: the number of steps varies between examples"},
		{"own-pairs", `training.supervision={"geometric": {}}`, `model.halting={"random": {}}`, "training.supervision.geometric: the number of steps varies between examples"},
		{"own-pairs", `training.supervision={"uniform": {}}`, `model={"lstm_encoder_decoder": {}}`, "training.supervision.uniform is set, but model.lstm_encoder_decoder does not repeat a step"},
		{"algorithmic/copy", `training.ponder_cost={"graves": {}}`, `model={"neural_gpu": {}}`, "training.ponder_cost.graves is set, but model.neural_gpu does not repeat a step"},
		{"own-pairs", "training.ponder.delay=-1", fixed, "training.ponder.delay is -1"},
	} {
		if _, err := recipes.MustRun(c.recipe).Set(c.set, c.more); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.set, c.more, err, c.want)
		}
	}
	frozen := []string{`model.halting={"frozen": {}}`, `training.ponder_cost={"geometric_prior": {}}`}
	if _, err := recipes.MustRun("own-pairs").Set(append(frozen, "training.ponder.weight=0")...); err == nil || !strings.Contains(err.Error(), "training.ponder_cost.geometric_prior is set, but training.ponder.weight is 0") {
		t.Errorf("a cost without a weight: %v", err)
	}
	if _, err := recipes.MustRun("own-pairs").Set(frozen...); err != nil {
		t.Errorf("a cost with a weight: %v", err)
	}
	for _, set := range [][]string{{`training.supervision={"uniform": {}}`, fixed}, {`training.supervision={"uniform": {}}`, "model.untied_layers=true"}, {`training.supervision={"geometric": {"lambda": 0.5}}`, listing}} {
		if _, err := recipes.MustRun("own-tags").Set(append(set, "task.path=x")...); err != nil {
			t.Error(err)
		}
	}
}
