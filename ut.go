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
// [ErrNotRun], [ErrExists], [ErrInUse], [ErrNoCheckpoint], [ErrDamaged], [ErrVersion], [ErrClosed], [LineErrors], [MissingTypeError],
// [DataError], [LostError] and [DivergedError]; use errors.Is and errors.As.
//
// A program may define tasks, halting policies, transitions, positions and schedules of its own: they are fields of a Run, see [Extensions].
package ut

import (
	"errors"

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
	"universal-transformer/training"
	"universal-transformer/viewer"

	"github.com/gomlx/compute"
)

// Configurations and their parts.
type (
	Run              = experiment.Run
	Task             = experiment.Task             // Run.Task; ut.Task{Value: task}
	Extensions       = experiment.Extensions       // types that another module defines
	MissingTypeError = experiment.MissingTypeError // of Load and Resume: Extensions lack a type of the run
)

// What calls take and return, besides the types of this package.
type (
	Beam       = decoding.Beam     // beam search
	Sampling   = decoding.Sampling // temperature, top-k and top-p
	Details    = pipeline.Details  // tokens, ponder times and alignment of an answer
	Exit       = halting.Exit      // when to stop computing earlier than trained
	Selection  = task.Selection    // which held-out examples
	Trace      = viewer.Trace      // one forward pass; package viewer writes it as page, SVG or text
	Pair       = pipeline.Pair     // a source and an answer to score
	Class      = pipeline.Class    // a Name and its Probability
	Metric     = score.Metric      // Name, Value (NaN if nothing was measured) and Accuracy (counts; zero for other metrics)
	PonderTime = pipeline.PonderTime
	Span       = score.Span          // a Type and the words from Start to End-1, counted from 0, that tags mark
	ID         = vocab.ID            // number of a token: 0 is padding, 1 the end
	LineError  = pipeline.LineError  // of one line of Stream
	LineErrors = pipeline.LineErrors // of Stream
)

// Errors of training.
type (
	DataError     = pipeline.DataError     // of Resume: the data are not those of the checkpoint
	LostError     = pipeline.LostError     // of Resume: the run had checkpoints, but none can be used
	DivergedError = training.DivergedError // the loss or the gradient is not finite, or far too large
)

// ErrClosed is the error of calls of a [Model] after Close.
var ErrClosed = errors.New("the model is closed")

// Errors of run directories.
var (
	ErrNotRun       = runlog.ErrNotRun       // the directory holds no run
	ErrExists       = runlog.ErrExists       // the directory holds a run already
	ErrInUse        = runlog.ErrInUse        // another process trains in the directory
	ErrNoCheckpoint = runlog.ErrNoCheckpoint // there is no checkpoint, or none can be used
	ErrDamaged      = runlog.ErrDamaged      // a file is not as it was written
	ErrVersion      = runlog.ErrVersion      // another version wrote a file in a form that this one cannot read
)

// Defaults returns the default configuration for pairs, without a task. Those for other tasks are the recipes own-labels, own-tags, own-text and
// own-translation, see [Recipe].
func Defaults() Run { return experiment.Defaults() }

// Recipe returns a configuration by its name, such as "algorithmic/copy"; see package experiment/recipes.
func Recipe(name string) (Run, error) {
	r, err := recipes.Named(name)
	if err != nil {
		return Run{}, err
	}
	return r.Run(), nil
}

// ParseRun reads a configuration from JSON; docs/data.md shows some. Fields that are missing are as in the recipe own-... of the task, and
// unknown ones are an error.
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
