package training

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/vocab"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// slow is a backend under the name of one whose calls and compilation are slow.
type slow struct{ compute.Backend }

func (slow) Name() string { return "xla" }

// Where calls are slow, an update of one batch and one rank is one graph, and the reader is told that halted positions are computed.
// Caught when planted: one graph for several batches, or several ranks; a note about models of fixed depth.
func TestGraphsOfBackends(t *testing.T) {
	fixed, adaptive := halting.Fixed{Steps: 2}, halting.Frozen{ACT: halting.ACT{MaxSteps: 2}}
	for i, c := range []struct {
		slow       bool
		policy     halting.Policy
		accumulate int
		ranks      int
		oneGraph   bool
		notes      int
	}{
		{false, fixed, 1, 1, false, 0}, {false, adaptive, 1, 1, false, 0}, {true, fixed, 1, 1, true, 0}, {true, adaptive, 1, 1, true, 1},
		{true, fixed, 0, 1, true, 0}, {true, adaptive, 2, 1, false, 1}, {true, fixed, 1, 2, false, 0},
	} {
		var notes []string
		m := universal.Encoder{Config: universal.Config{Halting: c.policy, Transition: universal.FeedForward{Filter: 2}}}
		tr := &Trainer{Backend: enginetest.Backend(t), Model: m, Store: model.NewStore(), Config: schedule.Config{Accumulate: c.accumulate}, Notify: func(line string) { notes = append(notes, line) }}
		tr.group = parallel.Local(c.ranks)[0]
		tr.state.CapacityPlan = capacity.NewPlanner(m)
		if c.slow {
			tr.Backend = slow{tr.Backend}
		}
		tr.build()
		if (tr.apply == nil) != c.oneGraph || tr.inOneGraph() != c.oneGraph || tr.gradients == nil || tr.evaluate == nil {
			t.Errorf("case %d: one graph: %v", i, tr.apply == nil)
		}
		if tr.gradients.Plans() != (!c.slow && c.policy != halting.Policy(fixed)) || tr.evaluate.Plans() != tr.gradients.Plans() || tr.apply != nil && tr.apply.Plans() {
			t.Errorf("case %d: capacities are planned: %v", i, tr.gradients.Plans())
		}
		if len(notes) != c.notes || slices.ContainsFunc(notes, func(line string) bool {
			return line != "halted positions are computed too, as with training.compute_halted: xla compiles so slowly that skipping them would take longer"
		}) {
			t.Errorf("case %d: notes %s", i, strings.Join(notes, "; "))
		}
	}
}

