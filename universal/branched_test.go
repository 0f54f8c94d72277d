package universal_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// share returns the softmax of a vector.
func share(logits []float64) (p []float64) {
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(v)
	}
	for _, v := range logits {
		p = append(p, math.Exp(v)/sum)
	}
	return p
}

// branches is branched attention in plain loops, one branch after the other: the columns of a head, its rows of the output projection, its
// part of the transition.
func (p plainTransformer) branches(a, context matrix, layer, name string, causal bool) matrix {
	v, weights := p.times(context, layer+name+".value"), p.weights(a, context, layer+name, causal)
	output, inner, outer := values(p.machine, layer+name+".output"), values(p.machine, layer+"transition.inner.weight"), values(p.machine, layer+"transition.outer.weight")
	innerBias, outerBias := values(p.machine, layer+"transition.inner.bias"), values(p.machine, layer+"transition.outer.bias")
	kappa, alpha := share(values(p.machine, layer+"transition.kappa")), share(values(p.machine, layer+"transition.alpha"))
	width, filter := len(a[0]), len(innerBias)
	size, part := width/p.heads, filter/p.heads
	out := make(matrix, len(a))
	for i := range a {
		out[i] = make([]float64, width)
		for branch := range p.heads {
			projected := make([]float64, width)
			for c := branch * size; c < (branch+1)*size; c++ {
				head := 0.0
				for j := range context {
					head += weights[(branch*len(a)+i)*len(context)+j] * v[j][c]
				}
				for d := range width {
					projected[d] += kappa[branch] * head * output[c*width+d]
				}
			}
			y := slices.Clone(outerBias)
			for f := branch * part; f < (branch+1)*part; f++ {
				z := innerBias[f]
				for d := range width {
					z += projected[d] * inner[d*filter+f]
				}
				for d := range width {
					y[d] += max(0, z) * outer[f*width+d]
				}
			}
			for d := range width {
				out[i][d] += alpha[branch] * y[d]
			}
		}
	}
	return out
}

// weighted runs an encoder or, with memory, a decoder of the Weighted Transformer.
func (p plainTransformer) weighted(x matrix, name string, memory matrix) matrix {
	for i := range x {
		for channel := range x[i] { // positions count from 1
			angle := float64(i+1) / math.Pow(10000, float64(channel/2*2)/float64(len(x[i])))
			x[i][channel] += []float64{math.Sin(angle), math.Cos(angle)}[channel%2]
		}
	}
	for k := 1; k <= p.layers; k++ {
		layer := fmt.Sprintf("%s.layer_%d.", name, k)
		if memory == nil {
			x = p.residual(x, layer+"self_attention_norm", func(a matrix) matrix { return p.branches(a, a, layer, "self_attention", false) })
			continue
		}
		x = p.residual(x, layer+"self_attention_norm", func(a matrix) matrix { return p.attention(a, a, layer+"self_attention", true) })
		x = p.residual(x, layer+"cross_attention_norm", func(a matrix) matrix { return p.branches(a, memory, layer, "cross_attention", false) })
	}
	if p.preNorm {
		x = p.norm(x, fmt.Sprintf("%s.layer_%d.output_norm", name, p.layers))
	}
	return x
}

// branched returns a small Weighted Transformer of three layers.
func branched(preNorm bool) universal.Config {
	c := small()
	c.UntiedLayers, c.Arrangement, c.Transition = true, universal.Branched{PreNorm: preNorm}, universal.FeedForward{Filter: 5 * c.Heads}
	return c
}

