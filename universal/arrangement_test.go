package universal_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// arranged runs an encoder or, with memory, a decoder of tied steps in plain loops, as the submitted version of the paper says or, with
// first, its first version. It returns the last state and the weights of attention of every step, [K, M, N] each, flat.
func (p plainTransformer) arranged(h matrix, name string, memory matrix, steps int, first bool) (matrix, [][]float64, [][]float64) {
	var self, cross [][]float64
	before := h
	for t := 1; t <= steps; t++ {
		x := make(matrix, len(h))
		for i, row := range h {
			for channel, v := range row {
				wave := []func(float64) float64{math.Sin, math.Cos}[channel%2]
				turns := math.Pow(10000, float64(channel/2*2)/float64(len(row)))
				x[i] = append(x[i], v+wave(float64(i+1)/turns)+wave(float64(t)/turns))
			}
		}
		a := p.norm(sum(h, p.attention(x, x, name+".self_attention", memory != nil)), name+".self_attention_norm")
		self = append(self, p.weights(x, x, name+".self_attention", memory != nil))
		if memory != nil {
			cross = append(cross, p.weights(a, memory, name+".cross_attention", false))
			a = p.norm(sum(a, p.attention(a, memory, name+".cross_attention", false)), name+".cross_attention_norm")
		}
		residual := a
		if first {
			residual, before = before, a
		}
		h = p.norm(sum(residual, p.feedForward(a, name+".transition")), name+".transition_norm")
	}
	return h, self, cross
}

func sum(a, b matrix) matrix {
	out := make(matrix, len(a))
	for i := range a {
		for j := range a[i] {
			out[i] = append(out[i], a[i][j]+b[i][j])
		}
	}
	return out
}

// weights are those of attention, [K, M, N], flat; 0 where a position attends to nothing.
func (p plainTransformer) weights(a, context matrix, name string, causal bool) []float64 {
	q, k := p.times(a, name+".query"), p.times(context, name+".key")
	size := len(q[0]) / p.heads
	var all []float64
	for head := range p.heads {
		for i := range a {
			row, total := make([]float64, len(context)), 0.0
			for j := range context {
				if causal && j > i {
					continue
				}
				for c := head * size; c < (head+1)*size; c++ {
					row[j] += q[i][c] * k[j][c] / math.Sqrt(float64(size))
				}
				row[j] = math.Exp(row[j])
				total += row[j]
			}
			for _, v := range row {
				all = append(all, v/total)
			}
		}
	}
	return all
}

// Arrangements of earlier versions of the paper, and the weights of attention of every step, in plain loops: three steps of an
// encoder-decoder with two heads.
// Caught when planted: the transition's residual of the step itself; weights of another head; no attention to the encoder.
func TestArrangements(t *testing.T) {
	source, target := []int32{3, 6, 2, 5}, []int32{2, 4, 1}
	for _, first := range []bool{false, true} {
		c := small()
		c.Arrangement = universal.Submitted{}
		if first {
			c.Arrangement = universal.FirstVersion{}
		}
		m := universal.EncoderDecoder{Config: c}
		x := newMachine(t, m)
		p := plainTransformer{machine: x, heads: c.Heads}
		memory, encoder, _ := p.arranged(p.embed(source, "embedding.source", c.Width), "encoder", nil, 3, first)
		state, decoder, cross := p.arranged(p.embed(append([]int32{0}, target[:2]...), "embedding.target", c.Width), "decoder", memory, 3, first)
		got := x.run([][]int32{source}, [][]int32{target})
		for name, want := range map[string]matrix{"encoder.state": memory, "decoder.state": state, "logits": p.times(state, "readout.weight")} {
			if d := distance(got[name], slices.Concat(want...)); !(d <= 1e-12) {
				t.Errorf("%T: %s is off by %.2g", c.Arrangement, name, d)
			}
		}
		plain, asked := attended(t, m, x, source, target, universal.Options{}), attended(t, m, x, source, target, universal.Options{ReturnAttention: true})
		if len(plain) != 0 || len(asked) != 9 {
			t.Fatalf("%d weights of attention, %d if asked for, want none and those of 3 steps of 3 attentions", len(plain), len(asked))
		}
		for i, want := range slices.Concat(encoder, decoder, cross) {
			if d := distance(asked[i], want); !(d <= 1e-12) {
				t.Errorf("%T: the weights of attention %d are off by %.2g", c.Arrangement, i, d)
			}
		}
	}
}

// An arrangement says where the norms are, so it excludes another place of the norms.
func TestArrangementsExcludePreNorm(t *testing.T) {
	c := small()
	c.Arrangement = universal.Submitted{}
	if err := c.Validate(); err != nil || c.NormsFirst() {
		t.Errorf("%v, norms first %v", err, c.NormsFirst())
	}
	c.PreNorm = true
	if want, err := "pre_norm is true, but arrangement is set", c.Validate(); err == nil || fmt.Sprint(err)[:len(want)] != want || !c.NormsFirst() {
		t.Errorf("%v, want %q", err, want)
	}
	if halting := (halting.Frozen{}); c.SelectsPositions() || !(universal.Config{Transition: c.Transition, Halting: halting}).SelectsPositions() {
		t.Error("an arrangement reads all positions, an adaptive policy of the camera-ready version does not")
	}
}
