// Package universal is section 2 of Dehghani, Gouws, Vinyals, Uszkoreit and Kaiser, "Universal Transformers" (ICLR 2019).
//
// A Universal Transformer applies one step repeatedly to every position of a sequence. In a step, each position first attends to all
// others (self-attention; attention and the separable convolution are the only layers that mix positions) and is then revised by the
// [Transition]. All steps share their weights. The number of steps is determined by a halting.Policy, not here.
//
// The initial state H^0 is the embedded tokens. Step t adds coordinates, which encode the position and the step, then attends and
// revises:
//
//	P^t_{i,2j}   = sin(i / 10000^(2j/d)) + sin(t / 10000^(2j/d))
//	P^t_{i,2j+1} = cos(i / 10000^(2j/d)) + cos(t / 10000^(2j/d))
//
//	X   = H^{t-1} + P^t
//	A   = LayerNorm(X + MultiHeadSelfAttention(X))
//	H^t = LayerNorm(A + Transition(A))
//
// with
//
//	Attention(Q, K, V)        = softmax(Q K' / sqrt(d)) V
//	MultiHeadSelfAttention(X) = concat(head_1 .. head_k) W^O,  head_i = Attention(X W_i^Q, X W_i^K, X W_i^V)
//	Transition(A)             = max(0, A W + b) W' + b', or two separable convolutions
//
// The residual carries X, including the coordinates, as in the camera-ready paper. A decoder does not attend to later positions, and
// between A and H^t it also attends to the encoder's output. Its last state gives the distribution of the next token:
//
//	p(y_i | y_1 .. y_{i-1}, source) = softmax(O H^T)
//
// With [Config].PreNorm, the layer norms are applied before attention and transition instead, and once more after the last step, as
// in the authors' code. An [Arrangement] is another order, such as those of earlier versions of the paper, or [Branched].
//
// There are four models: [EncoderDecoder], [Encoder] (classification of a sequence or of each of its positions), [Pointer] (reading
// comprehension by pointer-sum attention) and [Decoder] (language models). Those with a decoder generate token by token with a
// [Cache]. With [Config].UntiedLayers each of them is the Transformer baseline. [Model] is what training needs of any model, [Deep]
// what depends on halting; [Adaptive] reports whether a model halts adaptively.
//
// Besides the paper's coordinates there are variants. [Positions] determine the positions that training assigns to the places of a
// sequence ([RandomOffset], [RandomSubset], [RandomRuns]). A [Counting] determines from where source positions are counted
// ([FromEnd], [BothEnds], [Restarting]). [Tensor2Tensor] are the coordinates of the authors' code. A source position may hold several
// tokens, whose embeddings are summed.
//
// Notation: B batch, M source positions, W tokens per position, N target positions, D width, F filter, K heads, V vocabulary. t
// counts steps and i positions, both from 1. Graph functions panic on shapes that do not fit, as GoMLX's do; the packages that run
// them convert that into errors.
//
// Parameter names are part of the checkpoint format: "encoder.self_attention.query" is the variable query in the scopes encoder and
// self_attention.
package universal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
)

// Config holds the fields that the four models have in common. The zero value of every optional field is the paper's choice.
type Config struct {
	SourceVocabulary  int            `json:"-"`     // V of the source; not read by a Decoder
	TargetVocabulary  int            `json:"-"`     // V of the target, or the number of classes of an Encoder
	TokensPerPosition int            `json:"-"`     // W, tokens at each position of the source, whose embeddings are summed; 0 means 1
	Width             int            `json:"width"` // D, the number of channels of a position
	Heads             int            `json:"heads"` // K, a divisor of Width
	Transition        Transition     `json:"-"`
	Halting           halting.Policy `json:"-"`
	Coordinates       Coordinates    `json:"-"` // nil means Sinusoidal

	// UntiedLayers gives every layer its own weights, which makes the model the Transformer (Vaswani et al., 2017) that the paper
	// compares with. Halting must be halting.Fixed, whose steps are the layers. Positions are added once, before the first layer.
	UntiedLayers bool `json:"untied_layers,omitempty"`

	Arrangement Arrangement `json:"-"` // nil: as in the camera-ready paper, or as PreNorm says

	PreNorm      bool `json:"pre_norm"`      // normalise before each sub-layer and once at the end, as the authors' code does
	LearnedSteps bool `json:"learned_steps"` // a learned vector per step instead of the sinusoid in t, as in the authors' code; not with halting.Length
	// ScaleSteps multiplies learned steps by sqrt(D), with an initial standard deviation of 1/sqrt(D), as the authors' code does;
	// Adam then changes the signal sqrt(D) times as fast. By default the table itself is the signal, with the same initial scale.
	ScaleSteps      bool `json:"scale_steps,omitempty"`
	ScaleEmbedding  bool `json:"scale_embedding"`  // multiply embeddings by sqrt(D), as the authors' code does
	SharedEmbedding bool `json:"shared_embedding"` // one table for source and target
	TiedReadout     bool `json:"tied_readout"`     // logits from the target embedding, transposed, instead of a separate matrix
	// EmbeddingWidth is E of factored embeddings (Lan et al., "ALBERT", 2020): tables have E channels, and a matrix [E, D] projects
	// them. A large vocabulary then adds few parameters. 0 means that tables have D channels, as in the paper.
	EmbeddingWidth int       `json:"embedding_width,omitempty"`
	Dropout        Dropout   `json:"dropout"`
	Counting       Counting  `json:"-"` // numbers of source tokens; nil means FromStart
	Positions      Positions `json:"-"` // positions of places in training; nil means FromOne

	Seed      uint64       `json:"-"` // of the initial weights
	Precision dtypes.DType `json:"-"` // 0 means Float32; Float64 is for tests

	// OwnSteps is the number of steps that have weights of their own, with LearnedSteps or UntiedLayers. It is set where an Exit has
	// replaced the policy that the model was trained with; 0: the limit of Halting.
	OwnSteps int `json:"-"`
	// DecoderHalting is the policy of the decoder if an Exit gives it another one than the encoder; nil: Halting.
	DecoderHalting halting.Policy `json:"-"`
	Rule           halting.Rule   `json:"-"` // of an Exit; nil: none
}

