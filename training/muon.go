package training

import (
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/training/schedule"
)

// muonMomenta is the scope of Muon's momentum buffers.
const muonMomenta = "/muon"

// muonStep is one step of Muon (Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024) for every hidden matrix W of
// the model. G is its gradient, mu the momentum and eta the learning rate:
//
//	M_t = mu M_(t-1) + G_t
//	W_t = W_(t-1) - 0.2 sqrt(max(rows, columns)) eta orthogonal(G_t + mu M_t)
//
// The factor 0.2 sqrt(...) makes updates as large as Adam's, so that one schedule fits both (Liu et al., "Muon is scalable for LLM
// training", 2025). muonStep returns the remaining variables and their gradients, for Adam.
//
// Where operations have a fixed cost, the matrices of a shape are stacked, which makes one product of all of them.
func muonStep(c schedule.Config, scope *model.Scope, gradients []*Node, rate *Node) (rest []*model.Variable, restGradients []*Node) {
	variables := trainable(scope, rate.Graph())
	var matrices []*model.Variable
	var directions []*Node
	for i, v := range variables {
		if !withinModel(v) {
			rest, restGradients = append(rest, v), append(restGradients, gradients[i])
			continue
		}
		gradient, momentum := gradients[i], companionVariable(scope, v, muonMomenta)
		m := Add(MulScalar(momentum.NodeValue(rate), c.Muon), gradient)
		momentum.SetNodeValue(m)
		matrices, directions = append(matrices, v), append(directions, Add(gradient, MulScalar(m, c.Muon)))
	}
	if engine.CallsSlowly(rate.Graph().Backend()) {
		directions = orthogonalStacks(directions)
	} else {
		for i, m := range directions {
			directions[i] = orthogonal(m)
		}
	}
	for i, v := range matrices {
		longest := max(v.Shape().Dim(0), v.Shape().Dim(1))
		step := MulScalar(directions[i], 0.2*math.Sqrt(float64(longest)))
		v.SetNodeValue(Sub(v.NodeValue(rate), Mul(rate, step)))
	}
	return rest, restGradients
}

// orthogonalStacks is orthogonal of every matrix, computed for all matrices of a shape together.
func orthogonalStacks(matrices []*Node) []*Node {
	stacks := map[[2]int][]int{} // indices of the matrices of a shape
	var order [][2]int
	for i, m := range matrices {
		shape := [2]int{m.Shape().Dim(0), m.Shape().Dim(1)}
		if stacks[shape] == nil {
			order = append(order, shape)
		}
		stacks[shape] = append(stacks[shape], i)
	}
	list := make([]*Node, len(matrices))
	for _, shape := range order {
		members := make([]*Node, len(stacks[shape]))
		for k, i := range stacks[shape] {
			members[k] = matrices[i]
		}
		stack := orthogonal(Stack(members, 0)) // [K, rows, columns]
		for k, i := range stacks[shape] {
			list[i] = Squeeze(SliceAxis(stack, 0, AxisElem(k)), 0)
		}
	}
	return list
}

// withinModel reports whether a parameter is a matrix that maps hidden states to hidden states: not embeddings, the readout, step
// signals, or the kernels of depthwise convolutions, whose rows are not inputs.
func withinModel(v *model.Variable) bool {
	if v.Shape().Rank() != 2 || v.Name() == "step" || v.Name() == "depthwise" {
		return false
	}
	return !strings.HasPrefix(v.Path(), "/embedding/") && !strings.HasPrefix(v.Path(), "/readout/")
}

// orthogonal approximates the matrix U V' of m = U S V', with singular values of about 0.7 to 1.2 in place of S, by five iterations that
// start from m divided by its norm:
//
//	X <- Q X,  Q = a I + b X X' + c (X X')^2,  a = 3.4445, b = -4.7750, c = 2.0315
//
// Each is a polynomial in the singular values alone. The coefficients are Jordan's. m is [rows, columns], or [K, rows, columns] for K
// matrices.
func orthogonal(m *Node) *Node {
	x := m
	rows, columns := m.Shape().Dim(-2), m.Shape().Dim(-1)
	if rows > columns { // X X' must be the smaller product
		x = Transpose(x, -2, -1)
	}
	x = Div(x, AddScalar(Sqrt(norm2(x)), 1e-7))
	groups := []int{1, 1, 1, 1, 1} // iterations between one product with X and the next
	if max(rows, columns) >= 2*min(rows, columns) {
		groups = []int{3, 2} // for [n, 4n] 30 n^3 multiplications instead of 45 n^3, and as exact; one group of 5 is less exact (docs/log.md, 2026-11-25)
	}
	for _, iterations := range groups {
		x = MatMul(productOfIterations(gram(x), iterations), x)
	}
	if rows > columns {
		x = Transpose(x, -2, -1)
	}
	return x
}

// norm2 is the squared norm of x [n, m], a scalar, or of every matrix of x [K, n, m], [K, 1, 1].
func norm2(x *Node) *Node {
	if x.Rank() == 2 {
		return ReduceAllSum(Square(x))
	}
	return ReduceAndKeep(Square(x), ReduceSum, -2, -1)
}

// gram is X X', [n, n], of x [n, m], or [K, n, n] of x [K, n, m].
func gram(x *Node) *Node {
	if x.Rank() == 2 {
		return Einsum("ij,kj->ik", x, x)
	}
	return Einsum("bij,bkj->bik", x, x)
}

// productOfIterations is the product of the matrices Q of several iterations of orthogonal, computed from G = X X' alone, [n, n] or [K, n,
// n]: the G of the next iteration is Q G Q. Rounding errors of G grow by a^2 with each iteration, those of X by a.
func productOfIterations(g *Node, iterations int) *Node {
	q := polynomial(g)
	product := q
	for range iterations - 1 {
		g = MatMul(MatMul(q, g), q)
		q = polynomial(g)
		product = MatMul(q, product)
	}
	return product
}

// polynomial is orthogonal's Q of G, [n, n] or [K, n, n].
func polynomial(g *Node) *Node {
	identity := DiagonalWithValue(Scalar(g.Graph(), g.DType(), 3.4445), g.Shape().Dim(-1))
	if g.Rank() == 3 {
		identity = InsertAxes(identity, 0)
	}
	return Add(identity, Add(MulScalar(g, -4.7750), MulScalar(MatMul(g, g), 2.0315)))
}