// Branched attention with layers of their own is the Weighted Transformer, computed in plain loops branch by branch: three layers, two
// heads, random weights of branches, both places of the norms.
// Caught when planted: kappa for alpha; one head's columns for another's; kappa behind the rectifier; the transition's bias of every branch
// with weight one; attention and transition of a decoder with ordinary heads.
func TestBranchedIsTheWeightedTransformer(t *testing.T) {
	source, target := []int32{3, 6, 2, 5}, []int32{2, 4, 1}
	for _, preNorm := range []bool{false, true} {
		c := branched(preNorm)
		x := newMachine(t, universal.EncoderDecoder{Config: c})
		got := x.run([][]int32{source}, [][]int32{target})
		p := plainTransformer{machine: x, heads: c.Heads, layers: 3, preNorm: preNorm}
		memory := p.weighted(p.embed(source, "embedding.source", c.Width), "encoder", nil)
		state := p.weighted(p.embed(append([]int32{0}, target[:2]...), "embedding.target", c.Width), "decoder", memory)
		for name, want := range map[string]matrix{"encoder.state": memory, "decoder.state": state, "logits": p.times(state, "readout.weight")} {
			if d := distance(got[name], slices.Concat(want...)); !(d <= 1e-12) {
				t.Errorf("pre-norm %v: %s is off by %.2g", preNorm, name, d)
			}
		}
	}
}

// With one head there is one branch of weight 1: attention followed by the transition, without a residual or norm in between.
// Caught when planted: a residual in between.
func TestOneBranchIsAttentionAndTransition(t *testing.T) {
	c := branched(true)
	c.Heads, c.Width, c.Transition = 1, 6, universal.FeedForward{Filter: 7}
	x := newMachine(t, universal.Encoder{Config: c})
	p := plainTransformer{machine: x, heads: 1, layers: 3, preNorm: true}
	source := []int32{3, 6, 2, 5}
	state := p.embed(source, "embedding.source", c.Width)
	for i := range state {
		for channel := range state[i] {
			angle := float64(i+1) / math.Pow(10000, float64(channel/2*2)/float64(c.Width))
			state[i][channel] += []float64{math.Sin(angle), math.Cos(angle)}[channel%2]
		}
	}
	for k := 1; k <= 3; k++ {
		layer := fmt.Sprintf("encoder.layer_%d.", k)
		state = p.residual(state, layer+"self_attention_norm", func(a matrix) matrix {
			return p.feedForward(p.attention(a, a, layer+"self_attention", false), layer+"transition")
		})
	}
	want := p.norm(state, "encoder.layer_3.output_norm")
	if d := distance(x.run([][]int32{source}, [][]int32{{2}})["encoder.state"], slices.Concat(want...)); !(d <= 1e-12) {
		t.Errorf("off by %.2g", d)
	}
}

// A layer has 2 K parameters more than one without branches; the norm of the transition is gone.
// Caught when planted: a bias for every branch.
func TestBranchedParameters(t *testing.T) {
	c := branched(false)
	plain := c
	plain.Arrangement = nil
	want := shapesOf(t, universal.EncoderDecoder{Config: plain})
	for k := 1; k <= 3; k++ {
		for _, stack := range []string{"encoder", "decoder"} {
			layer := fmt.Sprintf("%s.layer_%d.", stack, k)
			for name := range want {
				if strings.HasPrefix(name, layer+"transition_norm") {
					delete(want, name)
				}
			}
			for _, name := range []string{"kappa", "alpha"} {
				want[layer+"transition."+name] = want["encoder.layer_1.self_attention_norm.gain"]
				want[layer+"transition."+name] = strings.Replace(want[layer+"transition."+name], fmt.Sprint(c.Width), fmt.Sprint(c.Heads), 1)
			}
		}
	}
	same(t, "branched", shapesOf(t, universal.EncoderDecoder{Config: c}), want)
}

// Branches need a transition that can be divided among the heads.
func TestBranchedValidates(t *testing.T) {
	for want, change := range map[string]func(*universal.Config){
		"choose feedforward":     func(c *universal.Config) { c.Transition = universal.SeparableConvolution{Filter: 8} },
		"does not divide filter": func(c *universal.Config) { c.Transition = universal.FeedForward{Filter: 2*c.Heads + 1} },
		"pre_norm is true":       func(c *universal.Config) { c.PreNorm = true },
	} {
		c := branched(true)
		if err := c.Validate(); err != nil || !c.NormsFirst() {
			t.Errorf("%v, norms first %v", err, c.NormsFirst())
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := branched(false)
	c.UntiedLayers, c.Halting = false, halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}}
	if err := c.Validate(); err != nil || c.NormsFirst() || c.SelectsPositions() {
		t.Errorf("%v, norms first %v, selects positions %v", err, c.NormsFirst(), c.SelectsPositions())
	}
}
