package training

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/engine"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/seed"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// build creates the executors. Graphs are built when the first batch of a shape arrives. Rows are split over all devices of the backend.
func (t *Trainer) build() {
	t.graphs = capacity.NewGraphs(t.Backend, t.Store, capacity.Budget)
	t.graphs.SplitRows()
	if t.inOneGraph() {
		t.gradients, t.apply = t.graphs.Runner(t.updateGraph, t.state.CapacityPlan), nil
	} else {
		t.gradients, t.apply = t.graphs.Runner(t.gradientGraph, t.state.CapacityPlan), t.graphs.Runner(t.applyGraph, nil)
	}
	t.evaluate = t.graphs.Runner(func(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
		f := t.forward(scope, nodes, c, false)
		out := []*Node{f.tally}
		if universal.Adaptive(t.Model) {
			out = append(out, objective.DepthsOf(f.result))
		}
		return out, f.result
	}, t.state.CapacityPlan)
	if t.state.CapacityPlan != nil && !t.gradients.Plans() {
		t.notify("halted positions are computed too, as with training.compute_halted: " + t.Backend.Name() + " compiles so slowly that skipping them would take longer")
	}
}

// inOneGraph reports whether an update is one call of one graph. It is where calls are slow, unless gradients are summed over several
// batches or ranks.
func (t *Trainer) inOneGraph() bool {
	return engine.CallsSlowly(t.Backend) && t.Config.Batches() == 1 && t.alone()
}

// updateOnce computes the gradients of this rank's batches of an update, averages them over all ranks, and applies the result. The
// batches and their randomness depend on their index in the run, not on the number of ranks.
func (t *Trainer) updateOnce(rate float32) (own report, norm float64, err error) {
	n := t.Config.Batches()
	batches, plans, err := t.draw(n)
	own.data = t.digest(batches)
	if t.apply == nil {
		if err != nil {
			return own, 0, err
		}
		norm, err = t.updateInOneGraph(&own, plans[0], rate)
		return own, norm, withMemoryHint(err)
	}
	err = t.compareFirst(own.data, plans, err)
	for i := t.group.Rank(); i < n; i += t.group.Size() {
		if err == nil {
			err = withMemoryHint(t.gradient(&own, i, plans[i], (t.step-1)*int64(n)+int64(i)))
		}
		if err = t.group.Agree(err); err == nil {
			err = t.foldSums()
		}
		if err != nil {
			return own, 0, err
		}
	}
	if err := t.shareSums(); err != nil {
		return own, 0, err
	}
	out, err := t.apply.Call(capacity.Shape{}, t.rates(rate)...)
	if err = t.group.Agree(withMemoryHint(err)); err != nil {
		return own, 0, err
	}
	norm = float64(tensors.ToScalar[float32](out[0]))
	finalize(out)
	own.parameters, err = t.checksum()
	return own, norm, t.group.Agree(err)
}

// draw draws the batches of an update and plans their capacities before any of them runs, so that results do not affect plans within an
// update.
func (t *Trainer) draw(n int) (batches []batch.Batch, plans []*capacity.ShapePlan, err error) {
	for range n {
		b, err := t.Stream.Next()
		if err != nil {
			return nil, nil, err
		}
		b = withPasses(t.Config, b)
		batches, plans = append(batches, b), append(plans, t.gradients.Plan(capacity.ShapeOf(b)))
	}
	t.drawn = batches
	return batches, plans, nil
}

// passes returns the number of passes over each example: 1, or 2 with R-Drop.
func passes(c schedule.Config) int {
	if c.RDrop > 0 {
		return 2
	}
	return 1
}

// withPasses returns the batch to compute: each row as often as there are passes.
func withPasses(c schedule.Config, b batch.Batch) batch.Batch {
	if passes(c) == 2 {
		return b.Twice()
	}
	return b
}

// shareOf returns the share of batch i of an update ([objective.Share]), to append to the arguments of forward; nothing if batches are not
// weighed.
func (t *Trainer) shareOf(i int) []any {
	if !t.Config.Weighs() {
		return nil
	}
	targets, sources := 0, 0
	for _, b := range t.drawn {
		_, n := b.Tokens()
		targets, sources = targets+n, sources+b.Positions()
	}
	relative := func(n, all int) float32 { return float32(float64(n*len(t.drawn)) / float64(max(all, 1))) }
	_, n := t.drawn[i].Tokens()
	return []any{relative(n, targets), relative(t.drawn[i].Positions(), sources)}
}

