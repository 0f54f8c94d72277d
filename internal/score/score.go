// Package score compares predictions with references, as slices of ids, and computes accuracies with confidence intervals.
//
// The protocol is tensor2tensor's ("accuracy", "accuracy_per_sequence"), applied to the reference's length: a sequence ends with its
// first End, included, or before its trailing padding if there is no End. A token is correct if the prediction has it at the same
// position. The number of tokens is the reference's length, including End, so extra tokens of a prediction are not counted. A sequence is
// correct if it equals the reference. The protocol is the same for teacher-forced and for decoded predictions.
package score

import "fmt"

const (
	padding int32 = 0 // vocab.Padding
	end     int32 = 1 // vocab.End
)

// A Score holds the two accuracies of the paper's tables, "char-acc" and "seq-acc". The zero value is empty.
type Score struct {
	Tokens    Accuracy `json:"tokens"`
	Sequences Accuracy `json:"sequences"`
}

// Compare scores predictions against their references, pair by pair. Different numbers of them are an error.
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

// Add scores one prediction. Two empty sequences count as a correct sequence without tokens.
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

// Plus returns the score over both sets of sequences.
func (s Score) Plus(other Score) Score {
	return Score{Tokens: s.Tokens.Plus(other.Tokens), Sequences: s.Sequences.Plus(other.Sequences)}
}

// trim returns ids up to and including the first End; without End, it removes trailing padding.
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

// Metrics returns both accuracies as named metrics.
func (s Score) Metrics() []Metric {
	return []Metric{Share("token accuracy", s.Tokens), Share("sequence accuracy", s.Sequences)}
}

// TeacherForced scores predictions that were made from the true previous tokens, and are as many as the reference has. A wrong End
// does not end the sequence, as it would in a decoded one.
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
