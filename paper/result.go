package paper

import (
	"fmt"
	"path/filepath"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/sweep"
)

// The runner's types, under the names that this package uses.
type (
	Cell     = sweep.Cell
	Measured = sweep.Measured
)

// How checkpoints are compared.
const (
	byAccuracy = sweep.ByAccuracy
	byMeasure  = sweep.ByMeasure
	byPonder   = sweep.ByPonder
)

// Result is one finished cell, with what was measured decoded.
type Result struct {
	Header
	Measured Measured
	Config   []byte // the run, as the version that wrote it writes runs
}

// Header is what the results of all tables have.
type Header struct {
	Version            string // of the build that measured
	Experiment         string // "babi-10k-single"
	Model              string
	Task               string // "task01", "joint"
	Seed               uint64
	Data               string
	Parameters         int
	Step               int64
	BestStep           int64
	Validation         float64
	ChosenBy           string
	Stopped            string
	Seconds            float64
	ExamplesPerSecond  float64
	PositionsPerSecond float64
	Threads            int
}

// Name is the name of the cell whose result it is.
func (h Header) Name() string { return h.sweep().Name() }

// Beside is a file that stands beside the result, below the same folder: a figure.
func (h Header) Beside(suffix string) string { return h.sweep().Beside(suffix) }

func (h Header) sweep() sweep.Header {
	return sweep.Header{Recipe: h.Experiment + "/" + h.Task, Seed: h.Seed}
}

// Decode decodes what a result has measured into the type of its table.
func Decode(r sweep.Result) (Result, error) {
	t := tableOf(r.Family())
	if t == nil {
		return Result{}, fmt.Errorf("no table has an experiment %q", r.Family())
	}
	m := t.New()
	if err := r.Decode(m); err != nil {
		return Result{}, err
	}
	return Result{
		Header: Header{
			Version: r.MeasuredBy.Build(), Experiment: r.Family(), Model: r.Model, Task: r.Column(), Seed: r.Seed, Data: r.Data, Parameters: r.Parameters,
			Step: r.Step, BestStep: r.BestStep, Validation: r.Validation, ChosenBy: r.ChosenBy, Stopped: r.Stopped, Seconds: r.Seconds,
			ExamplesPerSecond: r.ExamplesPerSecond, PositionsPerSecond: r.PositionsPerSecond, Threads: r.Threads,
		},
		Measured: m, Config: r.Config,
	}, nil
}

// run is the configuration of a result. ok is false if another version wrote it, in a form that this one does not read.
func (r Result) run() (run experiment.Run, ok bool) {
	run, err := experiment.Decode(r.Config)
	return run, err == nil
}

// tableOf is the table that has an experiment; nil if none has.
func tableOf(experiment string) *Table {
	for _, t := range Tables {
		if slices.ContainsFunc(t.Experiments, func(e Experiment) bool { return e.Name == experiment }) {
			return t
		}
	}
	return nil
}

// ReadAll reads every result below a folder, in the order of experiment, task and seed. There may be none.
func ReadAll(root string) (results []Result, err error) {
	all, err := sweep.ReadAll(root)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		decoded, err := Decode(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: remove the file to repeat the run", filepath.Join(root, r.File()), err)
		}
		results = append(results, decoded)
	}
	return results, nil
}
