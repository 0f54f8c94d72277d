package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"universal-transformer/internal/batch"
	"universal-transformer/internal/strictjson"
)

// This file keeps a batch from having two sizes. Runs of earlier versions may have both: the rows count.

// sizes are the sizes of a batch as a configuration or an assignment states them.
type sizes struct {
	Tokens json.Number `json:"tokens"`
	Rows   json.Number `json:"rows"`
}

func stated(n json.Number) bool { return n != "" && n != "0" }

// check returns an error if both sizes are stated.
func (s sizes) check() error {
	if stated(s.Rows) && stated(s.Tokens) {
		return fmt.Errorf("training.batch.rows is %s and training.batch.tokens is %s: give only one of them, which makes the other 0", s.Rows, s.Tokens)
	}
	return nil
}

// sizesIn returns the sizes that a configuration states.
func sizesIn(data []byte) sizes {
	var r struct {
		Training struct {
			Batch sizes `json:"batch"`
		} `json:"training"`
	}
	_ = json.Unmarshal(strictjson.WithoutMark(data), &r) // other errors are those of the configuration
	return r.Training.Batch
}

// assignedSizes returns the sizes that assignments state, of which the last counts.
func assignedSizes(assignments []string) (s sizes) {
	for _, assignment := range assignments {
		path, text, _ := strings.Cut(assignment, "=")
		switch path {
		case "training.batch.tokens":
			s.Tokens = json.Number(text)
		case "training.batch.rows":
			s.Rows = json.Number(text)
		case "training.batch":
			s = sizes{}
			_ = json.Unmarshal([]byte(text), &s) // the value was accepted before
		}
	}
	return s
}

// keepOne makes the size 0 that the stated one replaces.
func (s sizes) keepOne(tree map[string]any) {
	batch := fieldsAt(tree, "training.batch")
	switch {
	case batch == nil:
	case stated(s.Rows) && !stated(s.Tokens):
		batch["tokens"] = 0
	case stated(s.Tokens) && !stated(s.Rows):
		batch["rows"] = 0
	}
}

func (b Batch) validate() error {
	if b.Tokens == 0 && b.Rows == 0 {
		return fmt.Errorf("training.batch.tokens is 0: set it to the number of positions of a batch, or set training.batch.rows")
	}
	plan := batch.Plan{Tokens: b.Tokens, Rows: b.Rows, Boundaries: b.Boundaries, MaxSource: math.MaxInt32, MaxTarget: math.MaxInt32}
	if err := plan.Validate(); err != nil {
		return fmt.Errorf("training.batch: %w", err)
	}
	return nil
}
