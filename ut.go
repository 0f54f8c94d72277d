// Package ut trains Universal Transformers (Dehghani et al., 2019) and uses them in Go programs.
//
//	model, err := ut.Load("runs/pairs", ut.LoadOptions{})
//	if err != nil {
//		return err
//	}
//	defer model.Close()
//	answers, err := model.Decode(ctx, []string{"two plus two"}, ut.DecodeOptions{})
//
// A [Run] is a complete configuration: task, model and training. [Recipe], [Defaults] and [ParseRun] return one, [Train] trains it in
// a new directory, [Resume] continues it, and [Load] reads the trained model. Errors that a program may want to tell apart are
// [ErrNotRun], [ErrExists], [ErrInUse], [ErrNoCheckpoint], [ErrDamaged], [LineErrors] and [MissingTypeError]; use errors.Is and errors.As.
//
// A program may define tasks, halting policies, transitions and positions of its own: they are fields of a Run, see [Extensions].
package ut

import (
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/halting"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/viewer"

	"github.com/gomlx/compute"
)

// Configurations and their parts.
type (
	Run              = experiment.Run
	Task             = experiment.Task       // Run.Task; ut.Task{Value: task}
	Extensions       = experiment.Extensions // types that another module defines
	MissingTypeError = experiment.MissingTypeError
)

// What calls take and return, besides the types of this package.
type (
	Beam       = decoding.Beam     // beam search
	Sampling   = decoding.Sampling // temperature, top-k and top-p
	Exit       = halting.Exit      // when to stop computing earlier than trained
	Selection  = task.Selection    // which held-out examples
	Trace      = viewer.Trace      // one forward pass; package viewer writes it as page, SVG or text
	Pair       = pipeline.Pair     // a source and an answer to score
	Metric     = score.Metric      // a named result of an evaluation
	PonderTime = pipeline.PonderTime
	Span       = score.Span // words that tags mark
	ID         = vocab.ID   // of a token
	LineError  = pipeline.LineError
	LineErrors = pipeline.LineErrors // of Stream
)

// Errors of run directories.
var (
	ErrNotRun       = runlog.ErrNotRun       // the directory holds no run
	ErrExists       = runlog.ErrExists       // the directory holds a run already
	ErrInUse        = runlog.ErrInUse        // another process trains in the directory
	ErrNoCheckpoint = runlog.ErrNoCheckpoint // nothing was saved yet
	ErrDamaged      = runlog.ErrDamaged      // a file is not as it was written
)

// Defaults returns the default configuration for own data. Its task is missing.
func Defaults() Run { return experiment.Defaults() }

// Recipe returns a configuration by its name, such as "algorithmic/copy"; see package experiment/recipes.
func Recipe(name string) (Run, error) {
	r, err := recipes.Named(name)
	if err != nil {
		return Run{}, err
	}
	return r.Run(), nil
}

// ParseRun reads a configuration from JSON; docs/data.md shows some. Fields that are missing are as in [Defaults], and unknown ones are
// an error.
func ParseRun(data []byte) (Run, error) { return experiment.Parse(data) }

// Backends lists the names of the backends in this build. The first is the default.
func Backends() []string { return engine.Names() }

// withBackend calls use with a backend, and finalizes it afterwards.
func withBackend[T any](name string, use func(compute.Backend) (T, error)) (T, error) {
	backend, err := engine.New(name)
	if err != nil {
		var none T
		return none, err
	}
	defer backend.Finalize()
	return use(backend)
}
