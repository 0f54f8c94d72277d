// Package score counts what a model got right, on plain slices of ids, and says how sure one may be.
//
// The protocol, which is tensor2tensor's ("accuracy", "accuracy_per_sequence") applied to the reference's
// length: a sequence counts up to and including its first End, or up to its trailing padding where there is no
// End. A token is right if the prediction has it at the same position; there are as many tokens as the
// reference has, End included, so what a prediction adds beyond them costs no token. A sequence is right if it
// is the reference, no more and no less. Whether predictions were made teacher-forced or by decoding is the
// caller's to say.
package score

import "fmt"

const (
	padding int32 = 0 // vocab.Padding
	end     int32 = 1 // vocab.End
)

// A Score is the two accuracies of the paper's tables: "char-acc" and "seq-acc". The zero value has seen nothing.
type Score struct {
	Tokens    Accuracy `json:"tokens"`
	Sequences Accuracy `json:"sequences"`
}

// Compare scores predictions against their references, one to one.
func Compare(predictions, references [][]int32) (Score, error) {
	if len(predictions) != len(references) {
		return Score{}, fmt.Errorf("%d predictions for %d references", len(predictions), len(references))
	}
	var s Score
	for i := range references {
		s.Add(predictions[i], references[i])
	}
	return s, nil
}

// Add scores one prediction. Two empty sequences are one right sequence of no tokens.
func (s *Score) Add(prediction, reference []int32) {
	prediction, reference = trim(prediction), trim(reference)
	right := 0
	for i, id := range reference {
		if i < len(prediction) && prediction[i] == id {
			right++
		}
	}
	s.Tokens.Correct += right
	s.Tokens.Total += len(reference)
	if right == len(reference) && len(prediction) == len(reference) {
		s.Sequences.Correct++
	}
	s.Sequences.Total++
}

// Plus is the score of both sets of sequences together.
func (s Score) Plus(other Score) Score {
	return Score{Tokens: s.Tokens.Plus(other.Tokens), Sequences: s.Sequences.Plus(other.Sequences)}
}

// trim is ids up to and including the first End; without one, without the padding at the right.
func trim(ids []int32) []int32 {
	for i, id := range ids {
		if id == end {
			return ids[:i+1]
		}
	}
	for len(ids) > 0 && ids[len(ids)-1] == padding {
		ids = ids[:len(ids)-1]
	}
	return ids
}

// Metrics are the two shares by name.
func (s Score) Metrics() []Metric {
	return []Metric{Share("token accuracy", s.Tokens), Share("sequence accuracy", s.Sequences)}
}

// TeacherForced scores predictions that were made one by one, each from the true tokens before it: as many as the reference has.
// A wrong End among them ends nothing, as it would in a decoded sequence.
func TeacherForced(predictions, reference []int32) (s Score) {
	s.Tokens.Total, s.Sequences.Total = len(reference), 1
	for i, id := range reference {
		if predictions[i] == id {
			s.Tokens.Correct++
		}
	}
	if s.Tokens.Correct == len(reference) {
		s.Sequences.Correct = 1
	}
	return s
}
