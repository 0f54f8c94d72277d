package training

import (
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

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
	o := t.Config.Objective
	if !training {
		o = o.ForValidation()
	}
	f.result = t.Model.Forward(scope, in, o.Options())
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

// updateGraph makes a whole update by one batch. Its inputs are those of gradientGraph and of applyGraph, its output the tally and the
// norm of the gradients before clipping, in one vector, as every transfer takes time.
func (t *Trainer) updateGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	batch, rates := nodes[:len(nodes)-1], nodes[len(nodes)-1:]
	if t.Config.Average > 0 {
		batch, rates = nodes[:len(nodes)-2], nodes[len(nodes)-2:]
	}
	f := t.forward(scope, batch, c, true)
	norm := t.applyGradients(scope, scope.BuildTrainableVariablesGradientsGraph(f.loss), rates)
	return []*Node{Concatenate([]*Node{f.tally, Reshape(norm, 1)}, 0)}, f.result
}

// applyGraph completes an update with the mean of the summed gradients and clears the sums. Its inputs are those of rates, its output is the
// norm of the gradients before clipping.
func (t *Trainer) applyGraph(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
	g := nodes[0].Graph()
	var gradients []*Node
	for v := range scope.IterVariables() {
		if sum := scope.Store().GetVariable(accumulated + v.Path()); v.Trainable && sum != nil {
			v.NodeValue(g) // from here on trainable lists it
			gradients = append(gradients, DivScalar(sum.NodeValue(g), float64(t.Config.Batches())))
			sum.SetNodeValue(ZerosLike(gradients[len(gradients)-1]))
		}
	}
	return []*Node{t.applyGradients(scope, gradients, nodes)}, universal.Result{}
}

// applyGradients clips gradients to a global norm (Pascanu et al., 2013), applies the optimizer, and updates the moving averages of the
// weights. It returns the norm before clipping, a scalar.
func (t *Trainer) applyGradients(scope *model.Scope, gradients, rates []*Node) *Node {
	g := rates[0].Graph()
	norm := globalNorm(trainable(scope, g), gradients)
	if limit := t.Config.ClipNorm; limit > 0 {
		scale := clipping(norm, limit)
		for i := range gradients {
			gradients[i] = Mul(gradients[i], scale)
		}
	}
	optimize(t.Config, scope, gradients, rates[0])
	if t.Config.Average > 0 {
		t.average(scope, rates[1])
	}
	return norm
}

// clipping is the factor that scales gradients of a norm, a scalar, down to a limit.
func clipping(norm *Node, limit float64) *Node {
	return MinScalar(Div(Scalar(norm.Graph(), norm.DType(), limit), MaxScalar(norm, 1e-12)), 1.0)
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

func finalize(out []*tensors.Tensor) {
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
}
