package training

import (
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// muonMomenta is the scope of Muon's momentum buffers.
const muonMomenta = "/muon"

// muon is one step of Muon (Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024) for every hidden matrix W of
// the model. G is its gradient, mu the momentum and eta the learning rate:
//
//	M_t = mu M_(t-1) + G_t
//	W_t = W_(t-1) - 0.2 sqrt(max(rows, columns)) eta orthogonal(G_t + mu M_t)
//
// The factor 0.2 sqrt(...) makes updates as large as Adam's, so that one schedule fits both (Liu et al., "Muon is scalable for LLM
// training", 2025). muon returns the remaining variables and their gradients, for Adam.
func (c Config) muon(scope *model.Scope, gradients []*Node, rate *Node) (rest []*model.Variable, restGradients []*Node) {
	variables := trainable(scope, rate.Graph())
	for i, v := range variables {
		if !withinModel(v) {
			rest, restGradients = append(rest, v), append(restGradients, gradients[i])
			continue
		}
		gradient, momentum := gradients[i], beside(scope, v, muonMomenta)
		m := Add(MulScalar(momentum.NodeValue(rate), c.Muon), gradient)
		momentum.SetNodeValue(m)
		longest := max(v.Shape().Dim(0), v.Shape().Dim(1))
		step := MulScalar(orthogonal(Add(gradient, MulScalar(m, c.Muon))), 0.2*math.Sqrt(float64(longest)))
		v.SetNodeValue(Sub(v.NodeValue(rate), Mul(rate, step)))
	}
	return rest, restGradients
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
//	X <- a X + b (X X') X + c (X X')^2 X,  a = 3.4445, b = -4.7750, c = 2.0315
//
// Each is a polynomial in the singular values alone. The coefficients are Jordan's.
func orthogonal(m *Node) *Node {
	x := m
	tall := m.Shape().Dim(0) > m.Shape().Dim(1)
	if tall { // X X' is to be the smaller one
		x = Transpose(x, 0, 1)
	}
	x = Div(x, AddScalar(Sqrt(ReduceAllSum(Square(x))), 1e-7))
	for range 5 {
		square := Einsum("ij,kj->ik", x, x)
		fourth := Einsum("ij,jk->ik", square, square)
		x = Add(MulScalar(x, 3.4445), Einsum("ij,jk->ik", Add(MulScalar(square, -4.7750), MulScalar(fourth, 2.0315)), x))
	}
	if tall {
		x = Transpose(x, 0, 1)
	}
	return x
}
