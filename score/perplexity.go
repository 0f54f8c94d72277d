package score

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Perplexity sums cross entropies: exp of their mean is how many equally likely symbols the model was torn between.
type Perplexity struct {
	Nats    float64 // -log p(symbol), natural logarithm, summed over Symbols
	Symbols int
}

// Value is exp(Nats/Symbols), at least 1 for a proper model; NaN if there were no symbols.
func (p Perplexity) Value() float64 {
	if p.Symbols == 0 {
		return math.NaN()
	}
	return math.Exp(p.Nats / float64(p.Symbols))
}

// Plus is the perplexity over both texts.
func (p Perplexity) Plus(other Perplexity) Perplexity {
	return Perplexity{Nats: p.Nats + other.Nats, Symbols: p.Symbols + other.Symbols}
}

type perplexityJSON struct {
	Nats    float64  `json:"nats"`
	Symbols int      `json:"symbols"`
	Value   *float64 `json:"value"` // null if it is no finite number
}

// MarshalJSON writes {"nats": 69.3, "symbols": 100, "value": 2}; value is null where it is no finite number.
// Nats that are no finite number are an error: JSON has none.
func (p Perplexity) MarshalJSON() ([]byte, error) {
	j := perplexityJSON{Nats: p.Nats, Symbols: p.Symbols}
	if value := p.Value(); !math.IsNaN(value) && !math.IsInf(value, 0) {
		j.Value = &value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads nats and symbols; the value follows from them.
func (p *Perplexity) UnmarshalJSON(data []byte) error {
	var j perplexityJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Symbols < 0 {
		return fmt.Errorf("perplexity: over %d symbols", j.Symbols)
	}
	*p = Perplexity{Nats: j.Nats, Symbols: j.Symbols}
	return nil
}
