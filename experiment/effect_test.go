package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
)

// A warm-up longer than training is remarked on, and a value that an assignment sets and that has no effect. Values of the recipe are not,
// nor those that have one.
// Caught when planted: a warm-up as long as training, a start that does not count; a ponder cost of adaptive depth; a weight of 0; an
// object that sets the field; a delay without a weight.
func TestRemarks(t *testing.T) {
	recipe, err := recipes.Named("algorithmic/reverse")
	if err != nil {
		t.Fatal(err)
	}
	const cosine = `training.schedule={"cosine": {"peak": 0.1, "floor": 0, "warmup": 90, "start": `
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"training.steps=100", cosine + "10}}"}, ""},
		{[]string{"training.steps=100", cosine + "11}}"}, "training.schedule warms up until update 101, but training.steps is 100: the learning rate does not reach its peak"},
		{[]string{"training.steps=100", `training.schedule={"inverse_square_root": {"factor": 2, "warmup": 100}}`}, ""},
		{[]string{"training.steps=100", `training.schedule={"inverse_square_root": {"factor": 2, "warmup": 101}}`}, "until update 101,"},
		{[]string{"training.ponder.weight=5"}, "training.ponder.weight is 5, but the model's depth is not adaptive: it has no effect"},
		{[]string{`training.ponder={"weight": 5, "delay": 0, "warmup": 0}`}, "training.ponder.weight is 5, but"},
		{[]string{"training.ponder.weight=0"}, ""},
		{[]string{"training.ponder.weight=5", `model.halting={"frozen": {"max_steps": 4, "epsilon": 0.01}}`}, ""},
		{[]string{"training.ponder.weight=0", "training.ponder.delay=7", `model.halting={"frozen": {"max_steps": 4, "epsilon": 0.01}}`}, "training.ponder.delay is 7, but training.ponder.weight is 0: it has no effect"},
		{[]string{"training.compute_halted=true"}, "training.compute_halted is true, but"},
		{[]string{"training.weigh_by_tokens=true", "training.accumulate=2"}, ""},
		{[]string{"training.weigh_by_tokens=true", "training.accumulate=1"}, "training.weigh_by_tokens is true, but an update has one batch"},
		{[]string{"training.decay_vectors=true", "training.weight_decay=0"}, "training.decay_vectors is true, but training.weight_decay is 0"},
	} {
		r, err := recipe.Run().Set(c.sets...)
		if err != nil {
			t.Fatal(c.sets, err)
		}
		lines := r.Remarks(c.sets...)
		if all := strings.Join(lines, "\n"); (c.want == "") != (len(lines) == 0) || len(lines) > 1 || !strings.Contains(all, c.want) {
			t.Errorf("%q: %q, want %q", c.sets, lines, c.want)
		}
		if own := r.Remarks(); slices.ContainsFunc(own, func(line string) bool { return strings.Contains(line, "no effect") }) {
			t.Errorf("%q without assignments: %q", c.sets, own)
		}
	}
}
