package tabular

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"universal-transformer/internal/quantity"
)

// EmptyPart is the error for rows without any for training, for choosing a checkpoint, or for evaluation. share is held out, unless the
// rows for evaluation have a file of their own. unit says what the rows are: "rows".
func EmptyPart(path, unit string, training, validation, evaluation int, share float64, ownFile bool) error {
	at, remedy := fmt.Sprintf(", at task.held_out %v", share), ", raise task.held_out or name a task.held_out_path"
	if ownFile {
		at, remedy = "", ""
	}
	return fmt.Errorf("%s: %s for training, %d for choosing a checkpoint and %d for evaluation%s: each part needs some, and identical ones go to the same part; add %s%s",
		path, quantity.Regular(training, unit), validation, evaluation, at, unit, remedy)
}

// Alike asks whether the texts of rows, by whose hashes they are divided, are those of the right column, if nearly all are identical; "" if
// they are not. unit says what the rows are, what the texts, and column names the field that chooses their column: "rows", "texts",
// "text_column".
func Alike[R any](rows []R, hash func(R) uint64, unit, what, column string) string {
	different := map[uint64]bool{}
	for _, r := range rows {
		different[hash(r)] = true
	}
	if len(rows) < fewRows || 10*len(different) > len(rows) {
		return ""
	}
	return fmt.Sprintf("different %s in %d %s: %d; does task.%s choose the right column?", what, len(rows), unit, len(different), column)
}

// fewRows is a number of rows below which identical ones are no surprise.
const fewRows = 20

// EmptyAlike is [EmptyPart] for rows that are divided by what Alike asks about.
func EmptyAlike(path, alike string) error {
	return fmt.Errorf("%s: a part is empty, since identical ones go to the same part; %s", path, alike)
}

// Repeated counts the rows with the hash of a row of the training part.
func Repeated[R any](rows, training []R, hash func(R) uint64) (n int) {
	waiting := NewTally(slices.Values(rows), hash)
	for _, r := range training {
		n += waiting.Take(hash(r))
	}
	return n
}

// A Tally counts hashes. It takes memory for those of one part, however large the others are.
type Tally map[uint64]int

// NewTally counts the hashes of rows.
func NewTally[R any](rows iter.Seq[R], hash func(R) uint64) Tally {
	c := Tally{}
	for r := range rows {
		c[hash(r)]++
	}
	return c
}

// Take returns how often a hash was counted, the first time that it is asked for, and then 0.
func (c Tally) Take(hash uint64) int {
	n := c[hash]
	delete(c, hash)
	return n
}

// RepeatedNote is the remark that rows to evaluate on are also in the training part; none if none are. what says what they are: "texts".
func RepeatedNote[R any](rows, training []R, hash func(R) uint64, what string) []string {
	return NoteRepeated(Repeated(rows, training, hash), len(rows), what)
}

// NoteRepeated is the remark of [RepeatedNote] for a number of rows that are repeated.
func NoteRepeated(repeated, rows int, what string) []string {
	if repeated == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d %s are also in the training part", repeated, rows, what)}
}

// Hash is a digest of a text, by which it is held out or not, independently of all other texts.
func Hash(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

// Split divides rows by the hashes of their texts, so that equal texts are on the same side whatever else is in the file. The shares
// of all hashes count from 0: up to validation, up to held, and the rest.
func Split[R any](rows []R, hash func(R) uint64, validation, held float64) (toTrain, toValidate, toEvaluate []R) {
	for _, row := range rows {
		switch at := float64(hash(row)) / (1 << 64); {
		case at < validation:
			toValidate = append(toValidate, row)
		case at < held:
			toEvaluate = append(toEvaluate, row)
		default:
			toTrain = append(toTrain, row)
		}
	}
	return toTrain, toValidate, toEvaluate
}