// updateInOneGraph makes an update by its only batch and returns the norm of its gradient.
func (t *Trainer) updateInOneGraph(own *report, plan *capacity.ShapePlan, rate float32) (norm float64, err error) {
	out, demand, err := t.call(t.drawn[0], plan, t.step-1, t.rates(rate))
	if err != nil {
		return 0, err
	}
	last := len(out) - 1
	own.batches = append(own.batches, computed{out[:last], demand})
	return float64(out[last]), nil
}

// gradient adds the gradients of batch i of an update to the sums.
func (t *Trainer) gradient(own *report, i int, plan *capacity.ShapePlan, index int64) error {
	tally, demand, err := t.call(t.drawn[i], plan, index, t.shareOf(i))
	if err != nil {
		return err
	}
	own.batches = append(own.batches, computed{tally, demand})
	return nil
}

// call calls the graph of gradients on a batch, with further inputs. All its randomness is derived from the batch's index in the run.
func (t *Trainer) call(b batch.Batch, plan *capacity.ShapePlan, index int64, further []any) ([]float32, capacity.Demand, error) {
	if err := t.Store.SetRNGStateFromSeed(int64(seed.Derive(t.Config.Seed, "dropout", index) >> 1)); err != nil {
		return nil, nil, err
	}
	positions, err := t.drawPositions(b, passes(t.Config), "positions", index)
	if err != nil {
		return nil, nil, err
	}
	out, demand, err := t.gradients.Run(plan, append(t.arguments(b, positions), further...)...)
	if err != nil {
		return nil, nil, err
	}
	defer finalize(out)
	return tensors.MustCopyFlatData[float32](out[0]), demand, nil
}

// rates lists the inputs of applyGraph: the learning rate and, with moving averages, the factor averageShare.
func (t *Trainer) rates(rate float32) []any {
	if t.Config.Average == 0 {
		return []any{rate}
	}
	return []any{rate, averageShare(t.Config, t.step)}
}

// optimize updates the trainable variables with their gradients, with this learning rate.
func optimize(c schedule.Config, scope *model.Scope, gradients []*Node, rate *Node) {
	optimizer.LearningRateVar(scope, rate.DType(), 0).SetNodeValue(rate)
	matrices, decays := weightDecay(c, scope, rate)
	all := trainable(scope, rate.Graph())
	if c.Muon > 0 {
		var rest []*model.Variable
		rest, gradients = muonStep(c, scope, gradients, rate)
		setTrainable(all, rest)
	}
	adam(c).Done().(withGradients).UpdateGraphWithGradients(scope, gradients, rate.DType())
	setTrainable(all, all)
	for i, v := range matrices {
		v.SetNodeValue(Sub(v.NodeValue(rate), decays[i]))
	}
}

// setTrainable makes some of the variables trainable and the others not, because GoMLX's Adam updates all trainable ones.
func setTrainable(all, some []*model.Variable) {
	for _, v := range all {
		v.SetTrainable(slices.Contains(some, v))
	}
}

// adam is Adam (Kingma and Ba, 2015), with weight decay AdamW (Loshchilov and Hutter, 2019), as GoMLX computes it; its learning rate is a
// variable set by every update. GoMLX decays all variables; if only matrices decay, weightDecay does it.
func adam(c schedule.Config) *optimizer.AdamConfig {
	decay := c.WeightDecay
	if !c.DecayVectors {
		decay = 0
	}
	return optimizer.Adam().Betas(c.Beta1, c.Beta2).Epsilon(c.Epsilon).LearningRate(0).WeightDecay(decay)
}

// weightDecay returns the matrices that Adam does not decay itself, and the weight decay to subtract from each besides the optimizer's step:
// learning rate times decay times weight, with the weights before the update.
func weightDecay(c schedule.Config, scope *model.Scope, learningRate *Node) (matrices []*model.Variable, decays []*Node) {
	if c.WeightDecay == 0 {
		return nil, nil
	}
	for _, v := range trainable(scope, learningRate.Graph()) {
		byAdam := c.DecayVectors && !(c.Muon > 0 && withinModel(v))
		if v.Shape().Rank() >= 2 && !byAdam {
			matrices = append(matrices, v)
			decays = append(decays, Mul(learningRate, MulScalar(v.NodeValue(learningRate), c.WeightDecay)))
		}
	}
	return matrices, decays
}

type withGradients interface {
	UpdateGraphWithGradients(scope *model.Scope, gradients []*Node, lossDType dtypes.DType)
}
