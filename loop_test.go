package ut_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	ut "universal-transformer"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// own is a model of a run, with the parameters in a store that a loop would train.
type own struct {
	run     ut.Run
	v       task.Vocabularies
	store   *model.Store
	backend compute.Backend
}

// newOwn makes the parameters of a run of 4 updates.
func newOwn(t *testing.T) own {
	t.Helper()
	data, err := reversal().Open()
	if err != nil {
		t.Fatal(err)
	}
	r := briefly(t, universal.FeedForward{Filter: 24}, universal.FromOne{}, halting.Fixed{Steps: 2})
	o := own{r, data.Vocabularies(), model.NewStore(), enginetest.Backend(t)}
	o.logits(t, [][]int32{{2, 3}}, [][]int32{{3, 2, 1}})
	return o
}

// logits computes those of the store's parameters: [1, N, V].
func (o own) logits(t *testing.T, source, target [][]int32) [][]float32 {
	t.Helper()
	m := o.run.Model.Value.Build(o.v, o.run.Seed)
	forward, err := model.NewExec(o.backend, o.store, func(scope *model.Scope, source, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer forward.Finalize()
	logits, err := forward.Call1(source, target)
	if err != nil {
		t.Fatal(err)
	}
	return logits.Value().([][][]float32)[0]
}

// change sets the first number of a parameter.
func (o own) change(t *testing.T, name string, to float32) {
	t.Helper()
	v := o.store.GetVariable(universal.Path(name))
	if v == nil {
		t.Fatalf("there is no parameter %s", name)
	}
	value, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := value.Clone()
	if err != nil {
		t.Fatal(err)
	}
	tensors.MustMutableFlatData(changed, func(flat []float32) { flat[0] = to })
	if err := v.SetValue(changed); err != nil {
		t.Fatal(err)
	}
}

// A model whose parameters a loop has changed is saved as a run of its update, and scores as its logits say, by the softmax in plain code.
// Caught when planted: the update of the configuration or 1 instead of that of the loop; initial parameters saved.
func TestSaveTrained(t *testing.T) {
	o, dir := newOwn(t), filepath.Join(t.TempDir(), "run")
	o.change(t, "readout.weight", 3)
	if err := ut.SaveTrained(dir, o.run, o.v, o.store, 3); err != nil {
		t.Fatal(err)
	}
	info, err := pipeline.ReadInfo(dir)
	if err != nil || info.Step != 3 || info.Steps != 4 || info.Status != pipeline.WeightsOnly {
		t.Errorf("the run is %+v, %v", info, err)
	}
	loaded, err := ut.Load(dir, ut.LoadOptions{Extensions: ut.Extensions{Tasks: []task.Definition{reversal()}}})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	scored, err := loaded.Score(t.Context(), []ut.Pair{{Source: "01", Target: "10"}})
	if err != nil || scored[0].Err != nil {
		t.Fatal(err, scored)
	}
	id := func(id ut.ID, known bool) ut.ID {
		if !known {
			t.Fatal("a digit is unknown")
		}
		return id
	}
	zero, one := id(o.v.Target.ID("0")), id(o.v.Target.ID("1"))
	target, want := []int32{one, zero, 1}, 0.0
	for i, z := range o.logits(t, [][]int32{{id(o.v.Source.ID("0")), id(o.v.Source.ID("1"))}}, [][]int32{target}) {
		sum := 0.0
		for _, x := range z {
			sum += math.Exp(float64(x))
		}
		want += float64(z[target[i]]) - math.Log(sum)
	}
	got := 0.0
	for _, l := range scored[0].LogProbs {
		got += l
	}
	if !(math.Abs(got-want) < 1e-5) {
		t.Errorf("the log-probability is %v, want %v", got, want)
	}
}

// What cannot be saved as a run is refused by name, and leaves no directory. Caught when planted: parameters that are not compared; numbers
// that are not finite; updates outside of 1 to those of the run; an invalid run.
func TestSaveTrainedRefuses(t *testing.T) {
	narrow := newOwn(t)
	narrow.run, _ = narrow.run.Set("model.width=32")
	broken := newOwn(t)
	broken.change(t, "readout.weight", float32(math.NaN()))
	empty, invalid := newOwn(t), newOwn(t)
	empty.store = model.NewStore()
	invalid.run.Training.EvaluateEvery = -1
	for _, c := range []struct {
		own
		step int64
		want string
	}{
		{narrow, 1, " has shape ["}, {broken, 1, "parameter readout.weight contains NaN or infinity"}, {empty, 1, "is missing"}, {invalid, 1, "evaluate_every is -1"},
		{newOwn(t), 0, "trained for 0 updates, and training.steps is 4: give 1 to 4"}, {newOwn(t), 5, "trained for 5 updates, and training.steps is 4"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := ut.SaveTrained(dir, c.run, c.v, c.store, c.step); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if _, err := pipeline.ReadInfo(dir); !errors.Is(err, ut.ErrNotRun) {
			t.Errorf("after %q: %v", c.want, err)
		}
	}
	o, dir := newOwn(t), filepath.Join(t.TempDir(), "run")
	if err := errors.Join(ut.SaveTrained(dir, o.run, o.v, o.store, 4), ut.SaveTrained(dir, o.run, o.v, o.store, 4)); !errors.Is(err, ut.ErrExists) {
		t.Errorf("the second time: %v", err)
	}
}
