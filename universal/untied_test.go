package universal_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A plainTransformer is the Transformer of Vaswani et al. (2017) in loops over slices, of one example without padding, with
// the weights of a machine. Rows are positions.
type plainTransformer struct {
	*machine
	heads   int
	layers  int
	preNorm bool
	tied    bool // every layer has the same weights, and before each its coordinates are added instead of positions once
}

type matrix [][]float64

// times is a W, W being the parameter of that name.
func (p plainTransformer) times(a matrix, name string) matrix {
	w := values(p.machine, name)
	columns := len(w) / len(a[0])
	out := make(matrix, len(a))
	for i, row := range a {
		out[i] = make([]float64, columns)
		for k, x := range row {
			for j := range columns {
				out[i][j] += x * w[k*columns+j]
			}
		}
	}
	return out
}

// affine is a W + b.
func (p plainTransformer) affine(a matrix, weight, bias string) matrix {
	out, b := p.times(a, weight), values(p.machine, bias)
	for i := range out {
		for j := range out[i] {
			out[i][j] += b[j]
		}
	}
	return out
}

func (p plainTransformer) norm(a matrix, name string) matrix {
	gain, bias := values(p.machine, name+".gain"), values(p.machine, name+".bias")
	out := make(matrix, len(a))
	for i, row := range a {
		mean, variance := 0.0, 0.0
		for _, x := range row {
			mean += x / float64(len(row))
		}
		for _, x := range row {
			variance += (x - mean) * (x - mean) / float64(len(row))
		}
		for j, x := range row {
			out[i] = append(out[i], (x-mean)/math.Sqrt(variance+1e-6)*gain[j]+bias[j])
		}
	}
	return out
}

func (p plainTransformer) attention(a, context matrix, name string, causal bool) matrix {
	q, k, v := p.times(a, name+".query"), p.times(context, name+".key"), p.times(context, name+".value")
	size := len(q[0]) / p.heads
	out := make(matrix, len(a))
	for i := range a {
		out[i] = make([]float64, len(v[0]))
		for head := range p.heads {
			last := len(context)
			if causal {
				last = i + 1
			}
			scores, sum := make([]float64, last), 0.0
			for j := range last {
				for c := head * size; c < (head+1)*size; c++ {
					scores[j] += q[i][c] * k[j][c] / math.Sqrt(float64(size))
				}
				scores[j] = math.Exp(scores[j])
				sum += scores[j]
			}
			for j := range last {
				for c := head * size; c < (head+1)*size; c++ {
					out[i][c] += scores[j] / sum * v[j][c]
				}
			}
		}
	}
	return p.times(out, name+".output")
}

func (p plainTransformer) feedForward(a matrix, name string) matrix {
	inner := p.affine(a, name+".inner.weight", name+".inner.bias")
	for i := range inner {
		for j := range inner[i] {
			inner[i][j] = max(0, inner[i][j])
		}
	}
	return p.affine(inner, name+".outer.weight", name+".outer.bias")
}

// residual is a sub-layer with its residual connection and its norm.
func (p plainTransformer) residual(a matrix, norm string, layer func(matrix) matrix) matrix {
	y := a
	if p.preNorm {
		y = p.norm(a, norm)
	}
	y = layer(y)
	out := make(matrix, len(a))
	for i := range a {
		for j := range a[i] {
			out[i] = append(out[i], a[i][j]+y[i][j])
		}
	}
	if !p.preNorm {
		out = p.norm(out, norm)
	}
	return out
}

// stack runs an encoder, or, where memory is not nil, a decoder.
func (p plainTransformer) stack(x matrix, name string, memory matrix) matrix {
	for layer := 1; layer <= p.layers; layer++ {
		at := fmt.Sprintf("%s.layer_%d.", name, layer)
		if p.tied {
			at = name + "."
		}
		for i := range x {
			for channel := range x[i] { // positions and layers count from 1
				if p.tied {
					x[i][channel] += sinusoid(i+1, channel, len(x[i])) + sinusoid(layer, channel, len(x[i]))
				} else if layer == 1 {
					x[i][channel] += sinusoid(i+1, channel, len(x[i]))
				}
			}
		}
		x = p.residual(x, at+"self_attention_norm", func(a matrix) matrix { return p.attention(a, a, at+"self_attention", memory != nil) })
		if memory != nil {
			x = p.residual(x, at+"cross_attention_norm", func(a matrix) matrix { return p.attention(a, memory, at+"cross_attention", false) })
		}
		x = p.residual(x, at+"transition_norm", func(a matrix) matrix { return p.feedForward(a, at+"transition") })
	}
	switch {
	case p.preNorm && p.tied:
		x = p.norm(x, name+".output_norm")
	case p.preNorm:
		x = p.norm(x, fmt.Sprintf("%s.layer_%d.output_norm", name, p.layers))
	}
	return x
}

func sinusoid(n, channel, width int) float64 {
	angle := float64(n) / math.Pow(10000, float64(channel/2*2)/float64(width))
	return []float64{math.Sin(angle), math.Cos(angle)}[channel%2]
}

