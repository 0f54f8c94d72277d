package score

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Perplexity sums cross entropies: exp of their mean is how many equally likely tokens the model was torn between.
type Perplexity struct {
	Nats   float64 // -log p(token), natural logarithm, summed over Tokens
	Tokens int
}

// Value is exp(Nats/Tokens), at least 1 for a proper model; NaN if there were no tokens.
func (p Perplexity) Value() float64 {
	if p.Tokens == 0 {
		return math.NaN()
	}
	return math.Exp(p.Nats / float64(p.Tokens))
}

// Plus is the perplexity over both texts.
func (p Perplexity) Plus(other Perplexity) Perplexity {
	return Perplexity{Nats: p.Nats + other.Nats, Tokens: p.Tokens + other.Tokens}
}

type perplexityJSON struct {
	Nats   float64  `json:"nats"`
	Tokens int      `json:"tokens"`
	Value  *float64 `json:"value"` // null if it is no finite number
}

// MarshalJSON writes {"nats": 69.3, "tokens": 100, "value": 2}; value is null where it is no finite number.
// Nats that are no finite number are an error: JSON has none.
func (p Perplexity) MarshalJSON() ([]byte, error) {
	j := perplexityJSON{Nats: p.Nats, Tokens: p.Tokens}
	if value := p.Value(); !math.IsNaN(value) && !math.IsInf(value, 0) {
		j.Value = &value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads nats and tokens; the value follows from them.
func (p *Perplexity) UnmarshalJSON(data []byte) error {
	var j perplexityJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Tokens < 0 {
		return fmt.Errorf("perplexity: over %d tokens", j.Tokens)
	}
	*p = Perplexity{Nats: j.Nats, Tokens: j.Tokens}
	return nil
}
