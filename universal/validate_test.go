package universal_test

import (
	"fmt"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Every refusal begins with the JSON name of the field, without the path of whatever the configuration is part of, and goes on with its value.
func TestValidateNamesTheField(t *testing.T) {
	for want, change := range map[string]func(*universal.Config){
		"target_vocabulary is 1: ":              func(c *universal.Config) { c.TargetVocabulary = 1 },
		"source_vocabulary is 0: ":              func(c *universal.Config) { c.SourceVocabulary = 0 },
		"tokens_per_position is -2: ":           func(c *universal.Config) { c.TokensPerPosition = -2 },
		"embedding_width is -1: ":               func(c *universal.Config) { c.EmbeddingWidth = -1 },
		"embedding_width needs one token a pos": func(c *universal.Config) { c.EmbeddingWidth, c.TokensPerPosition = 4, 2 },
		"width is 0: ":                          func(c *universal.Config) { c.Width = 0 },
		"width is 5: counting gives": func(c *universal.Config) {
			c.Width, c.Heads, c.Counting = 5, 1, universal.BothEnds{}
		},
		"heads is -1: ":                         func(c *universal.Config) { c.Heads = -1 },
		"heads is 4, which does not divide wid": func(c *universal.Config) { c.Heads = 4 },
		"transition is missing: ":               func(c *universal.Config) { c.Transition = nil },
		"transition.filter is 0: ":              func(c *universal.Config) { c.Transition = universal.FeedForward{} },
		"transition.widths has 100: ": func(c *universal.Config) {
			c.Transition = universal.SeparableConvolution{Filter: 3, Widths: [2]int{3, 100}}
		},
		"halting is missing: ":                   func(c *universal.Config) { c.Halting = nil },
		"halting.steps is 0: ":                   func(c *universal.Config) { c.Halting = halting.Fixed{} },
		"halting.max_steps is -3: ":              func(c *universal.Config) { c.Halting = halting.Graves{ACT: halting.ACT{MaxSteps: -3}} },
		"dropout.attention is 1: ":               func(c *universal.Config) { c.Dropout.Attention = 1 },
		"positions.max is -4: ":                  func(c *universal.Config) { c.Positions = universal.RandomOffset{Max: -4} },
		"arrangement.order is wrong":             func(c *universal.Config) { c.Arrangement = invalidPart{field: "order"} },
		"coordinates.base is wrong":              func(c *universal.Config) { c.Coordinates = invalidPart{field: "base"} },
		"shared_embedding needs one vocabulary":  func(c *universal.Config) { c.SharedEmbedding = true },
		"scale_steps is true, but learned_steps": func(c *universal.Config) { c.ScaleSteps = true },
		"learned_steps needs a known number":     func(c *universal.Config) { c.LearnedSteps, c.Halting = true, halting.Length{} },
	} {
		c := small()
		change(&c)
		if err := (universal.EncoderDecoder{Config: c}).Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// invalidPart is an arrangement and coordinates with an invalid field.
type invalidPart struct {
	universal.Arrangement
	universal.Coordinates
	field string
}

func (p invalidPart) Validate() error { return fmt.Errorf("%s is wrong", p.field) }
