package universal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Fields at their bounds are valid, those beyond are not.
// Caught when planted: another largest width; one token a position, or a table of one channel, taken for more.
func TestBoundsOfConfig(t *testing.T) {
	const limit = 131072
	for _, c := range []struct {
		change func(*universal.Config)
		want   string
	}{
		{func(c *universal.Config) { c.TargetVocabulary = 2 }, ""}, {func(c *universal.Config) { c.SourceVocabulary = 2 }, ""},
		{func(c *universal.Config) { c.SourceVocabulary = 1 }, "source_vocabulary is 1: at least 2"},
		{func(c *universal.Config) { c.Width, c.Heads = 1, 1 }, ""}, {func(c *universal.Config) { c.Heads = 0 }, "heads is 0"}, {func(c *universal.Config) { c.Heads = 6 }, ""},
		{func(c *universal.Config) { c.Width = limit }, ""}, {func(c *universal.Config) { c.Width = limit + 2 }, "width is 131074: it must be at most 131072"},
		{func(c *universal.Config) { c.EmbeddingWidth = 1 }, ""}, {func(c *universal.Config) { c.EmbeddingWidth = limit }, ""},
		{func(c *universal.Config) { c.EmbeddingWidth = limit + 1 }, "embedding_width is 131073"},
		{func(c *universal.Config) { c.TokensPerPosition, c.EmbeddingWidth = 1, 1 }, ""},
		{func(c *universal.Config) { c.TokensPerPosition, c.EmbeddingWidth = 2, 1 }, "embedding_width needs one token"},
		{func(c *universal.Config) { c.TokensPerPosition, c.SharedEmbedding, c.SourceVocabulary = 1, true, 5 }, ""},
		{func(c *universal.Config) { c.TokensPerPosition, c.SharedEmbedding, c.SourceVocabulary = 2, true, 5 }, "shared_embedding needs one token"},
		{func(c *universal.Config) { c.TokensPerPosition = -1 }, "tokens_per_position is -1"},
		{func(c *universal.Config) { c.Transition = universal.FeedForward{Filter: 1} }, ""},
		{func(c *universal.Config) { c.Transition = universal.FeedForward{Filter: limit} }, ""},
		{func(c *universal.Config) { c.Transition = universal.FeedForward{Filter: limit + 1} }, "transition.filter is 131073"},
		{func(c *universal.Config) {
			c.Transition = universal.SeparableConvolution{Filter: 1, Widths: [2]int{1, 99}}
		}, ""},
		{func(c *universal.Config) {
			c.Transition = universal.SeparableConvolution{Filter: 1, Widths: [2]int{99, 0}}
		}, "transition.widths has 0: each must be from 1 to 99"},
		{func(c *universal.Config) { c.Positions = universal.RandomSubset{Max: 1} }, ""},
		{func(c *universal.Config) { c.Positions = universal.RandomRuns{Max: 100_000} }, ""},
		{func(c *universal.Config) { c.Positions = universal.RandomRuns{Max: 100_001} }, "positions.max is 100001: it must be from 1 to 100000"},
		{func(c *universal.Config) { c.Positions = universal.RandomSubset{} }, "positions.max is 0"},
		{func(c *universal.Config) { c.Dropout.Residual = 0.999 }, ""}, {func(c *universal.Config) { c.Dropout.Embedding = -0.01 }, "dropout.embedding is -0.01"},
		{func(c *universal.Config) { c.Dropout.Transition = 1 }, "dropout.transition is 1"}, {func(c *universal.Config) { c.Dropout.Residual = 1 }, "dropout.residual is 1"},
		{func(c *universal.Config) {
			c.Counting = universal.Restarting{Segments: universal.Segments{Separators: []string{"+", "+"}}}
		}, "counting.separators are"},
		{func(c *universal.Config) { c.Counting = universal.BothEnds{} }, ""},
	} {
		config := small()
		c.change(&config)
		err := (universal.EncoderDecoder{Config: config}).Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for _, m := range []universal.Model{universal.Encoder{Config: small()}, universal.Decoder{Config: small()}} {
		if err := m.Validate(); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	for positions, want := range map[int]bool{1000: true, 1001: false} {
		long := universal.EncoderDecoder{Config: universal.Config{Halting: halting.Length{}}}
		if err := long.CheckSource(positions); (err == nil) != want {
			t.Errorf("%d positions and as many steps: %v", positions, err)
		}
	}
	if err := universal.ValidatePointer(5, 5, 1, 1); err != nil {
		t.Errorf("a separator of 1: %v", err)
	}
	for want, err := range map[string]error{
		"sources have 5 tokens and answers 6": universal.ValidatePointer(5, 6, 1, 1), "tokens_per_position is 2": universal.ValidatePointer(5, 5, 2, 1),
		"a context and a question": universal.ValidatePointer(5, 5, 1, 0),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A table of one channel is a table, and has a projection. Caught when planted: tables as wide as the model.
func TestTableOfOneChannel(t *testing.T) {
	c := small()
	c.EmbeddingWidth = 1
	shapes := shapesOf(t, universal.EncoderDecoder{Config: c})
	for name, want := range map[string]string{"embedding.source": "[7 1]", "embedding.target": "[5 1]", "embedding.projection": "[1 6]"} {
		if shapes[name] != want {
			t.Errorf("%s is %s, want %s", name, shapes[name], want)
		}
	}
}

// Positions with little or no room: every offset is drawn, without room there is one choice, and longer sequences count from 1.
// Caught when planted: an offset of 1 never drawn.
func TestDrawsWithLittleRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	all := map[string]universal.Positions{"offset": universal.RandomOffset{Max: 4}, "subset": universal.RandomSubset{Max: 4}, "runs": universal.RandomRuns{Max: 4}}
	for name, p := range all {
		seen := map[string]int{}
		for range 400 {
			seen[fmt.Sprint(p.Draw(rng, 3))]++
		}
		want := []string{"[1 2 3]", "[1 2 4]", "[1 3 4]", "[2 3 4]"}
		if name == "offset" {
			want = []string{"[1 2 3]", "[2 3 4]"}
		}
		for _, draw := range want {
			if seen[draw] == 0 {
				t.Errorf("%s: %s was not drawn in 400 times: %v", name, draw, seen)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%s: drawn %v, want %v", name, seen, want)
		}
		for length, want := range map[int]string{0: "[]", 4: "[1 2 3 4]", 6: "[1 2 3 4 5 6]"} {
			if got := fmt.Sprint(p.Draw(rng, length)); got != want {
				t.Errorf("%s of length %d: %s, want %s", name, length, got, want)
			}
		}
	}
	if (universal.Draws{}).Random() || (universal.Draws{Positions: universal.FromOne{}}).Random() || !(universal.Draws{Positions: universal.RandomOffset{Max: 1}}).Random() {
		t.Error("positions are random if and only if they have a limit")
	}
}

// Steps of a single stack change its policy alone. Caught when planted: the encoder's steps ignored, or given to the decoder as well.
func TestExitOfOneStack(t *testing.T) {
	c := small()
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 5, Epsilon: 0.01}}
	for _, test := range []struct {
		exit             halting.Exit
		encoder, decoder halting.Policy
	}{
		{halting.Exit{EncoderSteps: 1}, halting.Fixed{Steps: 1}, c.Halting}, {halting.Exit{EncoderSteps: 2, DecoderSteps: 3}, halting.Fixed{Steps: 2}, halting.Fixed{Steps: 3}},
		{halting.Exit{DecoderSteps: 1}, c.Halting, halting.Fixed{Steps: 1}},
		{halting.Exit{EncoderSteps: 2, Steps: 4}, halting.Fixed{Steps: 2}, halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.01}}},
	} {
		m, err := universal.EncoderDecoder{Config: c}.WithExit(test.exit)
		if err != nil {
			t.Fatal(err)
		}
		got := m.(universal.EncoderDecoder)
		decoder := got.DecoderHalting
		if decoder == nil {
			decoder = got.Halting
		}
		if got.Halting != test.encoder || decoder != test.decoder {
			t.Errorf("%s: the encoder runs %#v, the decoder %#v", test.exit, got.Halting, decoder)
		}
	}
	for _, m := range []universal.Deep{universal.Encoder{Config: c}, universal.Pointer{Config: c}} {
		if got, err := m.WithExit(halting.Exit{EncoderSteps: 1}); err != nil || got.StepLimit() != 1 {
			t.Errorf("%T: %v", m, err)
		}
	}
	if got, err := (universal.Decoder{Config: c}).WithExit(halting.Exit{DecoderSteps: 1}); err != nil || got.StepLimit() != 1 || got.Adaptive() {
		t.Errorf("a language model: %v", err)
	}
}

