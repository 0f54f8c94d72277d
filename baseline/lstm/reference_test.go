package lstm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/internal/modeltest"
	"universal-transformer/universal"
)

// reference computes the models by plain loops over float64, number by number.
type reference struct {
	t     *testing.T
	store *model.Store
	width int
}

// parameter is the entries of a parameter, row by row.
func (r reference) parameter(name string) []float64 { return modeltest.Parameter(r.t, r.store, name) }

func (r reference) embed(name string, token int32) []float64 {
	if token == 0 {
		return make([]float64, r.width)
	}
	return r.parameter(name)[int(token)*r.width:][:r.width]
}

// step is one position of one layer: Hochreiter and Schmidhuber (1997) with the forget gate of Gers et al. (2000), gates in the order
// input, forget, candidate, output.
func (r reference) step(layer string, x, h, c []float64) (newH, newC []float64) {
	w, u, b := r.parameter(layer+".input"), r.parameter(layer+".recurrent"), r.parameter(layer+".bias")
	d := r.width
	sum := func(gate, channel int) float64 {
		column := gate*d + channel
		total := b[column]
		for k := range d {
			total += x[k]*w[k*4*d+column] + h[k]*u[k*4*d+column]
		}
		return total
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for j := range d {
		cell := sigmoid(sum(1, j))*c[j] + sigmoid(sum(0, j))*math.Tanh(sum(2, j))
		newC = append(newC, cell)
		newH = append(newH, sigmoid(sum(3, j))*math.Tanh(cell))
	}
	return newH, newC
}

// network runs all layers of a side over inputs, from the given states and cells, which it changes, and gives the last layer's states.
func (r reference) network(side string, inputs, h, c [][]float64) (top [][]float64) {
	for _, x := range inputs {
		for l := range h {
			h[l], c[l] = r.step(fmt.Sprintf("%s.layer_%d", side, l+1), x, h[l], c[l])
			x = h[l]
		}
		top = append(top, x)
	}
	return top
}

func (r reference) zeros(layers int) [][]float64 {
	list := make([][]float64, layers)
	for i := range list {
		list[i] = make([]float64, r.width)
	}
	return list
}

// attend is the read-out state h~ and the shares of one target position.
func (r reference) attend(h []float64, source [][]float64) (read, shares []float64) {
	total := 0.0
	for _, s := range source {
		score := 0.0
		for k := range h {
			score += h[k] * s[k]
		}
		shares = append(shares, math.Exp(score))
		total += math.Exp(score)
	}
	both := make([]float64, r.width)
	for m, s := range source {
		shares[m] /= total
		for k := range s {
			both[k] += shares[m] * s[k]
		}
	}
	both = append(both, h...)
	weights := r.parameter("decoder.attention.output")
	for j := range r.width {
		sum := 0.0
		for k, v := range both {
			sum += v * weights[k*r.width+j]
		}
		read = append(read, math.Tanh(sum))
	}
	return read, shares
}

func (r reference) logits(h []float64, vocabulary int) (list []float64) {
	weights := r.parameter("readout.weight")
	for v := range vocabulary {
		sum := 0.0
		for k := range h {
			sum += h[k] * weights[k*vocabulary+v]
		}
		list = append(list, sum)
	}
	return list
}

// sequence is what a network reads: tokens, each embedded.
func (r reference) sequence(table string, tokens []int32) (list [][]float64) {
	for _, token := range tokens {
		list = append(list, r.embed(table, token))
	}
	return list
}

// run gives the logits of one example, of a classifier once or for each position, and, with attention, its shares.
func (r reference) run(m universal.Model, each bool, source, target []int32) (logits, shares []float64) {
	h, c := r.zeros(2), r.zeros(2)
	var top [][]float64
	if hasSource(m) {
		top = r.network("encoder", r.sequence("embedding.source", source), h, c)
	}
	if e, ok := m.(lstm.Encoder); ok && each {
		for _, state := range top {
			logits = append(logits, r.logits(state, e.TargetVocabulary)...)
		}
		return logits, nil
	} else if ok {
		pooled := top[len(top)-1]
		if e.Pool == nil {
			pooled = make([]float64, r.width)
			for _, state := range top {
				for k := range state {
					pooled[k] += state[k] / float64(len(top))
				}
			}
		}
		return r.logits(pooled, 5), nil
	}
	for _, state := range r.network("decoder", r.sequence("embedding.target", append([]int32{0}, target[:len(target)-1]...)), h, c) {
		if e, ok := m.(lstm.EncoderDecoder); ok && e.Attention {
			read, a := r.attend(state, top)
			state, shares = read, append(shares, a...)
		}
		logits = append(logits, r.logits(state, 5)...)
	}
	return logits, shares
}

// Every model gives the logits and shares that plain loops give, in training, where layers have a gradient of their own, as well as out
// of it.
// Caught when planted: gates in another order; tanh of the state in place of the cell; a decoder that starts from zero cells; targets
// that are not shifted; scores divided by sqrt(D).
func TestAgreesWithPlainLoops(t *testing.T) {
	source, target := []int32{3, 6, 2, 5, 5}, []int32{2, 4, 3, 1}
	for name, m := range models() {
		if name == "encoder-decoder, one table for all" || name == "encoder, two tokens a position" {
			continue // embeddings of package universal, which has tests for them
		}
		for _, training := range []bool{false, true} {
			x := newMachine(t, m, training)
			logits, shares := x.Run([][]int32{source}, [][]int32{target})
			wantLogits, wantShares := reference{t, x.Store, 3}.run(m, strings.Contains(name, "each position"), source, target)
			if d := modeltest.Distance(logits, wantLogits); !(d < 1e-12) {
				t.Errorf("%s, training %v: logits are off by %v", name, training, d)
			}
			if d := modeltest.Distance(shares, wantShares); !(d < 1e-12) {
				t.Errorf("%s, training %v: attention is off by %v", name, training, d)
			}
		}
	}
}
