package task

import (
	"context"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
)

// A Measure evaluates the quality of a model's answers.
type Measure interface {
	Measure(ctx context.Context, m Model, examples []Example) (Measurement, error)
}

// A WholeSetMeasure is a Measure that needs the whole test set: its metrics are computed from all answers together, as BLEU is, or
// from groups that would be too small in a sample.
type WholeSetMeasure interface {
	Measure
	WholeSet()
}

// A Model is the part of a trained model that measures use; package internal/evaluation implements it. Results are in the order of the
// examples.
type Model interface {
	// Decode answers every source token by token; each token depends on the model's own previous tokens.
	Decode(ctx context.Context, examples []Example) ([]Decoded, error)
	// Score returns the probability of every target token, given the true previous tokens.
	Score(ctx context.Context, examples []Example) ([]Scored, error)
	// Classify returns the most probable class of every source.
	Classify(ctx context.Context, examples []Example) ([]Classified, error)
	// Tag returns the probabilities of the classes at every position of every source.
	Tag(ctx context.Context, examples []Example) ([]Tagged, error)
	// Method describes how Decode decodes: "greedy decoding", "beam search of width 4, alpha 0.6".
	Method() string
}

// Decoded is a decoded answer.
type Decoded struct {
	Tokens   []vocab.ID // up to End, if the answer ended
	Finished bool       // false: cut off at the length limit
}

// Scored is a given target and its scores.
type Scored struct {
	LogProbs []float64  // natural logarithm of the probability of each target token
	Best     []vocab.ID // the most probable token at each position
}

// Classified is the predicted class of a source.
type Classified struct {
	Class   vocab.ID
	LogProb float64 // of the true class, natural
	Updates []int   // number of steps at each position of the source
}

// Tagged is the predicted class of every position of a source.
type Tagged struct {
	Tags          []vocab.ID  // the most probable class of each position
	Probabilities [][]float64 // at each position, of each class of the target vocabulary; the first is that of the first token
}

// Measurement is the result of a measure.
type Measurement struct {
	Method  string         `json:"method"` // how answers were obtained: "greedy decoding", "teacher forcing", "classification"
	Metrics []score.Metric `json:"metrics"`
	Notes   []string       `json:"notes"` // remarks on the metrics
	// Confusion counts the answers of a classifier by class; nil if the measure does not.
	Confusion *score.Confusion `json:"confusion,omitempty"`
	// Spans holds the scores of the spans that tags mark, by type; nil if the measure does not compute them.
	Spans   []score.ClassScore `json:"spans,omitempty"`
	Answers []Answer           `json:"-"` // one per example; nil if the measure computes probabilities only
}

// An Answer is the answer to one example.
type Answer struct {
	Tokens  []vocab.ID
	Text    string // readable form, for measures whose answers are texts; may be empty
	Correct bool
}

// Methods of prediction that do not depend on the model.
const (
	TeacherForcing = "teacher forcing"
	Classes        = "classification"
	Tags           = "classification of each token"
)