// outputs are those of an encoder-decoder.
func (p plainTransformer) outputs(source, target []int32, width int) map[string]matrix {
	memory := p.stack(p.embed(source, "embedding.source", width), "encoder", nil)
	state := p.stack(p.embed(append([]int32{0}, target[:len(target)-1]...), "embedding.target", width), "decoder", memory)
	return map[string]matrix{"encoder.state": memory, "decoder.state": state, "logits": p.times(state, "readout.weight")}
}

// embed looks tokens up; token 0 is the zero vector.
func (p plainTransformer) embed(tokens []int32, name string, width int) (x matrix) {
	table := values(p.machine, name)
	for _, id := range tokens {
		row := make([]float64, width)
		if id > 0 {
			copy(row, table[int(id)*width:])
		}
		x = append(x, row)
	}
	return x
}

// An encoder-decoder with untied layers is the Transformer, computed in plain loops: three layers, two heads, each layer its own random
// weights, both places of the norms.
// Caught when planted: all layers with the weights of the first; positions added in every layer; no output norm; cross-attention
// with the keys of the first layer.
func TestUntiedLayersAreTheTransformer(t *testing.T) {
	source, target := []int32{3, 6, 2, 5}, []int32{2, 4, 1}
	for _, preNorm := range []bool{false, true} {
		c := small()
		c.UntiedLayers, c.PreNorm = true, preNorm
		x := newMachine(t, universal.EncoderDecoder{Config: c})
		got := x.run([][]int32{source}, [][]int32{target})
		p := plainTransformer{machine: x, heads: c.Heads, layers: 3, preNorm: preNorm}
		for name, want := range p.outputs(source, target, c.Width) {
			if d := distance(got[name], slices.Concat(want...)); !(d <= 1e-12) {
				t.Errorf("pre-norm %v: %s is off by %.2g", preNorm, name, d)
			}
		}
	}
}

// Every untied layer has all the parameters of a step, under its own scope; embeddings and readout are there once.
func TestUntiedLayersHaveTheirOwnParameters(t *testing.T) {
	for _, preNorm := range []bool{false, true} {
		c := small()
		c.PreNorm = preNorm
		tied, want := shapesOf(t, universal.EncoderDecoder{Config: c}), map[string]string{}
		for name, shape := range tied {
			stack, below, _ := strings.Cut(name, ".")
			switch {
			case stack != "encoder" && stack != "decoder":
				want[name] = shape
			case strings.HasPrefix(below, "output_norm."):
				want[stack+".layer_3."+below] = shape
			default:
				for layer := 1; layer <= 3; layer++ {
					want[fmt.Sprintf("%s.layer_%d.%s", stack, layer, below)] = shape
				}
			}
		}
		c.UntiedLayers = true
		same(t, "untied", shapesOf(t, universal.EncoderDecoder{Config: c}), want)
		same(t, "untied encoder", shapesOf(t, universal.Encoder{Config: c}), without(want, "decoder.", "embedding.target"))
		same(t, "untied decoder", shapesOf(t, universal.Decoder{Config: c}), without(want, "encoder.", "embedding.source", "cross_attention"))
	}
}

// without leaves out the parameters whose names hold one of the parts.
func without(list map[string]string, parts ...string) map[string]string {
	left := maps.Clone(list)
	maps.DeleteFunc(left, func(name, _ string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	})
	return left
}

// With an exit after two of three layers, the first two run as they do in the whole model, and the norm of the last one follows.
// Caught when planted: an output norm of the layer that ran last.
func TestExitOfUntiedLayers(t *testing.T) {
	for _, preNorm := range []bool{false, true} {
		c := small()
		c.UntiedLayers, c.PreNorm = true, preNorm
		m := universal.Encoder{Config: c}
		x := newMachine(t, m)
		exited, err := m.WithExit(halting.Exit{Steps: 2})
		if err != nil {
			t.Fatal(err)
		}
		short := newMachine(t, exited)
		for v := range short.store.IterVariables() {
			if x.store.GetVariable(v.Path()) == nil {
				t.Errorf("pre-norm %v: the exit has a parameter of its own, %s", preNorm, v.Path())
			}
		}
		for _, add := range []string{"self_attention.output", "transition.outer.weight", "transition.outer.bias"} { // layer 3 adds nothing
			name := "encoder.layer_3." + add
			set(x, name, make([]float64, len(values(x, name))))
		}
		got, want := short.run([][]int32{{3, 6, 2}}, [][]int32{{2}}), x.run([][]int32{{3, 6, 2}}, [][]int32{{2}})
		if d := distance(got["logits"], want["logits"]); preNorm && !(d <= 1e-12) {
			t.Errorf("two layers of three are off by %.2g", d)
		}
		if _, err := m.WithExit(halting.Exit{Fixed: 4}); err == nil || !strings.Contains(err.Error(), "give at most 3") {
			t.Errorf("more layers than there are: %v", err)
		}
	}
}

func TestUntiedLayersValidate(t *testing.T) {
	for want, change := range map[string]func(*universal.Config){
		"untied_layers needs fixed halting":            func(c *universal.Config) { c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 2}} },
		"learned_steps and untied_layers are both set": func(c *universal.Config) { c.LearnedSteps = true },
	} {
		c := small()
		c.UntiedLayers = true
		change(&c)
		if err := (universal.Decoder{Config: c}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
