package training

import (
	"maps"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/universal"
)

// build makes the executors. Graphs are built when the first batch of a shape comes. Rows are split over all devices of the backend.
func (t *Trainer) build() {
	last := t.updateGraph
	if t.Config.Accumulate > 1 {
		last = t.accumulateGraph(true)
	}
	t.graphs = capacity.NewGraphs(t.Backend, t.Store, capacity.Budget)
	t.graphs.SplitRows()
	run := func(graph capacity.GraphBuilder) *capacity.Runner {
		return t.graphs.Runner(graph, t.state.CapacityPlan)
	}
	t.update, t.accumulate = run(last), run(t.accumulateGraph(false))
	t.evaluate = run(func(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
		f := t.forward(scope, nodes, c, false)
		return []*Node{f.tally}, f.result
	})
	if t.state.CapacityPlan != nil && !t.update.Plans() {
		t.notify("halted positions are computed too, as with training.compute_halted: " + t.Backend.Name() + " compiles so slowly that leaving them out would take longer")
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
	rate        *Node // the learning rate; nil where nothing is learned
	keep        *Node // what the means of the weights keep of themselves; nil where there are none
}

// forward builds the model and the loss of one batch. The nodes are those of feed.Tensors, the ponder weight, and in training the
// learning rate and, where there are means of the weights, what they keep.
func (t *Trainer) forward(scope *model.Scope, nodes []*Node, c capacity.Capacities, training bool) (f forward) {
	in, rest := feed.Inputs(nodes, t.hasSource, t.Positions.Random())
	in.SourceCapacities, in.TargetCapacities = c.Source, c.Target
	scope.Store().SetTraining(in.Target.Graph(), training)
	f.result = t.Model.Forward(scope, in, universal.Options{})
	f.loss, f.tally = t.Config.Objective.Of(f.result, in.Target, rest[0])
	if training {
		f.rate = rest[1]
	}
	if training && t.Config.Average > 0 {
		f.keep = rest[2]
	}
	return f
}

// updateGraph is one update from one batch: gradients, clipped, to Adam. It puts out tally and gradient norm.
func (t *Trainer) updateGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	f := t.forward(scope, nodes, c, true)
	gradients := scope.BuildTrainableVariablesGradientsGraph(f.loss)
	return []*Node{f.tally, t.apply(scope, gradients, f)}, f.result
}

// accumulateGraph adds the gradients of one batch to what earlier batches of the same update gave. The last batch of an update
// applies their mean and clears the sums.
func (t *Trainer) accumulateGraph(last bool) capacity.GraphBuilder {
	return func(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
		f := t.forward(scope, nodes, c, true)
		gradients := scope.BuildTrainableVariablesGradientsGraph(f.loss)
		sums := t.beside(scope, f.loss.Graph(), accumulated)
		for i, sum := range sums {
			gradients[i] = Add(sum.NodeValue(f.loss), gradients[i])
			sum.SetNodeValue(gradients[i])
		}
		if !last {
			return []*Node{f.tally, ScalarZero(f.loss.Graph(), f.loss.DType())}, f.result
		}
		for i, sum := range sums {
			gradients[i] = DivScalar(gradients[i], float64(t.Config.Accumulate))
			sum.SetNodeValue(ZerosLike(gradients[i]))
		}
		return []*Node{f.tally, t.apply(scope, gradients, f)}, f.result
	}
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

// beside gives, in the order of the trainable variables, a variable of the same shape for each in a scope of its own, zero at first.
func (t *Trainer) beside(scope *model.Scope, g *Graph, in string) []*model.Variable {
	var list []*model.Variable
	for _, v := range trainable(scope, g) {
		at := scope.Store().Scope(model.JoinPath(in, v.Scope())).WithInitializer(initializer.Zero)
		list = append(list, at.VariableWithShape(v.Name(), v.Shape()).SetTrainable(false))
	}
	return list
}

// accumulated is the scope of gradient sums.
const accumulated = "/accumulated"

// apply clips the gradients to a global norm (Pascanu et al., 2013) and lets Adam update the variables, and their means follow. It
// returns the norm before clipping.
func (t *Trainer) apply(scope *model.Scope, gradients []*Node, f forward) *Node {
	norm := globalNorm(trainable(scope, gradients[0].Graph()), gradients)
	if limit := t.Config.ClipNorm; limit > 0 {
		scale := MinScalar(Div(Scalar(norm.Graph(), norm.DType(), limit), MaxScalar(norm, 1e-12)), 1.0)
		for i := range gradients {
			gradients[i] = Mul(gradients[i], scale)
		}
	}
	optimizer.LearningRateVar(scope, norm.DType(), 0).SetNodeValue(f.rate)
	matrices, decays := t.decayed(scope, f.rate)
	t.Config.adam().Done().(withGradients).UpdateGraphWithGradients(scope, gradients, norm.DType())
	for i, v := range matrices {
		v.SetNodeValue(Sub(v.NodeValue(norm), decays[i]))
	}
	if f.keep != nil {
		t.average(scope, f.keep)
	}
	return norm
}

// decayed gives what AdamW takes from every matrix besides Adam's step, learning rate times decay times weight, from the
// weights before the update; nothing where Adam decays all parameters itself, or none are decayed.
func (t *Trainer) decayed(scope *model.Scope, learningRate *Node) (matrices []*model.Variable, decays []*Node) {
	if t.Config.WeightDecay == 0 || t.Config.DecayVectors {
		return nil, nil
	}
	for _, v := range trainable(scope, learningRate.Graph()) {
		if v.Shape().Rank() >= 2 {
			matrices = append(matrices, v)
			decays = append(decays, Mul(learningRate, MulScalar(v.NodeValue(learningRate), t.Config.WeightDecay)))
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