// recorder is a transition that records the shapes that it gets.
type recorder struct {
	universal.FeedForward
	shapes *[]string
}

func (r recorder) Apply(scope *model.Scope, x *Node, c universal.TransitionContext) *Node {
	*r.shapes = append(*r.shapes, fmt.Sprint(x.Shape().Dimensions))
	return r.FeedForward.Apply(scope, x, c)
}

// With capacities a step computes as many positions as they say, and all of them without. Where a position depends on its neighbours, all
// are computed in fewer steps. Caught when planted: selected positions that nobody selects.
func TestStepsComputeTheirCapacities(t *testing.T) {
	var seen []string
	c := small()
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	c.Transition = recorder{universal.FeedForward{Filter: 5}, &seen}
	x := newMachine(t, universal.Decoder{Config: c})
	tokens := [][]int32{{2, 3, 4, 2}, {3, 3, 2, 4}, {4, 2, 2, 2}}
	for _, test := range []struct {
		capacities halting.Capacities
		want       []string
	}{
		{nil, []string{"[3 4 6]", "[3 4 6]", "[3 4 6]", "[3 4 6]"}},
		{halting.Capacities{{Positions: 12, Rows: 3, Longest: 4}, {Positions: 5, Rows: 3, Longest: 2}, {Positions: 2, Rows: 2, Longest: 1}}, []string{"[3 4 6]", "[1 5 6]", "[1 2 6]"}},
		{halting.Capacities{{Positions: 7, Rows: 3, Longest: 3}}, []string{"[1 7 6]"}},
	} {
		seen = nil
		measure(t, x, stackCapacities{decoder: test.capacities}, tokens, tokens)
		if !slices.Equal(seen, test.want) {
			t.Errorf("%v: the steps computed %v, want %v", test.capacities, seen, test.want)
		}
	}
}

