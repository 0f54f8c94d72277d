package capacity_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/capacity"
	"universal-transformer/objective"
	"universal-transformer/universal"
)

// learner descends the gradient of small batches, in float64.
type learner struct {
	t      *testing.T
	model  universal.EncoderDecoder
	store  *model.Store
	runner *capacity.Runner
}

func newLearner(t *testing.T, policy halting.Policy, foresight *capacity.Planner) *learner {
	l := &learner{t: t, store: model.NewStore(), model: universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Precision: dtypes.Float64,
		Transition: universal.FeedForward{Filter: 8}, Halting: policy,
	}}}
	l.runner = capacity.NewRunner(enginetest.Backend(t), l.store, l.graph, foresight)
	t.Cleanup(l.runner.Close)
	return l
}

func (l *learner) graph(scope *model.Scope, nodes []*Node, room capacity.Capacities) ([]*Node, universal.Result) {
	in := universal.Inputs{Source: nodes[0], Target: nodes[1], SourceCapacities: room.Source, TargetCapacities: room.Target}
	result := l.model.Forward(scope, in, universal.Options{})
	loss, _ := objective.Objective{}.Of(result, in.Target, Scalar(nodes[0].Graph(), dtypes.Float64, 0.1))
	for i, gradient := range scope.BuildTrainableVariablesGradientsGraph(loss) {
		v := trainable(scope, loss.Graph())[i]
		v.SetNodeValue(Sub(v.NodeValue(loss), MulScalar(gradient, 0.05)))
	}
	return []*Node{loss}, result
}

func trainable(scope *model.Scope, g *Graph) (list []*model.Variable) {
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			list = append(list, v)
		}
	}
	return list
}

// learn learns a ragged batch and gives its loss.
func (l *learner) learn(seed uint64) float64 {
	l.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	ragged := func(rows, length, tokens int) *tensors.Tensor {
		ids := make([]int32, rows*length)
		for r := range rows {
			for i := range 1 + rng.IntN(length) {
				ids[r*length+i] = int32(1 + rng.IntN(tokens-1))
			}
		}
		return tensors.FromFlatDataAndDimensions(ids, rows, length)
	}
	shape := capacity.Shape{Rows: 5, Source: 9, Target: 7}
	if seed%3 == 2 {
		shape = capacity.Shape{Rows: 4, Source: 5, Target: 7}
	}
	out, err := l.runner.Call(shape, ragged(shape.Rows, shape.Source, 7), ragged(shape.Rows, shape.Target, 6))
	if err != nil {
		l.t.Fatal(err)
	}
	return tensors.ToScalar[float64](out[0])
}

// shift adds to the bias of both halting units: positions halt later.
func (l *learner) shift(by float64) {
	l.t.Helper()
	for _, stack := range []string{"encoder", "decoder"} {
		v := l.store.GetVariable("/" + stack + "/halting/bias")
		bias := tensors.MustCopyFlatData[float64](v.MustValue())[0] + by
		if err := v.SetValue(tensors.FromFlatDataAndDimensions([]float64{bias}, 1)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// Learning with foreseen room is learning with room for everything: losses and all variables, also when a sudden change of the
// halting units makes the foresight wrong, under every adaptive policy.
// Caught when planted: variables that an overflow changes; an overflow that nobody notices; demand of a run with too little room taken down.
func TestForeseenRoomChangesNothing(t *testing.T) {
	act := halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}
	for _, policy := range []halting.Policy{halting.Frozen{ACT: act}, halting.Graves{ACT: act}, halting.Listing{ACT: act}} {
		foresight := &capacity.Planner{}
		sparing, lavish := newLearner(t, policy, foresight), newLearner(t, policy, nil)
		for i := range uint64(30) {
			if i == 12 {
				sparing.shift(-3)
				lavish.shift(-3)
			}
			got, want := sparing.learn(i), lavish.learn(i)
			if !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("%T, batch %d: loss %v, with room for everything %v", policy, i, got, want)
			}
		}
		if sparing.runner.Overflows == 0 || sparing.runner.Overflows > 10 {
			t.Errorf("%T: %d overflows: the case shows nothing, or the foresight learns nothing", policy, sparing.runner.Overflows)
		}
		for _, known := range foresight.Shapes {
			if known.Encoder.Plan == nil || known.Decoder.Plan == nil {
				t.Errorf("%T: nothing was foreseen of %+v", policy, known.Shape)
			}
		}
		if len(foresight.Shapes) != 2 {
			t.Errorf("%T: %d shapes, not 2", policy, len(foresight.Shapes))
		}
		for v := range lavish.store.IterVariables() {
			got := tensors.MustCopyFlatData[float64](sparing.store.GetVariable(v.Path()).MustValue())
			for i, want := range tensors.MustCopyFlatData[float64](v.MustValue()) {
				if !(math.Abs(got[i]-want) <= 1e-9) {
					t.Fatalf("%T: %s is %v, with room for everything %v", policy, v.Path(), got[i], want)
				}
			}
		}
	}
}

// Short sequences that stop early are foreseen beside long ones that do not, and a length between them begins as the one nearest to it.
// Caught when planted: one forecast for all shapes; forecasts of two shapes that share what they remember.
func TestEveryShapeHasItsOwnForesight(t *testing.T) {
	var foresight capacity.Planner
	short, long := capacity.Shape{Rows: 32, Source: 10}, capacity.Shape{Rows: 32, Source: 40}
	see := func(s capacity.Shape, demand [][3]int32) { foresight.Of(s).Encoder.Observe(demand, s.Rows, s.Source) }
	for range 20 {
		see(short, [][3]int32{{320, 32, 10}, {32, 32, 1}, {0, 0, 0}})
		see(long, [][3]int32{{1280, 32, 40}, {1280, 32, 40}, {1280, 32, 40}, {0, 0, 0}})
	}
	room := func(source int) float64 {
		f := foresight.Of(capacity.Shape{Rows: 31, Source: source}).Encoder
		return f.Updates()
	}
	for _, c := range []struct {
		source int
		least  float64 // updates a position needs room for
	}{{10, 1.1}, {13, 1.1}, {35, 3}, {40, 3}} {
		if got := room(c.source); got < c.least || got > c.least+0.2 {
			t.Errorf("length %d: room for %v updates a position, %v are needed", c.source, got, c.least)
		}
	}
	known, err := json.Marshal(foresight)
	if err != nil {
		t.Fatal(err)
	}
	see(capacity.Shape{Rows: 31, Source: 10}, [][3]int32{{310, 31, 10}, {310, 31, 10}, {310, 31, 10}, {0, 0, 0}})
	var before capacity.Planner
	if err := json.Unmarshal(known, &before); err != nil {
		t.Fatal(err)
	}
	for i, want := range before.Shapes {
		if got := foresight.Shapes[i]; got.Rows == 32 && !reflect.DeepEqual(got, want) {
			t.Errorf("what is foreseen of %+v changed with another shape: %+v, before %+v", want.Shape, got, want)
		}
	}
}

// There is nothing to foresee of a depth that is given.
func TestForeseesAdaptiveModelsOnly(t *testing.T) {
	for policy, want := range map[halting.Policy]bool{
		halting.Fixed{Steps: 2}: false, halting.Length{}: false, halting.Frozen{}: true, halting.Graves{}: true, halting.Listing{}: true,
	} {
		if got := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: policy}}) != nil; got != want {
			t.Errorf("%T: foresight %v", policy, got)
		}
	}
}
