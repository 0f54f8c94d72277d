// Package pipeline trains experiments in run directories, resumes them, and loads trained models to decode, score, classify, evaluate and
// trace with them. The command ut is built on it, and Go programs that embed a model can use it too:
//
//	m, err := pipeline.Load("runs/pairs", backend)
//	answers, err := m.Decode(ctx, []string{"two plus two"}, pipeline.DecodeOptions{})
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/score"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// Callbacks report the progress of training; any of them may be nil.
type Callbacks struct {
	Progress func(training.Progress) // after every update
	Log      func(line string)       // one line for the person who trains

	// Group is the ranks that train together; nil is this process alone. This process is rank 0; the others run [Assist].
	Group *parallel.Group
}

func (c Callbacks) log(lines ...string) {
	if c.Log == nil {
		return
	}
	for _, line := range lines {
		c.Log(line)
	}
}

// Train trains a run in a new run directory.
func Train(ctx context.Context, backend compute.Backend, r experiment.Run, dir string, c Callbacks) (training.Summary, error) {
	if err := r.Validate(); err != nil {
		return training.Summary{}, err
	}
	if err := c.checkRanks(r); err != nil {
		return training.Summary{}, err
	}
	opened, err := open(ctx, r, c)
	if err != nil {
		return training.Summary{}, err
	}
	first, err := start(backend, r, opened.Vocabularies(), c)
	if err != nil {
		return training.Summary{}, err
	}
	log, err := runlog.Create(dir, r)
	if err != nil {
		return training.Summary{}, err
	}
	defer log.Close()
	if err := writeVocabularies(log, opened.Vocabularies()); err != nil {
		return training.Summary{}, err
	}
	if err := saveStart(log, r, first); err != nil {
		return training.Summary{}, err
	}
	return run(ctx, backend, r, log, opened, c)
}

// Resume continues the run in a directory from its newest intact checkpoint. Assignments ("training.steps=2000", see
// [experiment.Run.Set]) change the configuration from there on, and a stop reached earlier no longer applies. They may change the number
// of updates, the schedule, intervals, the number of checkpoints kept and the stopping criteria; any other assignment is an error.
// config.json is rewritten, and changes.json records what was changed at which step.
func Resume(ctx context.Context, backend compute.Backend, dir string, c Callbacks, sets ...string) (training.Summary, error) {
	log, err := runlog.Resume(dir)
	if err != nil {
		return training.Summary{}, err
	}
	defer log.Close()
	r, err := readRun(log)
	if err != nil {
		return training.Summary{}, err
	}
	if _, err := extended(r, sets); err != nil {
		return training.Summary{}, err
	}
	if err := c.checkRanks(r); err != nil {
		return training.Summary{}, err
	}
	opened, err := open(ctx, r, c)
	if err != nil {
		return training.Summary{}, err
	}
	step, err := continues(backend, r, log, opened, c)
	if err != nil {
		return training.Summary{}, err
	}
	if err := sameVocabulary(log, opened); err != nil {
		return training.Summary{}, err
	}
	if r, err = extend(log, r, step, sets, c); err != nil {
		return training.Summary{}, err
	}
	return run(ctx, backend, r, log, opened, c)
}

// open reads the data of a run's task and reports what it contains.
func open(ctx context.Context, r experiment.Run, c Callbacks) (task.Task, error) {
	opened, err := openTask(ctx, r)
	if err != nil {
		return nil, err
	}
	c.log(opened.Notes()...)
	return opened, r.CheckPositions(opened)
}

// continues returns the step that training continues from, after it has saved the pretrained weights of a run without a checkpoint, or an
// error if the newest intact checkpoint is of another model, configuration or vocabulary.
func continues(backend compute.Backend, r experiment.Run, log *runlog.Run, opened task.Task, callbacks Callbacks) (step int64, err error) {
	c, _, err := log.Latest()
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		if err := training.Fresh(log, err); err != nil {
			return 0, err
		}
		first, err := start(backend, r, opened.Vocabularies(), callbacks)
		if err != nil {
			return 0, err
		}
		return 0, saveStart(log, r, first)
	}
	if err != nil {
		return 0, err
	}
	if c.Step > 0 { // else nothing is trained yet, and there are no parameters
		if err := fits(backend, r, opened.Vocabularies(), c); err != nil {
			return 0, fmt.Errorf("%s: %w", log.Dir(), err)
		}
		if note := unsealed(c); note != "" {
			callbacks.log(note)
		}
	}
	if err := knownChange(log, r, c); err != nil {
		return 0, fmt.Errorf("%s: %w", log.Dir(), err)
	}
	return c.Step, nil
}

