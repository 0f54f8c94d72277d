package training

import (
	"maps"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/internal/feed"
)

// build makes the executors. Graphs are built when the first batch of a shape comes.
func (t *Trainer) build() (err error) {
	last := t.updateGraph
	if t.Config.Accumulate > 1 {
		last = t.accumulateGraph(true)
	}
	for _, e := range []struct {
		exec  **model.Exec
		graph func(*model.Scope, []*Node) []*Node
	}{
		{&t.update, last},
		{&t.accumulate, t.accumulateGraph(false)},
		{&t.evaluate, func(scope *model.Scope, nodes []*Node) []*Node {
			_, tally, _ := t.tallyGraph(scope, nodes, false)
			return []*Node{tally}
		}},
	} {
		if *e.exec, err = model.NewExec(t.Backend, t.Store, e.graph); err != nil {
			return err
		}
		(*e.exec).SetMaxCache(-1)
	}
	return nil
}

// adam is Adam (Kingma and Ba, 2015) as GoMLX computes it; its learning rate is a variable that every update sets.
func (c Config) adam() *optimizer.AdamConfig {
	return optimizer.Adam().Betas(c.Beta1, c.Beta2).Epsilon(c.Epsilon).LearningRate(0).WeightDecay(0)
}

// tallyGraph builds forward and loss of one batch. The nodes are those of feed.Tensors, then the ponder weight and whatever follows.
func (t *Trainer) tallyGraph(scope *model.Scope, nodes []*Node, training bool) (loss, tally *Node, rest []*Node) {
	in, rest := feed.Inputs(nodes, t.hasSource, training && t.Positions.Random())
	scope.Store().SetTraining(in.Target.Graph(), training)
	result := t.Model.Forward(scope, in, noWatch)
	loss, tally = t.Config.Objective.Of(result, in.Target, rest[0])
	return loss, tally, rest[1:]
}

// updateGraph is one update from one batch: gradients, clipped, to Adam. It returns tally and gradient norm.
func (t *Trainer) updateGraph(scope *model.Scope, nodes []*Node) []*Node {
	loss, tally, rest := t.tallyGraph(scope, nodes, true)
	gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
	return []*Node{tally, t.apply(scope, gradients, rest[0])}
}

// accumulateGraph adds the gradients of one batch to what earlier batches of the same update gave. The last batch of an update
// applies their mean and clears the sums.
func (t *Trainer) accumulateGraph(last bool) func(*model.Scope, []*Node) []*Node {
	return func(scope *model.Scope, nodes []*Node) []*Node {
		loss, tally, rest := t.tallyGraph(scope, nodes, true)
		gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
		sums := t.sums(scope, loss.Graph())
		for i, sum := range sums {
			gradients[i] = Add(sum.NodeValue(loss), gradients[i])
			sum.SetNodeValue(gradients[i])
		}
		if !last {
			return []*Node{tally, ScalarZero(loss.Graph(), loss.DType())}
		}
		for i, sum := range sums {
			gradients[i] = DivScalar(gradients[i], float64(t.Config.Accumulate))
			sum.SetNodeValue(ZerosLike(gradients[i]))
		}
		return []*Node{tally, t.apply(scope, gradients, rest[0])}
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

// sums are the variables that gradients are accumulated in, in the order of the trainable variables.
func (t *Trainer) sums(scope *model.Scope, g *Graph) []*model.Variable {
	var sums []*model.Variable
	for _, v := range trainable(scope, g) {
		at := scope.Store().Scope(model.JoinPath(accumulated, v.Scope())).WithInitializer(initializer.Zero)
		sums = append(sums, at.VariableWithShape(v.Name(), v.Shape()).SetTrainable(false))
	}
	return sums
}

// accumulated is the scope of gradient sums.
const accumulated = "/accumulated"

// apply clips the gradients to a global norm (Pascanu et al., 2013) and lets Adam update the variables. It returns the norm
// before clipping.
func (t *Trainer) apply(scope *model.Scope, gradients []*Node, learningRate *Node) *Node {
	norm := globalNorm(trainable(scope, gradients[0].Graph()), gradients)
	if limit := t.Config.ClipNorm; limit > 0 {
		scale := MinScalar(Div(Scalar(norm.Graph(), norm.DType(), limit), MaxScalar(norm, 1e-12)), 1.0)
		for i := range gradients {
			gradients[i] = Mul(gradients[i], scale)
		}
	}
	optimizer.LearningRateVar(scope, norm.DType(), 0).SetNodeValue(learningRate)
	t.Config.adam().Done().(withGradients).UpdateGraphWithGradients(scope, gradients, norm.DType())
	return norm
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
