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
	"universal-transformer/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/seed"
	"universal-transformer/universal"
)

// build makes the executors. Graphs are built when the first batch of a shape comes. Rows are split over all devices of the backend.
func (t *Trainer) build() {
	t.graphs = capacity.NewGraphs(t.Backend, t.Store, capacity.Budget)
	t.graphs.SplitRows()
	t.gradients = t.graphs.Runner(t.gradientGraph, t.state.CapacityPlan)
	t.apply = t.graphs.Runner(t.applyGraph, nil)
	t.evaluate = t.graphs.Runner(func(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
		f := t.forward(scope, nodes, c, false)
		return []*Node{f.tally}, f.result
	}, t.state.CapacityPlan)
	if t.state.CapacityPlan != nil && !t.gradients.Plans() {
		t.notify("halted positions are computed too, as with training.compute_halted: " + t.Backend.Name() + " compiles so slowly that leaving them out would take longer")
	}
}

// updateOnce computes the gradients of this rank's batches of an update, of all together their mean, and applies that. Which batches there are,
// and what is random in them, follows from their index in the run: not from how many ranks there are.
func (t *Trainer) updateOnce(rate float32) (own report, norm float64, err error) {
	n := t.Config.batches()
	batches, plans, err := t.draw(n)
	own.data = t.digest(batches)
	for i := t.group.Rank(); i < n; i += t.group.Size() {
		if err == nil {
			err = affordable(t.gradient(&own, batches[i], plans[i], (t.step-1)*int64(n)+int64(i)))
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
		arguments = append(arguments, t.Config.keep(t.step))
	}
	out, err := t.apply.Call(capacity.Shape{}, arguments...)
	if err = t.group.Agree(affordable(err)); err != nil {
		return own, 0, err
	}
	norm = float64(tensors.ToScalar[float32](out[0]))
	finalize(out)
	own.parameters, err = t.checksum()
	return own, norm, err
}

// draw draws the batches of an update, and plans them: all before any is run, so that what one needs does not change how the next is computed.
func (t *Trainer) draw(n int) (batches []batch.Batch, plans []*capacity.ShapePlan, err error) {
	for range n {
		b, err := t.Stream.Next()
		if err != nil {
			return nil, nil, err
		}
		batches, plans = append(batches, b), append(plans, t.gradients.Plan(capacity.ShapeOf(b)))
	}
	t.drawn = batches
	return batches, plans, nil
}

// gradient adds the gradients of a batch to the sums. Everything random in it is drawn from the batch's index.
func (t *Trainer) gradient(own *report, b batch.Batch, plan *capacity.ShapePlan, index int64) error {
	if err := t.Store.SetRNGStateFromSeed(int64(seed.Derive(t.Config.Seed, "dropout", index) >> 1)); err != nil {
		return err
	}
	out, demand, err := t.gradients.Run(plan, t.arguments(b, t.drawPositions(b, "positions", index))...)
	if err != nil {
		return err
	}
	own.batches = append(own.batches, computed{tensors.MustCopyFlatData[float32](out[0]), demand})
	finalize(out)
	return nil
}

// optimize changes the trainable variables by their gradients, with this learning rate.
func (c Config) optimize(scope *model.Scope, gradients []*Node, rate *Node) {
	optimizer.LearningRateVar(scope, rate.DType(), 0).SetNodeValue(rate)
	matrices, decays := c.decayed(scope, rate)
	all := trainable(scope, rate.Graph())
	if c.Muon > 0 {
		var rest []*model.Variable
		rest, gradients = c.muon(scope, gradients, rate)
		only(all, rest)
	}
	c.adam().Done().(withGradients).UpdateGraphWithGradients(scope, gradients, rate.DType())
	only(all, all)
	for i, v := range matrices {
		v.SetNodeValue(Sub(v.NodeValue(rate), decays[i]))
	}
}

// only makes some of the variables trainable, and the others not: GoMLX's Adam updates all that are.
func only(all, some []*model.Variable) {
	for _, v := range all {
		v.SetTrainable(slices.Contains(some, v))
	}
}

// adam is Adam (Kingma and Ba, 2015), with weight decay AdamW (Loshchilov and Hutter, 2019), as GoMLX computes it; its
// learning rate is a variable that every update sets. GoMLX decays all variables; where matrices alone decay, decayed does it.
func (c Config) adam() *optimizer.AdamConfig {
	decay := c.WeightDecay
	if !c.DecayVectors {
		decay = 0
	}
	return optimizer.Adam().Betas(c.Beta1, c.Beta2).Epsilon(c.Epsilon).LearningRate(0).WeightDecay(decay)
}

// A forward is what became of one batch.
type forward struct {
	result      universal.Result
	loss, tally *Node
}

// forward builds the model and the loss of one batch. The nodes are those of feed.Tensors and the ponder weight.
func (t *Trainer) forward(scope *model.Scope, nodes []*Node, c capacity.Capacities, training bool) (f forward) {
	in, rest := feed.Inputs(nodes, t.hasSource, t.Positions.Random())
	in.SourceCapacities, in.TargetCapacities = c.Source, c.Target
	scope.Store().SetTraining(in.Target.Graph(), training)
	f.result = t.Model.Forward(scope, in, universal.Options{})
	f.loss, f.tally = t.Config.Objective.Of(f.result, in.Target, rest[0])
	return f
}

// gradientGraph adds the gradients of one batch to the sums. It puts out the tally.
func (t *Trainer) gradientGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	f := t.forward(scope, nodes, c, true)
	gradients := scope.BuildTrainableVariablesGradientsGraph(f.loss)
	for i, v := range trainable(scope, f.loss.Graph()) {
		sum := beside(scope, v, accumulated)
		sum.SetNodeValue(Add(sum.NodeValue(f.loss), gradients[i]))
	}
	return []*Node{f.tally}, f.result
}

