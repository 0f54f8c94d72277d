package training

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// fill gives every field that is not a pointer a value of its own, none of them zero.
func fill(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(*next)
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("reason ", *next))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Pointer:
	default:
		panic("a state has a field of kind " + v.Kind().String())
	}
}

// Every field of the state is in a checkpoint and comes back from it.
// Caught when planted: a field that is not written (the best accuracy, the best measure, the validations waited, the ponder problems),
// or that is reset although the configuration is the same.
func TestStateIsRestored(t *testing.T) {
	log, err := runlog.Create(t.TempDir()+"/run", map[string]any{"test": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	plan := batch.Plan{Rows: 2, MaxSource: 3, MaxTarget: 3, Window: 8}
	same := func(int64) task.Example { return task.Example{Source: []vocab.ID{2}, Target: []vocab.ID{2, vocab.End}} }
	fresh := func() *Trainer {
		stream, err := batch.NewStream(same, plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		tr := &Trainer{Store: model.NewStore(), Stream: stream, Log: log, Seals: Seals{Configuration: "one"}, step: 7}
		tr.state.CapacityPlan = &capacity.Planner{CompileCost: 3}
		return tr
	}
	before := fresh()
	var next int64
	fill(reflect.ValueOf(&before.state).Elem(), &next)
	before.state.Data = batch.Position{Window: 5, Batch: 1}
	before.state.CapacityPlan.Shapes = []*capacity.ShapePlan{{Shape: capacity.Shape{Rows: 2, Source: 3, Target: 4}, Wasted: 11}}
	c, err := before.checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	after := fresh()
	after.step = 0
	if err := after.restore(c); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(after.state, before.state) || after.step != before.step || after.Stream.Position() != before.state.Data {
		t.Errorf("step %d, batch %+v, state\n%+v, want step %d, batch %+v, state\n%+v", after.step, after.Stream.Position(), after.state, before.step, before.state.Data, before.state)
	}
}
