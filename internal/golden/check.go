package golden

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/safetensors"
	"universal-transformer/universal"
)

// Check runs the case on a backend at a precision. It returns one line for every value that differs by more than tolerance.
func (c *Case) Check(backend compute.Backend, precision dtypes.DType, tolerance Tolerance) (differences []string, err error) {
	got, err := c.run(backend, precision)
	if err != nil {
		return nil, err
	}
	for name, want := range c.tensors {
		limit := tolerance.Value
		switch {
		case strings.HasPrefix(name, "gradient."):
			limit = tolerance.Gradient
		case !strings.HasPrefix(name, "expect."):
			continue
		}
		have, ok := got[name]
		if !ok {
			if !c.Config.Adaptive() && strings.HasSuffix(name, ".remainders") {
				continue // the depth is fixed; the file holds zeros
			}
			differences = append(differences, fmt.Sprintf("%s %s: the model does not compute it", c.Name, name))
			continue
		}
		if worst := c.distance(name, have, floats(want)); !(worst <= limit) {
			differences = append(differences, fmt.Sprintf("%s %s: off by %.3g of the largest entry, at most %.0g allowed", c.Name, name, worst, limit))
		}
	}
	return differences, nil
}

// run computes all values that a case may contain, by their names in the file.
func (c *Case) run(backend compute.Backend, precision dtypes.DType) (map[string][]float64, error) {
	with := *c
	with.Config.Precision = precision
	m := with.model()
	store := model.NewStore()
	for _, name := range c.parameters() {
		t := c.tensors["weight."+name]
		if _, err := store.CreateVariable(universal.Path(name), tensorOf(floats(t), precision, t.Shape)); err != nil {
			return nil, err
		}
	}
	var names []string
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, nodes []*Node) []*Node {
		var values []*Node
		names = names[:0]
		for name, value := range c.graph(m, scope, nodes) {
			names, values = append(names, name), append(values, value)
		}
		return values
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call(idsOf(c.tensors["input.source"]), idsOf(c.tensors["input.target"]))
	if err != nil {
		return nil, err
	}
	got := map[string][]float64{}
	for i, name := range names {
		got[name] = flat(out[i])
	}
	return got, nil
}

// graph builds the case's outputs and gradients.
func (c *Case) graph(m universal.Model, scope *model.Scope, nodes []*Node) map[string]*Node {
	in := universal.Inputs{Source: nodes[0], Target: nodes[1]}
	result := m.Forward(scope, in, universal.Options{ReturnAttention: true})
	weight := Scalar(nodes[0].Graph(), result.Logits.DType(), c.PonderWeight)
	loss, _ := objective.Objective{}.Of(result, in.Target, weight)
	values := map[string]*Node{
		"expect.loss": Reshape(loss, 1), "expect.logits": result.Logits,
		"expect.encoder.attention": Stack(result.Encoder.Attention, 0),
	}
	for name, pass := range map[string]*universal.Pass{"encoder": result.Encoder, "decoder": result.Decoder} {
		if pass == nil {
			continue
		}
		values["expect."+name+".output"] = pass.State
		values["expect."+name+".updates"] = pass.Updates
		if pass.Weighted() {
			values["expect."+name+".remainders"] = pass.Remainders
			values["expect."+name+".weights"] = Stack(pass.Weights, 0)
		}
	}
	var variables []*Node
	names := c.parameters()
	for _, name := range names {
		variables = append(variables, scope.Store().GetVariable(universal.Path(name)).NodeValue(loss))
	}
	for i, gradient := range Gradient(loss, variables...) {
		values["gradient."+names[i]] = gradient
	}
	return values
}

// distance returns the largest difference at real positions, relative to the largest entry there. It is infinite for tensors of
// different sizes. A file may end with the step in which the last position halted, while the model always unrolls to the limit; the
// weights of the further steps must then be 0.
func (c *Case) distance(name string, have, want []float64) float64 {
	perStep := strings.HasSuffix(name, ".weights") || strings.HasSuffix(name, ".attention")
	if perStep && len(have) > len(want) && len(want) > 0 {
		beyond := have[len(want):]
		have = have[:len(want)]
		if strings.HasSuffix(name, ".weights") && (slices.Max(beyond) != 0 || slices.Min(beyond) != 0) {
			return math.Inf(1)
		}
	}
	if len(have) != len(want) {
		return math.Inf(1)
	}
	var worst, largest float64
	for i := range want {
		if c.padding(name, i) {
			continue
		}
		if d := math.Abs(have[i] - want[i]); d > worst || math.IsNaN(d) {
			worst = d
			if math.IsNaN(d) {
				return d
			}
		}
		largest = max(largest, math.Abs(want[i]))
	}
	if worst == 0 {
		return 0
	}
	return worst / max(largest, math.SmallestNonzeroFloat64)
}

// padding reports whether entry i of a result belongs to a padded position of its sequence, or to an attention row or column of one.
func (c *Case) padding(name string, i int) bool {
	ids := c.tensors["input.target"]
	if strings.HasPrefix(name, "expect.encoder.") {
		ids = c.tensors["input.source"]
	}
	rows, length := ids.Shape[0], ids.Shape[1]
	at := func(row, position int) bool { return id(ids, row*length+position) == 0 }
	switch {
	case strings.HasPrefix(name, "gradient.") || name == "expect.loss":
		return false
	case strings.HasSuffix(name, ".attention"): // [T, B, K, M, M]
		row := i / (c.Config.Heads * length * length) % rows
		return at(row, i/length%length) || at(row, i%length)
	case strings.HasSuffix(name, ".output"): // [B, M, D]
		return at(i/c.Config.Width/length, i/c.Config.Width%length)
	case name == "expect.logits": // [B, M, V]
		return at(i/c.Config.TargetVocabulary/length, i/c.Config.TargetVocabulary%length)
	case strings.HasSuffix(name, ".weights"): // [T, B, M]
		return at(i/length%rows, i%length)
	}
	return at(i/length, i%length) // [B, M]
}

func floats(t safetensors.Tensor) []float64 {
	values := make([]float64, len(t.Data)/8)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(t.Data[8*i:]))
	}
	return values
}

func id(t safetensors.Tensor, i int) int32 { return int32(binary.LittleEndian.Uint64(t.Data[8*i:])) }

func idsOf(t safetensors.Tensor) *tensors.Tensor {
	ids := make([]int32, len(t.Data)/8)
	for i := range ids {
		ids[i] = id(t, i)
	}
	return tensors.FromFlatDataAndDimensions(ids, t.Shape...)
}

func tensorOf(values []float64, precision dtypes.DType, shape []int) *tensors.Tensor {
	if precision == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, shape...)
	}
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(single, shape...)
}

// flat returns the entries of a result as float64.
func flat(t *tensors.Tensor) []float64 {
	if t.DType() == dtypes.Float64 {
		return tensors.MustCopyFlatData[float64](t)
	}
	single := tensors.MustCopyFlatData[float32](t)
	values := make([]float64, len(single))
	for i, v := range single {
		values[i] = float64(v)
	}
	return values
}
