package sweep

import (
	"encoding/json"
	"strings"

	"universal-transformer/internal/provenance"
	"universal-transformer/internal/strictjson"
)

// earlierResult is the form of results up to version 0.2. It has an experiment and a task instead of a recipe, and the build that measured
// instead of the provenance.
type earlierResult struct {
	Version            string          `json:"version"`
	Experiment         string          `json:"experiment"`
	Model              string          `json:"model"`
	Task               string          `json:"task"`
	Seed               uint64          `json:"seed"`
	Data               string          `json:"data"`
	Parameters         int             `json:"parameters"`
	Step               int64           `json:"step"`
	BestStep           int64           `json:"best_step"`
	Validation         float64         `json:"validation,omitempty"`
	ChosenBy           string          `json:"chosen_by"`
	Stopped            string          `json:"stopped"`
	Seconds            float64         `json:"seconds"`
	ExamplesPerSecond  float64         `json:"examples_per_second"`
	PositionsPerSecond float64         `json:"positions_per_second"`
	Threads            int             `json:"threads"`
	Measured           json.RawMessage `json:"measured"`
	Config             json.RawMessage `json:"config"`
}

// earlier returns a reader of data if it has the earlier form.
func earlier(data []byte) (read func() (Result, error), ok bool) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) != nil || keys["experiment"] == nil {
		return nil, false
	}
	return func() (Result, error) {
		var old earlierResult
		if err := strictjson.Decode(data, &old); err != nil {
			return Result{}, err
		}
		return old.result(), strictjson.Complete(data, old)
	}, true
}

// result converts r to the present form. The recipe is named after the experiment and the task.
func (r earlierResult) result() Result {
	version, commit := provenance.SplitVersion(r.Version)
	return Result{
		Header: Header{
			Recipe: r.Experiment + "/" + r.Task, Seed: r.Seed, Model: r.Model, Data: r.Data, Parameters: r.Parameters, Step: r.Step, BestStep: r.BestStep,
			Validation: r.Validation, ChosenBy: r.ChosenBy, Stopped: r.Stopped, Seconds: r.Seconds, ExamplesPerSecond: r.ExamplesPerSecond,
			PositionsPerSecond: r.PositionsPerSecond, Threads: r.Threads, MeasuredBy: Provenance{Version: version, Commit: commit},
		},
		Measured: r.Measured, Config: r.Config,
	}
}

// bareResult is a Result without its methods.
type bareResult Result

// optionalValidation is a Result that may lack the validation.
type optionalValidation struct {
	bareResult
	Validation *float64 `json:"validation,omitempty"` // in place of that of the header
}

// MarshalJSON leaves out the validation that a result of version 0.1 does not have.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Validation == 0 && r.withoutValidation() {
		return json.Marshal(optionalValidation{bareResult: bareResult(r)})
	}
	return json.Marshal(bareResult(r))
}

// withoutValidation reports whether the version that wrote the result recorded no validation.
func (r Result) withoutValidation() bool { return strings.HasPrefix(r.MeasuredBy.Version, "0.1.") }