// The limit of a depth that follows the source is not known, whatever its bound. Caught when planted: the limit of a source of one token.
func TestStepLimits(t *testing.T) {
	for want, policy := range map[int]halting.Policy{0: halting.Length{Max: 7}, 3: halting.Fixed{Steps: 3}, 5: halting.Frozen{ACT: halting.ACT{MaxSteps: 5}}} {
		c := universal.Config{Halting: policy}
		if got := c.StepLimit(); got != want {
			t.Errorf("%T: %d, want %d", policy, got, want)
		}
		c.Halting, c.DecoderHalting = halting.Length{}, policy
		if got := c.StepLimit(); got != want {
			t.Errorf("%T of the decoder: %d, want %d", policy, got, want)
		}
	}
}

// Names and numbers that other programs read with an export.
func TestConventions(t *testing.T) {
	if got := universal.Conventions()["norm_epsilon"]; got != "1e-06, inside the root, of the biased variance" {
		t.Errorf("norm_epsilon is %q", got)
	}
	for path, name := range map[string]string{"/encoder/transition/inner/weight": "encoder.transition.inner.weight", "/step": "step"} {
		if universal.Name(path) != name || universal.Path(name) != path {
			t.Errorf("%s is named %s, its path is %s", path, universal.Name(path), universal.Path(name))
		}
	}
}
