// Package experiment holds complete runs: what task, which model, how it is trained, one JSON object each. It is the only
// place where strings become values. [List] names the experiments that the paper's tables need; a person's own are files of
// the same form.
//
// Where a part comes in variants, the JSON has one key that names the variant, and that variant's fields below it:
//
//	"halting": {"frozen": {"max_steps": 6, "epsilon": 0.01, "bias": 0}}
package experiment

import (
	"encoding/json"
	"fmt"
	"math"

	"universal-transformer/batch"
	"universal-transformer/internal/strictjson"
	"universal-transformer/runlog"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Run is one experiment, complete: nothing that influences its result is said elsewhere.
type Run struct {
	Name     string   `json:"name"`
	Task     Task     `json:"task"`
	Model    Model    `json:"model"`
	Training Training `json:"training"`
	Seed     uint64   `json:"seed"`
}

// Model is an encoder-decoder Universal Transformer, or, with a Classifier, one that answers with a class.
type Model struct {
	universal.Config
	Transition Transition  `json:"transition"`
	Halting    Halting     `json:"halting"`
	Classifier *Classifier `json:"classifier,omitempty"`
}

// Training says how to train, and with which batches.
type Training struct {
	training.Config
	Schedule Schedule `json:"schedule"`
	Batch    Batch    `json:"batch"`
	HeldOut  int      `json:"held_out"` // examples looked at while training; 0: all that the task holds out, or its default
}

// Batch says how large batches are.
type Batch struct {
	Tokens     int   `json:"tokens"`     // positions of the longer rectangle of a batch, padding included
	Rows       int   `json:"rows"`       // if not 0: this many examples a batch, whatever their length
	Boundaries []int `json:"boundaries"` // lengths that rows are padded to; empty: 8, 10, 12, 15, 18, ...
}

// Parse reads an experiment from JSON. What it does not mention is as in Base; keys that mean nothing are an error that offers
// the nearest one.
func Parse(data []byte) (Run, error) {
	run := Base()
	if err := runlog.DecodeConfig(data, &run); err != nil {
		return Run{}, err
	}
	return run, run.Validate()
}

// JSON is the complete experiment, as Parse reads it.
func (r Run) JSON() []byte {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("experiment: %v", err)) // plain numbers and strings marshal
	}
	return append(data, '\n')
}

// Validate names the first field that makes no sense, its value, and what would. It reads no files.
func (r Run) Validate() error {
	if r.Name == "" {
		return fmt.Errorf("name is empty: give the experiment a name")
	}
	if err := r.Task.Validate(); err != nil {
		return err
	}
	model, err := r.Model.with(2, 2, r.Seed)
	if err != nil {
		return err
	}
	if err := model.Validate(); err != nil {
		return fmt.Errorf("model.%w", err)
	}
	if classes := r.Task.Babi != nil; classes != (r.Model.Classifier != nil) {
		if classes {
			return fmt.Errorf(`model.classifier is missing: the answers of task.babi are classes; start from ut show babi, or set model.classifier={"pool": "last"}`)
		}
		return fmt.Errorf("model.classifier answers with one class, but the targets of the task are sequences: leave it out, or choose task.babi")
	}
	config, err := r.Training.config(r.Seed, r.Model.Width)
	if err != nil {
		return err
	}
	if err := config.Validate(); err != nil {
		return err
	}
	if r.Training.HeldOut < 0 {
		return fmt.Errorf("training.held_out is %d: it must be positive, or 0 for the task's own number", r.Training.HeldOut)
	}
	if p := r.Model.Positions; p.Random() && !r.Task.isFile() {
		if source, target := r.Task.maxLengths(); p.Max < max(source, target) {
			return fmt.Errorf("model.positions.max is %d, but training sequences have up to %d tokens: choose at least that", p.Max, max(source, target))
		}
	}
	return r.Training.Batch.validate()
}

func (b Batch) validate() error {
	plan := batch.Plan{Tokens: b.Tokens, Rows: b.Rows, Boundaries: b.Boundaries, MaxSource: math.MaxInt32, MaxTarget: math.MaxInt32}
	if b.Tokens == 0 && b.Rows == 0 {
		return fmt.Errorf("training.batch.tokens is 0: say how many positions a batch may have, or set training.batch.rows")
	}
	if err := plan.Validate(); err != nil {
		return fmt.Errorf("training.batch: %w", err)
	}
	return nil
}

// with completes the model with the sizes of its task's vocabularies and the seed of its weights.
func (m Model) with(source, target int, seed uint64) (universal.Model, error) {
	c, err := m.complete()
	if err != nil {
		return nil, err
	}
	c.SourceVocabulary, c.TargetVocabulary, c.Seed = source, target, seed
	if m.Classifier != nil {
		return m.Classifier.model(c)
	}
	return universal.EncoderDecoder{Config: c}, nil
}

// complete is the model's configuration with its variants as values.
func (m Model) complete() (c universal.Config, err error) {
	c = m.Config
	if c.Transition, err = m.Transition.value(); err != nil {
		return c, err
	}
	c.Halting, err = m.Halting.value()
	return c, err
}

func (t Training) config(seed uint64, width int) (training.Config, error) {
	c := t.Config
	c.Seed = seed
	var err error
	c.Schedule, err = t.Schedule.value(width, t.Steps)
	return c, err
}

// unknown turns a name that is not among the valid ones into an error that offers the nearest.
func unknown(what, name string, valid []string) error {
	if near, ok := strictjson.Nearest(name, valid); ok {
		return fmt.Errorf("%s %q is not known: did you mean %q?", what, name, near)
	}
	return fmt.Errorf("%s %q is not known; there are %s", what, name, list(valid))
}
