package viewer

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"math"
	"slices"
)

// kept is the maximum number of keys per query that a page holds.
const kept = 16

// packedWeights is attention in the page, [T][K][queries][keys]: of each query the keys with the largest weights, at most kept, and the sum
// of the other weights. The mean of several heads follows them as if it were another head, because the mean of what is kept is less.
type packedWeights struct {
	Shape  [4]int `json:"shape"`  // T, K without the mean, queries, keys
	Packed string `json:"packed"` // base64 without padding of the compressed planes of packer
}

// packer collects attention as bytes, one list per kind, because equal kinds compress well. A weight w is the byte round(255 sqrt(w)), so that
// small weights in long inputs can be distinguished. Keys of a query ascend; each is the distance from the one before it, from -1 at first.
type packer struct {
	counts, low, high, weights, rest []byte
}

// packAttention packs attention as described at packedWeights.
func packAttention(attention [][][][]float64) packedWeights {
	first := attention[0][0]
	w := packedWeights{Shape: [4]int{len(attention), len(attention[0]), len(first), len(first[0])}}
	var p packer
	order := make([]int, 0, kept+1)
	for _, step := range attention {
		if len(step) > 1 {
			step = append(slices.Clip(step), meanOf(step))
		}
		for _, head := range step {
			for _, row := range head {
				p.add(row, order)
			}
		}
	}
	w.Packed = base64.RawURLEncoding.EncodeToString(deflate(slices.Concat(p.counts, p.low, p.high, p.weights, p.rest)))
	return w
}

// meanOf returns the mean of heads, [queries][keys].
func meanOf(heads [][][]float64) [][]float64 {
	mean := make([][]float64, len(heads[0]))
	for q := range mean {
		mean[q] = make([]float64, len(heads[0][q]))
		for _, head := range heads {
			for key, v := range head[q] {
				mean[q][key] += v / float64(len(heads))
			}
		}
	}
	return mean
}

// add appends the weights of one query.
func (p *packer) add(row []float64, order []int) {
	order = largest(row, order)
	last, rest := -1, 1.0
	for _, key := range order {
		p.low, p.high = append(p.low, byte(key-last)), append(p.high, byte((key-last)>>8))
		p.weights = append(p.weights, level(row[key]))
		last, rest = key, rest-row[key]
	}
	if len(order) < kept {
		rest = 0 // only weights that round to nothing are missing
	}
	p.counts, p.rest = append(p.counts, byte(len(order))), append(p.rest, level(rest))
}

// largest returns the keys with the largest weights in ascending order, at most kept, without those that round to nothing. Of equal weights
// it prefers the first.
func largest(row []float64, order []int) []int {
	order = order[:0] // by weight, the largest first
	for key, v := range row {
		if len(order) == kept && v <= row[order[kept-1]] || level(v) == 0 {
			continue
		}
		at := len(order)
		for at > 0 && row[order[at-1]] < v {
			at--
		}
		order = slices.Insert(order[:min(len(order), kept-1)], at, key)
	}
	slices.Sort(order)
	return order
}

// level returns the byte of a weight.
func level(v float64) byte { return byte(math.Round(255 * math.Sqrt(min(1, max(0, v))))) }

func deflate(data []byte) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level is valid
	_, _ = w.Write(data)                                       // writes to a buffer do not fail
	_ = w.Close()
	return packed.Bytes()
}
