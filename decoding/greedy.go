// Package decoding turns the distributions of a model into sequences: greedily, or by beam search. The searches know
// nothing but a function that gives the logits of the next symbol; [Decoder] makes such a function of an encoder-decoder.
//
// Letters: B sources, R rows (B, or B times the beam's width), N symbols so far, V vocabulary.
package decoding

import (
	"fmt"
	"math"

	"universal-transformer/vocab"
)

// Next gives the logits of the next symbol, [R][V], after the prefixes of R rows, all of one length. sources[r] is the
// index of the source that row r belongs to.
type Next func(sources []int, prefixes [][]vocab.ID) ([][]float32, error)

// Hypothesis is a decoded sequence.
type Hypothesis struct {
	Symbols  []vocab.ID // ends with vocab.End if Finished
	LogProb  float64    // log p(symbols | source), natural
	Score    float64    // what beam search ranks by: LogProb over the length penalty; LogProb itself when greedy
	Finished bool       // false: cut off at the limit
}

// Greedy takes the most probable symbol at every step, the one with the smaller id if two are equal, until every sequence
// has ended or has limit symbols. Padding is never generated.
func Greedy(next Next, sources, limit int) ([]Hypothesis, error) {
	result := make([]Hypothesis, sources)
	rows := make([]int, sources)
	for i := range rows {
		rows[i] = i
	}
	for n, alive := 0, sources; n < limit && alive > 0; n++ {
		prefixes := make([][]vocab.ID, sources)
		for i := range prefixes {
			prefixes[i] = padded(result[i].Symbols, n)
		}
		logits, err := next(rows, prefixes)
		if err != nil {
			return nil, err
		}
		for i := range result {
			h := &result[i]
			if h.Finished {
				continue
			}
			logP, err := logSoftmax(logits[i])
			if err != nil {
				return nil, err
			}
			symbol := mostProbable(logP)
			h.Symbols, h.LogProb = append(h.Symbols, symbol), h.LogProb+logP[symbol]
			if h.Score = h.LogProb; symbol == vocab.End {
				h.Finished = true
				alive--
			}
		}
	}
	return result, nil
}

// padded gives a finished sequence the length of those still running, so that all rows stay one rectangle.
func padded(symbols []vocab.ID, n int) []vocab.ID {
	row := make([]vocab.ID, n)
	for i := copy(row, symbols); i < n; i++ {
		row[i] = vocab.End
	}
	return row
}

// mostProbable is the most probable symbol other than padding.
func mostProbable(logP []float64) vocab.ID {
	best := vocab.End
	for id := int(vocab.End); id < len(logP); id++ {
		if logP[id] > logP[best] {
			best = vocab.ID(id)
		}
	}
	return best
}

// logSoftmax is the logarithm of the softmax of logits, in float64. Logits that are not numbers are an error.
func logSoftmax(logits []float32) ([]float64, error) {
	if len(logits) < 2 {
		return nil, fmt.Errorf("decoding: %d logits, but there are at least padding and end", len(logits))
	}
	largest := math.Inf(-1)
	for _, v := range logits {
		if v != v {
			return nil, fmt.Errorf("decoding: a logit is not a number; the model's weights are damaged")
		}
		largest = max(largest, float64(v))
	}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v) - largest)
	}
	logP := make([]float64, len(logits))
	for i, v := range logits {
		logP[i] = float64(v) - largest - math.Log(sum)
	}
	return logP, nil
}