// applyGraph is the rest of an update: the mean of the gradients, clipped to a global norm (Pascanu et al., 2013), to the optimizer; the means of the weights
// follow, and the sums are cleared. It reads the learning rate and, where there are means of the weights, what they keep, and puts out
// the norm before clipping.
func (t *Trainer) applyGraph(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
	g, rate := nodes[0].Graph(), nodes[0]
	var gradients []*Node
	for v := range scope.IterVariables() {
		if sum := scope.Store().GetVariable(accumulated + v.Path()); v.Trainable && sum != nil {
			v.NodeValue(g) // from here on trainable lists it
			gradients = append(gradients, DivScalar(sum.NodeValue(g), float64(t.Config.batches())))
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
	t.Config.optimize(scope, gradients, rate)
	if t.Config.Average > 0 {
		t.average(scope, nodes[1])
	}
	return []*Node{norm}, universal.Result{}
}

// trainable lists the variables that gradients are taken of, in the order of scope.BuildTrainableVariablesGradientsGraph.
func trainable(scope *model.Scope, g *Graph) []*model.Variable {
	var list []*model.Variable
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			list = append(list, v)
		}
	}
	return list
}

// beside is a variable of the shape of another, in a scope of its own, zero at first.
func beside(scope *model.Scope, v *model.Variable, in string) *model.Variable {
	at := scope.Store().Scope(model.JoinPath(in, v.Scope())).WithInitializer(initializer.Zero)
	return at.VariableWithShape(v.Name(), v.Shape()).SetTrainable(false)
}

// accumulated is the scope of gradient sums.
const accumulated = "/accumulated"

// decayed gives what weight decay takes from matrices besides the optimizer's step, learning rate times decay times weight, from the
// weights before the update; of those alone that Adam does not decay itself.
func (c Config) decayed(scope *model.Scope, learningRate *Node) (matrices []*model.Variable, decays []*Node) {
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

// globalNorm is the norm of all gradients, variable by variable in the order of their names: a store that was read from a
// checkpoint has another order than one that grew with the model, and the order of a sum shows in its last bit.
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