// Inputs are the tokens that a model reads. Padding is 0 and stands at the end of a row.
type Inputs struct {
	Source *Node // [B, M] int32, or [B, M*W] with Config.TokensPerPosition; nil for a Decoder
	Target *Node // [B, N] int32: the tokens to predict, which the model shifts right by one; nil for an Encoder

	// Positions [B, R], int32 from 1, holds the position of each place of a source and of its target, if Config.Counting numbers
	// places from 1 to at most R = max(M, N). nil means 1, 2, 3, ...
	Positions *Node

	// Capacities of the encoder and the decoder; nil means all positions in all steps. With capacities, a result is only valid if no
	// [Pass] has an Overflow.
	SourceCapacities, TargetCapacities halting.Capacities
}

// A Result is the output of a model.
type Result struct {
	Logits           *Node      // [B, N, V]; of an Encoder [B, 1, V], or [B, M, V] with the pool Each
	Factors          *Factors   // of the logits; nil if the model has none
	Encoder, Decoder *Pass      // nil if the model has none
	Readouts         []*Node    // of Options.ReturnReadouts: the logits if all positions of the stack that is read out ended after step 1, 2, ..., each like Logits
	ReadoutFactors   []*Factors // of Readouts, each like Factors; nil if the model has none
}

// Passes returns the stacks of the model.
func (r Result) Passes() []*Pass {
	var passes []*Pass
	for _, p := range []*Pass{r.Encoder, r.Decoder} {
		if p != nil {
			passes = append(passes, p)
		}
	}
	return passes
}

// A Pass is the output of a stack and a record of its steps.
type Pass struct {
	halting.Outcome       // State is the output of the stack, after the final norm if there is one
	Mask            *Node // [B, M] bool, true at real positions

	// Attention and CrossAttention hold a node [B, K, queries, keys] for each step, if Options request them.
	Attention, CrossAttention []*Node
	Changes                   []*Node // |H^t - H^{t-1}| of each step, [B, M], if Options request it
}

// Options selects what is returned besides logits. Other values are not computed.
type Options struct {
	ReturnAttention bool
	ReturnReadouts  bool // Result.Readouts and Pass.Changes
}

// maxChannels is far above any practical width or filter.
const maxChannels = 1 << 17

