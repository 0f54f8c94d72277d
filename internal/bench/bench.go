// Package bench measures how fast a backend runs the model: a training step, encoding, decoding, a matrix product. The setting is the
// one used for other engines: encoder-decoder, post-norm, no dropout, Adam, source and target of equal length, float32, the median of
// several runs after a warm-up. Numbers are comparable only within one run, because machines differ and are noisy.
//
// Letters: B batch, M positions, D width, F filter, V vocabulary, T steps.
package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// A Shape is the size of the model and of its inputs.
type Shape struct {
	Width       int     `json:"width"`
	Filter      int     `json:"filter"`
	Heads       int     `json:"heads"`
	Steps       int     `json:"steps"`     // of fixed depth
	MaxSteps    int     `json:"max_steps"` // of adaptive depth
	Batch       int     `json:"batch"`
	Length      int     `json:"length"`
	Vocabulary  int     `json:"vocabulary"`
	Convolution bool    `json:"convolution"` // separable convolutions of 3 and 5 positions as transition, instead of feed-forward
	HaltingBias float64 `json:"halting_bias"`
	Adaptive    bool    `json:"adaptive"` // encode at adaptive depth
	Masked      bool    `json:"masked"`   // at adaptive depth, also compute halted positions
	Uncached    bool    `json:"uncached"` // decode without a cache
	Beam        int     `json:"beam"`     // width of beam search; 0: greedy decoding
}

// Default is the smaller of the two shapes for which results are published.
var Default = Shape{Width: 128, Filter: 512, Heads: 8, Steps: 6, MaxSteps: 12, Batch: 32, Length: 64, Vocabulary: 32}

// A Result is one measurement.
type Result struct {
	What            string  `json:"what"`
	Backend         string  `json:"backend"`
	Threads         int     `json:"threads"`
	Shape           Shape   `json:"args"`
	Seconds         float64 `json:"seconds"`                     // median of one run
	TokensPerSecond float64 `json:"tokens_per_second,omitempty"` // target tokens; source tokens when encoding
	GFlops          float64 `json:"gflops,omitempty"`            // useful multiplications and additions of matrix products, 1e9 per second
	CacheBytes      int     `json:"cache_bytes,omitempty"`       // size of the decoder's cache at the end

	// EncoderMeanUpdates and DecoderMeanUpdates are the mean numbers of steps per position at adaptive depth.
	EncoderMeanUpdates float64 `json:"encoder_mean_updates,omitempty"`
	DecoderMeanUpdates float64 `json:"decoder_mean_updates,omitempty"`
	// Mean number of steps per position that the capacity planned at the end permits.
	EncoderPlannedUpdates float64 `json:"encoder_planned_updates,omitempty"`
	DecoderPlannedUpdates float64 `json:"decoder_planned_updates,omitempty"`
	Overflows             int     `json:"overflows,omitempty"` // executions that were repeated because more positions ran than planned
}

// Names lists the names of the benchmarks.
var Names = []string{"train", "act", "encode", "decode", "gemm", "peak"}

// Run runs the benchmark with that name.
func Run(what string, backend compute.Backend, s Shape, warmup, repeat int, done func(runs int)) (Result, error) {
	if !slices.Contains(Names, what) {
		return Result{}, fmt.Errorf("benchmark %q is not known; there are %s", what, strings.Join(Names, ", "))
	}
	if err := s.Validate(); err != nil {
		return Result{}, err
	}
	if what == "train" || what == "act" {
		if err := engine.CheckTraining(backend); err != nil {
			return Result{}, err
		}
	}
	s.Adaptive = s.Adaptive || what == "act"
	s.Masked = s.Masked || s.Adaptive && engine.CompilesSlowly(backend)
	w := work{backend: backend, shape: s, model: s.model()}
	result := Result{What: what, Shape: s}
	once, err := w.prepare(what)
	if err != nil {
		return result, err
	}
	if result.Seconds, err = median(once, warmup, repeat, done); err != nil {
		return result, err
	}
	result.GFlops = max(s.flops(what), w.peakOperations) / result.Seconds / 1e9
	result.EncoderMeanUpdates, result.DecoderMeanUpdates, result.CacheBytes = w.encoderUpdates, w.decoderUpdates, w.cacheBytes
	if w.runner != nil {
		result.Overflows = w.runner.Overflows
	}
	if w.planner != nil {
		plan := w.planner.For(w.batch())
		result.EncoderPlannedUpdates, result.DecoderPlannedUpdates = plan.Encoder.MeanUpdates(), plan.Decoder.MeanUpdates()
	}
	if what != "gemm" && what != "peak" {
		result.TokensPerSecond = float64(s.Batch*s.Length) / result.Seconds
	}
	return result, nil
}