// Norms above the limit are scaled to it, whatever their size, and others are left alone, those of 0 included.
func TestClippingFactor(t *testing.T) {
	exec, err := NewExec(enginetest.Backend(t), func(norms *Node) []*Node {
		return []*Node{clipping(norms, 0.2), clipping(norms, 4)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([]float64{0, 0.1, 0.2, 0.5, 8, 1e6})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 1, 1, 0.4, 0.025, 2e-7}, {1, 1, 1, 1, 0.5, 4e-6}} {
		for j, got := range tensors.MustCopyFlatData[float64](out[i]) {
			if !(math.Abs(got-want[j]) <= 1e-12*want[j]) {
				t.Errorf("limit %d, norm %d: %v, want %v", i, j, got, want[j])
			}
		}
	}
}

// The share of a batch is what it has of all targets, and of all source positions, times the number of batches; 0 where there is nothing.
func TestSharesOfBatches(t *testing.T) {
	of := func(source, target []vocab.ID) batch.Batch {
		return batch.Batch{Rows: 1, SourceLength: len(source), TargetLength: len(target), Source: source, Target: target, Examples: 1}
	}
	for i, c := range []struct {
		drawn []batch.Batch
		want  [][2]float32
	}{
		{[]batch.Batch{of([]vocab.ID{2}, []vocab.ID{3}), of([]vocab.ID{0}, []vocab.ID{0})}, [][2]float32{{2, 2}, {0, 0}}},
		{[]batch.Batch{of([]vocab.ID{2, 2, 3}, []vocab.ID{3, 1, 0}), of([]vocab.ID{4, 0, 0}, []vocab.ID{3, 4, 1})}, [][2]float32{{0.8, 1.5}, {1.2, 0.5}}},
		{[]batch.Batch{of([]vocab.ID{0}, []vocab.ID{0}), of([]vocab.ID{0}, []vocab.ID{0})}, [][2]float32{{0, 0}, {0, 0}}},
	} {
		tr := &Trainer{Config: schedule.Config{Accumulate: 2, WeighByTokens: true}, drawn: c.drawn}
		for k, want := range c.want {
			if got := tr.shareOf(k); !slices.Equal(got, []any{want[0], want[1]}) {
				t.Errorf("case %d: batch %d has shares %v, want %v", i, k, got, want)
			}
		}
	}
	if got := (&Trainer{Config: schedule.Config{Accumulate: 1, WeighByTokens: true}}).shareOf(0); got != nil {
		t.Errorf("a single batch has shares %v", got)
	}
}

// Events of a model of fixed depth have no ponder times, and no model's have counts. Caught when planted: one of both ponder times shown.
func TestScalarsOfARow(t *testing.T) {
	row := map[string]any{"split": "training", "step": int64(3), "loss": 1.5, "tokens": 7.0, "sequences": 2.0, "encoder_ponder": 2.5, "decoder_ponder": 0.5}
	for policy, want := range map[halting.Policy]string{
		halting.Fixed{Steps: 2}: "training/loss=1.5", halting.Frozen{}: "training/decoder_ponder=0.5 training/encoder_ponder=2.5 training/loss=1.5",
	} {
		var got []string
		for _, s := range (&Trainer{Model: universal.Encoder{Config: universal.Config{Halting: policy}}}).scalars(row) {
			got = append(got, fmt.Sprintf("%s=%v", s.Tag, s.Value))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%T: %s, want %s", policy, got, want)
		}
	}
}

// A stack has a mean, a variance and a weight from one position on, and a batch has a source from one token on.
// Caught when planted: a stack of one position left out; a stack without positions.
func TestSmallestBatches(t *testing.T) {
	tally := objective.Tally{EncoderPositions: 1, EncoderUpdates: 3}
	got := stacks(tally, depths(9, 0.25, 0, 0))
	if len(got) != 1 || got[0] != (stack{"encoder", 1, 3, 0, 0.25}) {
		t.Errorf("%+v", got)
	}
	tally = objective.Tally{EncoderPositions: 4, EncoderUpdates: 10, DecoderPositions: 2, DecoderUpdates: 3}
	if got := stacks(tally, depths(27, 1, 5, 0.5)); len(got) != 2 || got[0] != (stack{"encoder", 4, 2.5, 0.5, 0.25}) || got[1] != (stack{"decoder", 2, 1.5, 0.25, 0.25}) {
		t.Errorf("%+v", got)
	}
	for length, want := range map[int]int{0: 2, 1: 3, 2: 3} {
		tr := &Trainer{step: 3, Config: schedule.Config{Ponder: objective.PonderSchedule{Weight: 0.5, Steps: 6}}}
		b := batch.Batch{Rows: 1, SourceLength: length, TargetLength: 1, Source: make([]vocab.ID, length), Target: []vocab.ID{1}, Examples: 1}
		if got := tr.arguments(b, nil); tr.hasSource != (length > 0) || len(got) != want || got[want-1] != float32(0.25) {
			t.Errorf("a source of %d tokens: %v, %d inputs, the last of them %v", length, tr.hasSource, len(got), got[len(got)-1])
		}
	}
}

// With R-Drop a probe computes each row twice, in its cost and in its updates.
func TestProbeOfRDrop(t *testing.T) {
	m := universal.Decoder{Config: universal.Config{TargetVocabulary: 5, Width: 4, Heads: 1, Transition: universal.FeedForward{Filter: 3}, Halting: halting.Fixed{Steps: 2}}}
	c := schedule.Config{Steps: 1, Schedule: schedule.Constant{LearningRate: 1}, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-9, LogEvery: 1, EvaluateEvery: 1, CheckpointEvery: 1, Keep: 2}
	b := batch.Batch{Rows: 1, TargetLength: 3, Target: []vocab.ID{2, 3, 1}, Examples: 1}
	var costs []Cost
	for _, c.RDrop = range []float64{0, 2} {
		p, err := NewProbe(c, enginetest.Backend(t), m)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		cost, err := p.Cost(b)
		if err != nil {
			t.Fatal(err)
		}
		costs = append(costs, cost)
		if err := p.Update(b); err != nil {
			t.Errorf("R-Drop of %v: %v", c.RDrop, err)
		}
	}
	if costs[0].Operations == 0 || costs[1].Operations != 2*costs[0].Operations || costs[1].Model != costs[0].Model {
		t.Errorf("costs %+v, with R-Drop %+v", costs[0], costs[1])
	}
}
