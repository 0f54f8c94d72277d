package task

import (
	"context"

	"universal-transformer/score"
	"universal-transformer/vocab"
)

// A Measure says how good a model's answers are.
type Measure interface {
	Measure(ctx context.Context, m Model, examples []Example) (Measurement, error)
}

// A WholeSetMeasure is a Measure that wants all examples of a test: its metrics are of all answers together, as BLEU is, or of groups
// of which a sample would have too few.
type WholeSetMeasure interface {
	Measure
	WholeSet()
}

// A Model is what a measure may ask of a trained model: package evaluation has it. Results are in the order of the examples.
type Model interface {
	// Decode answers every source, token after token, each chosen after those before it.
	Decode(ctx context.Context, examples []Example) ([]Decoded, error)
	// Score gives the probability of every target token, from the true tokens before it.
	Score(ctx context.Context, examples []Example) ([]Scored, error)
	// Classify answers every source with its most probable class.
	Classify(ctx context.Context, examples []Example) ([]Classified, error)
	// Method says how Decode decodes: "greedy decoding", "beam search of width 4, alpha 0.6".
	Method() string
}

// Decoded is a decoded answer.
type Decoded struct {
	Tokens   []vocab.ID // up to its End, if it has ended
	Finished bool       // false: cut off at the length limit
}

// Scored is what a model makes of a given target.
type Scored struct {
	LogProbs []float64  // natural logarithm of the probability of each target token
	Best     []vocab.ID // the most probable token in its place
}

// Classified is the class of a source.
type Classified struct {
	Class   vocab.ID
	LogProb float64 // of the true class, natural
	Updates []int   // steps that each position of the source ran
}

// Measurement is what a measure found.
type Measurement struct {
	Method  string         `json:"method"` // how answers were got: "greedy decoding", "teacher forcing", "classification"
	Metrics []score.Metric `json:"metrics"`
	Notes   []string       `json:"notes"` // what a reader of the figures should know
	Answers []Answer       `json:"-"`     // one an example; nil if the measure asks for probabilities only
}

// An Answer is one example's.
type Answer struct {
	Tokens  []vocab.ID
	Text    string // as people read it, where ids do not tell; may be empty
	Correct bool
}

// Ways to predict that do not depend on the model.
const (
	TeacherForcing = "teacher forcing"
	Classes        = "classification"
)
