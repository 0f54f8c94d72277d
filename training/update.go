package training

import (
	"maps"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/seed"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// build creates the executors. Graphs are built when the first batch of a shape arrives. Rows are split over all devices of the backend.
func (t *Trainer) build() {
	t.graphs = capacity.NewGraphs(t.Backend, t.Store, capacity.Budget)
	t.graphs.SplitRows()
	t.gradients = t.graphs.Runner(t.gradientGraph, t.state.CapacityPlan)
	t.apply = t.graphs.Runner(t.applyGraph, nil)
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

// updateOnce computes the gradients of this rank's batches of an update, averages them over all ranks, and applies the result. The
// batches and their randomness depend on their index in the run, not on the number of ranks.
func (t *Trainer) updateOnce(rate float32) (own report, norm float64, err error) {
	n := t.Config.Batches()
	batches, plans, err := t.draw(n)
	own.data = t.digest(batches)
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
	arguments := []any{rate}
	if t.Config.Average > 0 {
		arguments = append(arguments, averageShare(t.Config, t.step))
	}
	out, err := t.apply.Call(capacity.Shape{}, arguments...)
	if err = t.group.Agree(withMemoryHint(err)); err != nil {
		return own, 0, err
	}
	norm = float64(tensors.ToScalar[float32](out[0]))
	finalize(out)
	own.parameters, err = t.checksum()
	return own, norm, err
}

// draw draws the batches of an update and plans their capacities before any of them runs, so that results do not affect plans within an
// update.
func (t *Trainer) draw(n int) (batches []batch.Batch, plans []*capacity.ShapePlan, err error) {
	for range n {
		b, err := t.Stream.Next()
		if err != nil {
			return nil, nil, err
		}
		b = passes(t.Config, b)
		batches, plans = append(batches, b), append(plans, t.gradients.Plan(capacity.ShapeOf(b)))
	}
	t.drawn = batches
	return batches, plans, nil
}

// passes returns the batch to compute: each row once, or twice with R-Drop.
func passes(c schedule.Config, b batch.Batch) batch.Batch {
	if c.RDrop > 0 {
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

// gradient adds the gradients of batch i of an update to the sums. All its randomness is derived from the batch's index in the run.
func (t *Trainer) gradient(own *report, i int, plan *capacity.ShapePlan, index int64) error {
	b := t.drawn[i]
	if err := t.Store.SetRNGStateFromSeed(int64(seed.Derive(t.Config.Seed, "dropout", index) >> 1)); err != nil {
		return err
	}
	arguments := append(t.arguments(b, t.drawPositions(b, "positions", index)), t.shareOf(i)...)
	out, demand, err := t.gradients.Run(plan, arguments...)
	if err != nil {
		return err
	}
	own.batches = append(own.batches, computed{tensors.MustCopyFlatData[float32](out[0]), demand})
	finalize(out)
	return nil
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

// A forward is the result of one batch.
type forward struct {
	result      universal.Result
	loss, tally *Node
}

// forward builds the model and the loss of one batch. The nodes are those of feed.Tensors, the ponder weight, and in training the share
// of the batch if batches are weighed.
func (t *Trainer) forward(scope *model.Scope, nodes []*Node, c capacity.Capacities, training bool) (f forward) {
	in, rest := feed.Inputs(nodes, t.hasSource, t.Positions.Random())
	in.SourceCapacities, in.TargetCapacities = c.Source, c.Target
	scope.Store().SetTraining(in.Target.Graph(), training)
	f.result = t.Model.Forward(scope, in, universal.Options{})
	o := t.Config.Objective
	if !training {
		o.RDrop = 0
	}
	var share objective.Share
	if training && t.Config.Weighs() {
		share = objective.Share{Targets: rest[1], Sources: rest[2]}
	}
	f.loss, f.tally = o.OfPart(f.result, in.Target, rest[0], share)
	return f
}

// gradientGraph adds the gradients of one batch to the sums and outputs the tally.
func (t *Trainer) gradientGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	f := t.forward(scope, nodes, c, true)
	gradients := scope.BuildTrainableVariablesGradientsGraph(f.loss)
	for i, v := range trainable(scope, f.loss.Graph()) {
		sum := companionVariable(scope, v, accumulated)
		sum.SetNodeValue(Add(sum.NodeValue(f.loss), gradients[i]))
	}
	return []*Node{f.tally}, f.result
}

// applyGraph completes an update: it averages the gradients, clips them to a global norm (Pascanu et al., 2013), applies the optimizer,
// updates the moving averages of the weights, and clears the sums. Its inputs are the learning rate and, with moving averages, the factor
// averageShare; it outputs the norm before clipping.
func (t *Trainer) applyGraph(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
	g, rate := nodes[0].Graph(), nodes[0]
	var gradients []*Node
	for v := range scope.IterVariables() {
		if sum := scope.Store().GetVariable(accumulated + v.Path()); v.Trainable && sum != nil {
			v.NodeValue(g) // from here on trainable lists it
			gradients = append(gradients, DivScalar(sum.NodeValue(g), float64(t.Config.Batches())))
			sum.SetNodeValue(ZerosLike(gradients[len(gradients)-1]))
		}
	}
	norm := globalNorm(trainable(scope, g), gradients)
	if limit := t.Config.ClipNorm; limit > 0 {
		scale := MinScalar(Div(Scalar(g, norm.DType(), limit), MaxScalar(norm, 1e-12)), 1.0)
		for i := range gradients {
			gradients[i] = Mul(gradients[i], scale)
		}
	}
	optimize(t.Config, scope, gradients, rate)
	if t.Config.Average > 0 {
		t.average(scope, nodes[1])
	}
	return []*Node{norm}, universal.Result{}
}

// trainable lists the variables that are differentiated, in the order of scope.BuildTrainableVariablesGradientsGraph.
func trainable(scope *model.Scope, g *Graph) []*model.Variable {
	var list []*model.Variable
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			list = append(list, v)
		}
	}
	return list
}

// companionVariable returns a variable with the shape of another, in a separate scope, initially zero.
func companionVariable(scope *model.Scope, v *model.Variable, in string) *model.Variable {
	at := scope.Store().Scope(model.JoinPath(in, v.Scope())).WithInitializer(initializer.Zero)
	return at.VariableWithShape(v.Name(), v.Shape()).SetTrainable(false)
}

// accumulated is the scope of gradient sums.
const accumulated = "/accumulated"

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

// globalNorm is the norm of all gradients, added up in the order of the variables' names: a store that was read from a checkpoint has
// another order than one built with the model, and the order of a sum affects its last bit.
func globalNorm(variables []*model.Variable, gradients []*Node) *Node {
	squares := map[string]*Node{}
	for i, v := range variables {
		squares[v.Path()] = ReduceAllSum(Square(gradients[i]))
	}
	var sorted []*Node
	for _, path := range slices.Sorted(maps.Keys(squares)) {
		sorted = append(sorted, squares[path])
	}
	return Sqrt(ReduceAllSum(Stack(sorted, 0)))
}

type withGradients interface {
	UpdateGraphWithGradients(scope *model.Scope, gradients []*Node, lossDType dtypes.DType)
}
