package ut

import (
	"context"
	"math"

	"github.com/gomlx/compute"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// TrainOptions determines how training runs and what it reports. The zero value trains silently on the default backend.
type TrainOptions struct {
	Backend    string            // one of [Backends], with its options; "": the default
	Progress   func(Progress)    // called after every update; may be nil
	Log        func(line string) // called with a line for people; may be nil
	Extensions Extensions        // for [Resume] and for Run.Training.Pretrained; a Run that is passed to [Train] holds its own
	AcceptData bool              // [Resume] continues although the data have changed; the vocabulary stays that of the run
}

// Progress is the state of training after an update.
type Progress struct {
	Step, Steps     int64
	Loss            float64 // of this update: cross entropy in nats per token, and the ponder cost
	LearningRate    float64
	TokensPerSecond float64 // target tokens, since the last call
}

// Summary is the outcome of training.
type Summary struct {
	Step         int64
	Stopped      string  // "done", "accuracy", "perfect" or "patience", as Run.Training.Stop says, or "interrupted"
	Seconds      float64 // training time of the run so far, including earlier processes
	BestStep     int64   // of the checkpoint with the best validation, which [Load] reads; 0: there was no validation yet, as after an early interruption
	CrossEntropy float64 // of that checkpoint on the validation examples, in nats per token; NaN if there was no validation yet
	Parameters   int
}

// Train trains a run in a new directory. If ctx ends, training stops after the current update and saves a checkpoint, which is no error:
// Summary.Stopped is "interrupted". A validation stops between batches or decoded tokens, and [Resume] makes it. If ctx ends before, while
// the data are read, there is nothing to save: the error is that of ctx, and there is no run. The error is [ErrExists] if the directory
// holds a run, and a *[DivergedError] if the loss is not finite.
func Train(ctx context.Context, r Run, dir string, o TrainOptions) (Summary, error) {
	return withBackend(o.Backend, func(backend compute.Backend) (Summary, error) {
		return summary(pipeline.Train(ctx, backend, r, dir, o.callbacks()))
	})
}

// Resume continues the run in a directory from its newest intact checkpoint. On a CPU, without assignments, and with the same build,
// backend and number of threads, the result is bit-identical to that of a run that was not interrupted. Assignments such as
// "training.steps=2000" change the configuration from there on; they may concern the number of updates, the schedule, intervals, when to
// stop, and where the data are. If ctx ends while the data are read, the error is that of ctx, and the run is as before. The error is
// [ErrNotRun], [ErrInUse], a *[LostError] if no checkpoint can be used, a *[DataError] if the data have changed, or as of [Train].
func Resume(ctx context.Context, dir string, o TrainOptions, set ...string) (Summary, error) {
	return withBackend(o.Backend, func(backend compute.Backend) (Summary, error) {
		return summary(pipeline.Resume(ctx, backend, dir, o.callbacks(), set...))
	})
}

func (o TrainOptions) callbacks() pipeline.Callbacks {
	c := pipeline.Callbacks{Log: o.Log, Extensions: o.Extensions, AcceptData: o.AcceptData}
	if o.Progress != nil {
		c.Progress = func(p training.Progress) {
			o.Progress(Progress{p.Step, p.Steps, p.Tally.MeanLoss(), p.Rate, p.TokensPerSecond})
		}
	}
	return c
}

func summary(s training.Summary, err error) (Summary, error) {
	if s.BestStep == 0 {
		s.BestNats = math.NaN()
	}
	return Summary{s.Step, s.Stopped, s.Seconds, s.BestStep, s.BestNats, s.Parameters}, err
}
