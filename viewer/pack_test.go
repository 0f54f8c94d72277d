package viewer

import (
	"compress/flate"
	"encoding/base64"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// unpacked reads packed attention as page/attention.js does: per query the kept weights by key, and the sum of the others. The mean of several heads
// follows them in each step.
func unpacked(t *testing.T, p packedWeights) (rows []map[int]float64, rest []float64) {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(p.Packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(flate.NewReader(strings.NewReader(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	lists := p.Shape[1]
	if lists > 1 {
		lists++
	}
	total, entries := p.Shape[0]*lists*p.Shape[2], 0
	for _, n := range data[:total] {
		entries += int(n)
	}
	if len(data) != 2*total+3*entries {
		t.Fatalf("%d bytes for %d rows of %d weights", len(data), total, entries)
	}
	low, high, weights := data[total:], data[total+entries:], data[total+2*entries:]
	square := func(b byte) float64 { return float64(b) * float64(b) / 65025 }
	at := 0
	for r := range total {
		row, key := map[int]float64{}, -1
		for range data[r] {
			key += int(low[at]) + 256*int(high[at])
			row[key] = square(weights[at])
			at++
		}
		rows, rest = append(rows, row), append(rest, square(data[total+3*entries+r]))
	}
	return rows, rest
}

// rowsOf lists the rows of attention by step, head and query; the mean of two heads follows them.
func rowsOf(attention [][][][]float64) (rows [][]float64) {
	for _, step := range attention {
		rows = append(rows, slices.Concat(step...)...)
		for q := range step[0] {
			mean := make([]float64, len(step[0][q]))
			for key := range mean {
				mean[key] = (step[0][q][key] + step[1][q][key]) / 2
			}
			rows = append(rows, mean)
		}
	}
	return rows
}

// Of every query the 16 largest weights are kept to 8 bits of their square roots, and the others as their sum, of each head and of their mean.
// Caught when planted: the smallest weights kept; keys not restored from distances; a rest that counts kept weights; the mean of the kept weights.
func TestPackAttention(t *testing.T) {
	const steps, heads, queries, keys = 3, 2, 4, 700
	rng := rand.New(rand.NewPCG(5, 6))
	attention := sampleAttention(rng, steps, heads, queries, keys, func(i, j int) bool { return i == 0 && j > 2 })
	for _, row := range slices.Concat(slices.Concat(attention...)...)[1:] { // one large weight far away, among many small ones
		for j := range row {
			row[j] = row[j]/2 + 0.2/keys
		}
		row[keys-3] += 0.3
	}
	p := packAttention(attention)
	rows, rest := unpacked(t, p)
	if p.Shape != [4]int{steps, heads, queries, keys} || len(rows) != steps*(heads+1)*queries {
		t.Fatalf("shape %v, %d rows", p.Shape, len(rows))
	}
	for r, want := range rowsOf(attention) {
		sorted := slices.Clone(want)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		others := 1.0
		for key, got := range rows[r] {
			if math.Abs(math.Sqrt(got)-math.Sqrt(want[key])) > 0.5001/255 || want[key] < sorted[kept-1] {
				t.Fatalf("row %d: key %d has %g, want %g, of the largest %v", r, key, got, want[key], sorted[:kept])
			}
			others -= want[key]
		}
		positive := 0
		for _, v := range want {
			if math.Round(255*math.Sqrt(v)) > 0 {
				positive++
			}
		}
		if len(rows[r]) != min(kept, positive) {
			t.Errorf("row %d: %d weights, want %d", r, len(rows[r]), min(kept, positive))
		}
		if positive < kept {
			others = 0
		}
		if math.Abs(math.Sqrt(rest[r])-math.Sqrt(max(0, others))) > 0.5001/255 {
			t.Errorf("row %d: the others have %g, want %g", r, rest[r], others)
		}
	}
}

// The page of 400 positions, 12 steps and 8 heads of encoder and decoder stays below 8 MB.
func TestPageOf400Positions(t *testing.T) {
	if page := render(t, long(400, 12, 8)); len(page) > 8e6 {
		t.Errorf("%d bytes", len(page))
	}
}
