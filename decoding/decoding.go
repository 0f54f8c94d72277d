// Package decoding turns the distributions of a model into sequences: greedily, by sampling, or by beam search. The searches depend
// on a single function, [Next], which returns the log-probabilities of the next token. [Decoder] provides it for encoder-decoders and
// language models in two ways: with a KV cache, where a token costs the work of one position, and by rerunning the decoder over the
// whole prefix, as the authors' code does. The tests compare the two.
//
// For each row, the cache holds the keys and values of every step, 2 T S D numbers for T steps, capacity S and width D, and with separable
// convolutions of F channels another T (2 D + 4 F). For each source, independently of the beam and once for all steps, it holds keys and
// values of its M positions, 2 M D numbers, or 2 T M D with untied layers. S starts at 16, or at 32 if longer answers are expected, or at
// 64 on backends that compile slowly, and grows by half when it is reached, so that there are few shapes. The cache of a recurrent network
// holds the state and the cell of each layer, 2 D numbers, for any S; for each source it holds the same again and, with attention, M D
// more.
//
// # Rounding
//
// The log-probabilities of a source do not depend on the other sources of its batch, except for rounding: about 2e-6 in float32. A batch pads
// sources to one length, and reads prompts at once up to the length of the shortest, so the sums of attention may have another order. Tokens
// whose probabilities are that close may be exchanged, and a position may halt a step earlier or later if its halting probability is that
// close to the threshold.
//
// Letters: B sources, R rows (hypotheses extended together), N tokens so far, V vocabulary.
package decoding

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"universal-transformer/internal/vocab"
)

// Next extends sequences by one token each and returns the natural log-probabilities of the tokens after them, [R][V], which are valid
// until the next call. New row r continues row parents[r] of the previous call with tokens[r]; rows that are not a parent are dropped. In
// the first call tokens is nil and parents[r] is the source of row r. All rows have the same number of tokens.
type Next func(parents []int, tokens []vocab.ID) (logP [][]float64, err error)

// A Request describes what is to be decoded for B sources.
type Request struct {
	Limits []int // maximum number of tokens of the answer to each source, including End
	Next   Next

	// Rest holds, for each source, tokens that are given instead of searched for and are not part of the answer: the ends of prompts
	// that are longer than the shortest. It may be nil.
	Rest [][]vocab.ID

	// OnToken is called with each token once it is final, in order for each source. It may be nil. Beam search of a width above 1
	// never calls it, because it decides only at its end.
	OnToken func(source int, token vocab.ID)

	// Ends reports whether an answer ends with these tokens, before its End. Beam search of a width above 1 never calls it. It may be nil.
	Ends func(source int, tokens []vocab.ID) bool

	// Number returns the number of a source's random stream in sampling. If it is nil, the numbers are consecutive from
	// [Method].First.
	Number func(source int) int64
	// Stopped reports whether the search for a source should end. It is called before each token. nil means never.
	Stopped func(source int) bool
}

// A Hypothesis is a decoded sequence.
type Hypothesis struct {
	Tokens   []vocab.ID // ends with vocab.End if Finished
	LogProb  float64    // log p(tokens | source), natural
	Score    float64    // rank in beam search: LogProb divided by the length penalty; otherwise LogProb
	Finished bool       // false: cut off at the limit

	Others []Hypothesis // of [Method.Search] by beam: what else it found, the best first
}

// extend takes the log-probabilities of a source's rows and returns its new rows, given by parents among these rows and tokens. If it
// returns none, the search for this source is over.
type extend func(logP [][]float64) (parents []int, tokens []vocab.ID, err error)

// run runs the searches of all sources together until the last one is over. Each begins with one row.
func (r Request) run(ctx context.Context, searches []extend) error {
	var parents []int // of the rows of all running sources, in order of sources
	var tokens []vocab.ID
	rows := make([]int, len(searches)) // number of rows of each source
	for i, limit := range r.Limits {
		if limit > 0 {
			parents, rows[i] = append(parents, i), 1
		}
	}
	for n := 0; len(parents) > 0; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		logP, err := r.Next(parents, tokens)
		if err = cmp.Or(err, ctx.Err()); err != nil { // the first call of a size compiles, which takes time
			return err
		}
		parents, tokens = nil, []vocab.ID{}
		first := 0 // row of the source
		for i, search := range searches {
			if rows[i] == 0 {
				continue
			}
			from, next := []int{0}, []vocab.ID{0}
			if r.Stopped != nil && r.Stopped(i) {
				from, next = nil, nil
			} else if i < len(r.Rest) && n < len(r.Rest[i]) {
				next[0] = r.Rest[i][n]
			} else if from, next, err = search(logP[first : first+rows[i]]); err != nil {
				return err
			}
			for _, p := range from {
				parents = append(parents, first+p)
			}
			tokens = append(tokens, next...)
			first += rows[i]
			rows[i] = len(from)
		}
	}
	return nil
}

// single searches with one row per source: pick chooses a token from its log-probabilities, and returns an error if one of them is NaN.
func (r Request) single(ctx context.Context, pick func(source int, logP []float64) (vocab.ID, error)) ([]Hypothesis, error) {
	result := make([]Hypothesis, len(r.Limits))
	searches := make([]extend, len(result))
	for i := range searches {
		h := &result[i]
		searches[i] = func(logP [][]float64) ([]int, []vocab.ID, error) {
			if err := checkRow(logP[0]); err != nil {
				return nil, nil, err
			}
			token, err := pick(i, logP[0])
			if err != nil {
				return nil, nil, err
			}
			h.Tokens, h.LogProb = append(h.Tokens, token), h.LogProb+logP[0][token]
			h.Score, h.Finished = h.LogProb, token == vocab.End
			if r.OnToken != nil {
				r.OnToken(i, token)
			}
			if h.Finished || len(h.Tokens) == r.Limits[i] || r.Ends != nil && r.Ends(i, h.Tokens) {
				return nil, nil, nil
			}
			return []int{0}, []vocab.ID{token}, nil
		}
	}
	return result, r.run(ctx, searches)
}

// greedy takes the most probable token at every step, the smaller id in case of a tie, until every sequence has ended or reached its
// limit. Padding is never generated.
func greedy(ctx context.Context, r Request) ([]Hypothesis, error) {
	return r.single(ctx, func(_ int, logP []float64) (vocab.ID, error) { return likeliest(logP) })
}

// likeliest returns the most probable token other than padding, or an error if a log-probability is NaN.
func likeliest(logP []float64) (vocab.ID, error) {
	best, maximum := vocab.End, logP[vocab.End]
	if maximum != maximum {
		return 0, errNaN
	}
	for id := above(logP, int(vocab.End)+1, 0, maximum); id < len(logP); id = above(logP, id+1, 0, maximum) {
		if best, maximum = vocab.ID(id), logP[id]; maximum != maximum {
			return 0, errNaN
		}
	}
	return best, nil
}

// above returns the first index i >= from for which values[i] + summand exceeds a bound or is NaN, or the length if there is none.
func above(values []float64, from int, summand, bound float64) int {
	for from < len(values) && values[from]+summand <= bound {
		from++
	}
	return from
}

// errNaN is the error of searches that meet a log-probability that is NaN.
var errNaN = errors.New("decoding: a log-probability is not a number; the model's weights are damaged")

// checkRow returns an error if log-probabilities are too few, or that of padding, which searches do not read, is not a number.
func checkRow(logP []float64) error {
	if len(logP) < 2 {
		return fmt.Errorf("decoding: %d log-probabilities, but there must be at least those of padding and end", len(logP))
	}
	if logP[0] != logP[0] {
		return errNaN
	}
	return nil
}