// median calls once repeat times after a warm-up, and returns the median time in seconds. It calls done, which may be nil, after each run.
func median(once func() error, warmup, repeat int, done func(runs int)) (float64, error) {
	var times []float64
	for i := range warmup + max(repeat, 1) {
		start := time.Now()
		if err := once(); err != nil {
			return 0, err
		}
		if i >= warmup {
			times = append(times, time.Since(start).Seconds())
		}
		if done != nil {
			done(i + 1)
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// Validate returns an error that begins with the name of the first invalid field.
func (s Shape) Validate() error {
	if math.IsNaN(s.HaltingBias) || math.IsInf(s.HaltingBias, 0) {
		return fmt.Errorf("halting-bias is %v: it must be a finite number", s.HaltingBias)
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{{"batch", s.Batch, 1}, {"length", s.Length, 1}, {"vocabulary", s.Vocabulary, 3}} {
		if n.value < n.least {
			return fmt.Errorf("%s is %d: it must be at least %d", n.name, n.value, n.least)
		}
	}
	if s.Beam != 0 {
		if err := (decoding.Beam{Width: s.Beam}).Validate(); err != nil {
			return err
		}
	}
	if s.Batch > maxTokens/s.Length {
		return fmt.Errorf("batch %d and length %d are more than %d tokens together: lower one of them", s.Batch, s.Length, maxTokens)
	}
	return s.model().Validate()
}

// maxTokens is far above what any machine can process at once.
const maxTokens = 100_000_000

// model returns the benchmarked model.
func (s Shape) model() universal.EncoderDecoder {
	var policy halting.Policy = halting.Fixed{Steps: s.Steps}
	if s.Adaptive {
		policy = halting.Frozen{ACT: halting.ACT{MaxSteps: s.MaxSteps, Epsilon: 0.01, Bias: s.HaltingBias}}
	}
	var transition universal.Transition = universal.FeedForward{Filter: s.Filter}
	if s.Convolution {
		transition = universal.SeparableConvolution{Filter: s.Filter}
	}
	return universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: s.Vocabulary, TargetVocabulary: s.Vocabulary, Width: s.Width, Heads: s.Heads, Transition: transition, Halting: policy,
	}}
}

// ids draws tokens for a batch.
func (s Shape) ids(rng *rand.Rand) []vocab.ID {
	ids := make([]vocab.ID, s.Batch*s.Length)
	for i := range ids {
		ids[i] = vocab.ID(1 + rng.IntN(s.Vocabulary-1))
	}
	return ids
}

// flops counts the multiplications and additions of matrix products: projections, attention (causal attention in full, as it is
// computed, but in decoding to the tokens so far), transition, readout; the backward pass counts twice the forward pass.
func (s Shape) flops(what string) float64 {
	d, f, m, v := float64(s.Width), float64(s.Filter), float64(s.Length), float64(s.Vocabulary)
	t, positions := float64(s.Steps), float64(s.Batch*s.Length)
	self := 4*d*d + 2*m*d
	cross := 2*d*d + 2*m*d // queries and output; keys and values are computed once
	transition := 2 * d * f
	encoder := t * (self + transition)
	decoder := t*(self+cross+transition) + 2*d*d + d*v
	switch what {
	case "train":
		return 2 * 3 * positions * (encoder + decoder)
	case "encode":
		if !s.Adaptive {
			return 2 * positions * encoder
		}
	case "decode":
		if s.Uncached || s.Adaptive {
			return 0
		}
		step := 6*d*d + 2*d*(m+1)/2 + 2*m*d + transition // queries, keys, values and output of itself, queries and output of the source
		tokens := float64(s.Batch * (1 + (s.Length-1)*max(1, s.Beam)))
		return 2 * (positions*(encoder+2*d*d) + tokens*(t*step+d*v))
	case "gemm":
		return 2 * gemmSize * gemmSize * gemmSize
	}
	return 0 // depends on the halting, or on repeated work of a decoder
}

// gemmSize is the size of the square matrices of "gemm".
const gemmSize = 1024