// Validate returns an error that names the first invalid field by its JSON name, its value, and valid values.
func (c Config) Validate() error {
	switch {
	case c.TargetVocabulary < 2:
		return fmt.Errorf("target_vocabulary is %d: at least 2 are needed", c.TargetVocabulary)
	case c.TokensPerPosition < 0:
		return fmt.Errorf("tokens_per_position is %d: it must be positive, or 0 for one token a position", c.TokensPerPosition)
	case c.TokensPerPosition > 1 && c.SharedEmbedding:
		return fmt.Errorf("shared_embedding needs one token a position, but tokens_per_position is %d", c.TokensPerPosition)
	case c.EmbeddingWidth < 0 || c.EmbeddingWidth > maxChannels:
		return fmt.Errorf("embedding_width is %d: it must be at most %d, or 0 for the width", c.EmbeddingWidth, maxChannels)
	case c.TokensPerPosition > 1 && c.EmbeddingWidth > 0:
		return fmt.Errorf("embedding_width needs one token a position, but tokens_per_position is %d", c.TokensPerPosition)
	case c.Width < 1:
		return fmt.Errorf("width is %d: it must be positive", c.Width)
	case c.Width > maxChannels:
		return fmt.Errorf("width is %d: it must be at most %d", c.Width, maxChannels)
	case c.Heads < 1:
		return fmt.Errorf("heads is %d: it must be positive", c.Heads)
	case c.Width%c.Heads != 0:
		return fmt.Errorf("heads is %d, which does not divide width %d: choose a divisor", c.Heads, c.Width)
	case c.Transition == nil:
		return fmt.Errorf("transition is missing: choose FeedForward or SeparableConvolution")
	case c.Halting == nil:
		return fmt.Errorf("halting is missing: choose a policy of package halting")
	case c.SharedEmbedding && c.SourceVocabulary != 0 && c.SourceVocabulary != c.TargetVocabulary:
		return fmt.Errorf("shared_embedding needs one vocabulary, but the source has %d tokens and the target %d", c.SourceVocabulary, c.TargetVocabulary)
	}
	if c.Arrangement != nil && c.PreNorm {
		return fmt.Errorf("pre_norm is true, but arrangement is set, which says itself where the norms are: set one of them")
	}
	if slices.Min(Blocks(c.counting(), c.Width)) < 1 {
		return fmt.Errorf("width is %d: counting gives every position %d numbers, which need at least 6 channels in all", c.Width, len(Blocks(c.counting(), c.Width)))
	}
	for _, check := range []func() error{c.validateSteps, c.validateBranches} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name  string
		value interface{ Validate() error } // nil: not set
	}{
		{"transition", c.Transition}, {"halting", c.Halting}, {"dropout", c.Dropout}, {"counting", c.Counting}, {"positions", c.Positions},
		{"arrangement", c.Arrangement}, {"coordinates", c.Coordinates},
	} {
		if part.value == nil {
			continue
		}
		if err := part.value.Validate(); err != nil {
			return fmt.Errorf("%s.%w", part.name, err)
		}
	}
	return nil
}

func (c Config) positions() Positions {
	if c.Positions == nil {
		return FromOne{}
	}
	return c.Positions
}

func (c Config) counting() Counting {
	if c.Counting == nil {
		return FromStart{}
	}
	return c.Counting
}

// positionLimit returns the largest position that training draws, or 0 if positions count from 1.
func (c Config) positionLimit() int { return c.positions().Limit() }

// validateSteps checks the options that concern steps.
func (c Config) validateSteps() error {
	_, fixed := c.Halting.(halting.Fixed)
	_, byLength := c.Halting.(halting.Length)
	switch {
	case c.UntiedLayers && !fixed:
		return fmt.Errorf("untied_layers needs fixed halting, whose steps are the layers")
	case c.UntiedLayers && c.LearnedSteps:
		return fmt.Errorf("learned_steps and untied_layers are both set: layers with their own weights need no step signal")
	case c.ScaleSteps && !c.LearnedSteps:
		return fmt.Errorf("scale_steps is true, but learned_steps is not: set both, or neither")
	case byLength && c.LearnedSteps:
		return fmt.Errorf("learned_steps needs a known number of steps, but depth by length depends on the source: use sinusoidal steps")
	}
	return nil
}

// Adaptive reports whether a stack weighs its steps, as [Deep] says.
func (c Config) Adaptive() bool { return c.Halting.Weighted() || c.decoderHalting().Weighted() }

// HaltingBias returns the initial bias of the halting unit, if the policy has one.
func (c Config) HaltingBias() (bias float64, ok bool) {
	unit, ok := c.Halting.(interface{ InitialBias() float64 })
	if !ok {
		return 0, false
	}
	return unit.InitialBias(), true
}

// HaltingField reports whether the halting policy has a field with a JSON name, such as "max_steps".
func (c Config) HaltingField(name string) bool {
	var fields map[string]json.RawMessage
	data, err := json.Marshal(c.Halting)
	return err == nil && json.Unmarshal(data, &fields) == nil && fields[name] != nil
}

// StepLimit returns the maximum number of steps of a position, or 0 if that depends on the source.
func (c Config) StepLimit() int { return max(c.Halting.Limit(0), c.decoderHalting().Limit(0)) }

// SelectsPositions reports whether a step can be applied to a part of the positions because halted ones need no work. A rule and an
// arrangement read all positions.
func (c Config) SelectsPositions() bool {
	return c.Rule == nil && c.Arrangement == nil && (c.Halting.SkipsHalted() || c.decoderHalting().SkipsHalted())
}

// precision returns the element type of the parameters, Float32 by default.
func precision(asked dtypes.DType) dtypes.DType {
	if asked == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return asked
}

// Conventions describes what parameters and configuration leave open about the computation, for programs that read an export.
func Conventions() map[string]string {
	return map[string]string{
		"norm_epsilon":        fmt.Sprint(normEpsilon) + ", inside the root, of the biased variance",
		"attention_scale":     "scores are divided by sqrt(width / heads)",
		"embedding_scale":     "with scale_embedding, embeddings are multiplied by sqrt(width)",
		"decoder_first_input": "a zero vector; position i reads token i-1",
	}
}