// ReadRun returns the experiment of a run directory.
func ReadRun(dir string) (experiment.Run, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return experiment.Run{}, err
	}
	return readRun(log)
}

// readRun returns the experiment of a run directory.
func readRun(log *runlog.Run) (r experiment.Run, err error) {
	r = experiment.Base()
	if err := log.Config(&r); err != nil {
		return r, fmt.Errorf("%w (a run of another version of this program is read by that version)", err)
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(log.Dir(), "config.json"), err)
	}
	return r, nil
}

// sameVocabulary returns an error if the task's files have changed since the run began. A run that was killed before it wrote its
// vocabulary writes it now.
func sameVocabulary(log *runlog.Run, opened task.Task) error {
	known, err := readVocabularies(log)
	if errors.Is(err, os.ErrNotExist) {
		return writeVocabularies(log, opened.Vocabularies())
	}
	if err != nil {
		return err
	}
	if !known.Equal(opened.Vocabularies()) {
		return fmt.Errorf("%s: %w, or vocabulary.json has been changed: restore the files, or start a new run", log.Dir(), errVocabulary)
	}
	return nil
}

var errVocabulary = errors.New("the task's data give another vocabulary than the one this run was trained with")

// run trains in an open run directory.
func run(ctx context.Context, backend compute.Backend, r experiment.Run, log *runlog.Run, opened task.Task, c Callbacks) (training.Summary, error) {
	trainer, err := newTrainer(backend, r, opened)
	if err != nil {
		return training.Summary{}, err
	}
	validation, err := opened.HeldOut(r.Seed, task.Selection{Validation: true, Count: r.Training.Validation})
	if err != nil {
		return training.Summary{}, err
	}
	if len(validation) == 0 {
		return training.Summary{}, fmt.Errorf("%s: there is nothing to validate with: add data", r.Task.Value)
	}
	trainer.Validation, trainer.Log, trainer.OnProgress, trainer.Notify = batch.Chunk(validation, r.Plan(opened)), log, c.Progress, c.Log
	if n := r.Training.Decoded; n > 0 {
		examples, err := opened.HeldOut(r.Seed, task.Selection{Validation: true, Count: n})
		if err != nil {
			return training.Summary{}, err
		}
		trainer.Decoded = func(store *model.Store) ([]score.Metric, error) {
			e := evaluator(backend, store, trainer.Model, r.Task.Value, opened.Vocabularies())
			found, err := e.Measure(context.WithoutCancel(ctx), r.Task.Value.Measure(opened.Vocabularies()), examples)
			return found.Metrics, err
		}
	}
	if trainer.Group = c.Group; c.Group != nil {
		if err := assign(c.Group, backend, r, opened); err != nil {
			return training.Summary{}, err
		}
	}
	session := beginSession(log, backend, c)
	trainer.OnProgress = session.counted(c.Progress)
	summary, err := trainer.Run(ctx)
	return summary, cmp.Or(err, session.end())
}

// newTrainer makes a trainer with everything that every rank needs.
func newTrainer(backend compute.Backend, r experiment.Run, opened task.Task) (*training.Trainer, error) {
	v := opened.Vocabularies()
	stream, err := batch.NewStream(func(i int64) task.Example { return opened.Training(r.Seed, i) }, r.Plan(opened), r.Seed)
	if err != nil {
		return nil, err
	}
	config := r.TrainingConfig()
	config.Objective.Unknown, _ = v.Target.Unknown()
	return &training.Trainer{
		Config: config, Backend: backend, Model: r.Model.Value.Build(v, r.Seed), Positions: r.Model.Value.TrainingPositions(v),
		Stream: stream, Seals: seals(backend, r, v),
	}, nil
}
