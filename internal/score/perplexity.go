package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"universal-transformer/internal/strictjson"
)

// A Perplexity accumulates cross entropy, in nats; its value is exp of the mean over tokens.
type Perplexity struct {
	Nats   float64 // -log p(token), natural logarithm, summed over Tokens
	Tokens int
}

// Value returns exp(Nats/Tokens), at least 1 for a valid model, or NaN if there were no tokens.
func (p Perplexity) Value() float64 {
	if p.Tokens == 0 {
		return math.NaN()
	}
	return math.Exp(p.Nats / float64(p.Tokens))
}

// Plus returns the perplexity over both texts.
func (p Perplexity) Plus(other Perplexity) Perplexity {
	return Perplexity{Nats: p.Nats + other.Nats, Tokens: p.Tokens + other.Tokens}
}

type perplexityJSON struct {
	Nats   float64  `json:"nats"`
	Tokens int      `json:"tokens"`
	Value  *float64 `json:"value"` // null if it is not finite
}

// MarshalJSON writes {"nats": 69.3, "tokens": 100, "value": 2}; value is null if it is not finite. Nats that are not finite are an error,
// as JSON cannot represent them.
func (p Perplexity) MarshalJSON() ([]byte, error) {
	j := perplexityJSON{Nats: p.Nats, Tokens: p.Tokens}
	if value := p.Value(); !math.IsNaN(value) && !math.IsInf(value, 0) {
		j.Value = &value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the output of MarshalJSON strictly: nats and tokens are needed, and the value must be theirs.
func (p *Perplexity) UnmarshalJSON(data []byte) error {
	var j struct {
		Nats   *float64 `json:"nats"`
		Tokens *int     `json:"tokens"`
		Value  *float64 `json:"value"`
	}
	if err := strictjson.Decode(data, &j); err != nil {
		return err
	}
	if j.Nats == nil || j.Tokens == nil {
		return errors.New("perplexity: nats or tokens is missing or null")
	}
	if *j.Tokens < 0 {
		return fmt.Errorf("perplexity: over %d tokens", *j.Tokens)
	}
	read := Perplexity{Nats: *j.Nats, Tokens: *j.Tokens}
	if value := read.Value(); j.Value != nil && !(math.Abs(*j.Value-value) <= 1e-9*value) {
		return fmt.Errorf("perplexity: value is %v, that of the nats and tokens is %v", *j.Value, value)
	}
	*p = read
	return nil
}
