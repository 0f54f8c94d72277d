package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gomlx/compute"
	"universal-transformer/batch"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/table"
	"universal-transformer/training"
	"universal-transformer/vocab"
)

// Vocabularies is the run directory's vocabulary.json: what ids mean.
type Vocabularies struct {
	Tokens vocab.Tokenizer   `json:"tokens"` // what a token of a line of text is
	Source *vocab.Vocabulary `json:"source"`
	Target *vocab.Vocabulary `json:"target"`
}

const vocabularyFile = "vocabulary.json"

// Watcher is told how training goes; any of its fields may be nil.
type Watcher struct {
	Progress func(training.Progress) // after every update
	Say      func(line string)       // what a person should know
	Report   func(*table.Report)     // what a table holds, before training starts
}

// Train runs the experiment in a new run directory.
func (r Run) Train(ctx context.Context, backend compute.Backend, dir string, w Watcher) (training.Report, error) {
	if err := r.Validate(); err != nil {
		return training.Report{}, err
	}
	opened, report, err := r.Task.Open()
	if err != nil {
		return training.Report{}, err
	}
	if report != nil && w.Report != nil {
		w.Report(report)
	}
	if r, err = r.shaped(opened); err != nil {
		return training.Report{}, err
	}
	log, err := runlog.Create(dir, r)
	if err != nil {
		return training.Report{}, err
	}
	defer log.Close()
	words := Vocabularies{opened.Tokens(), opened.SourceVocabulary(), opened.TargetVocabulary()}
	if err := log.WriteJSON(vocabularyFile, words); err != nil {
		return training.Report{}, err
	}
	return r.run(ctx, backend, log, opened, w)
}

// Resume goes on with the run in a directory, from its newest intact checkpoint.
func Resume(ctx context.Context, backend compute.Backend, dir string, w Watcher) (training.Report, error) {
	log, err := runlog.Resume(dir)
	if err != nil {
		return training.Report{}, err
	}
	defer log.Close()
	r, err := read(log)
	if err != nil {
		return training.Report{}, err
	}
	opened, report, err := r.Task.Open()
	if err != nil {
		return training.Report{}, err
	}
	if report != nil && w.Report != nil {
		w.Report(report)
	}
	if err := sameVocabulary(log, opened); err != nil {
		return training.Report{}, err
	}
	if err := r.continues(backend, log, opened); err != nil {
		return training.Report{}, fmt.Errorf("%s: %w", dir, err)
	}
	return r.run(ctx, backend, log, opened, w)
}

// shaped takes over from the task what the model's shape depends on: how many words a position of the source has.
func (r Run) shaped(opened task.Task) (Run, error) {
	words := 0
	if several, ok := opened.(interface{ TokensPerPosition() int }); ok {
		words = several.TokensPerPosition()
	}
	if r.Model.TokensPerPosition != 0 && r.Model.TokensPerPosition != words {
		return r, fmt.Errorf("model.words is %d, but positions of the task have %d words: leave it 0", r.Model.TokensPerPosition, words)
	}
	r.Model.TokensPerPosition = words
	return r, nil
}

// continues is an error if the newest intact checkpoint is of another model than the configuration's.
func (r Run) continues(backend compute.Backend, log *runlog.Run, opened task.Task) error {
	c, _, err := log.Latest()
	if errors.Is(err, runlog.ErrNoCheckpoint) || err == nil && c.Step == 0 { // nothing is trained yet
		return nil
	}
	if err != nil {
		return err
	}
	model, err := r.Model.with(opened.SourceVocabulary().Size(), opened.TargetVocabulary().Size(), r.Seed)
	if err != nil {
		return err
	}
	return r.fits(backend, model, c)
}

// read gives the experiment that a run directory is of.
func read(log *runlog.Run) (Run, error) {
	r := Base()
	if err := log.Config(&r); err != nil {
		return Run{}, err
	}
	if err := r.Validate(); err != nil {
		return Run{}, fmt.Errorf("%s: %w", log.Dir(), err)
	}
	return r, nil
}

// sameVocabulary is an error if the task's files have changed since the run began. A run that was killed before it wrote its
// vocabulary writes it now.
func sameVocabulary(log *runlog.Run, opened task.Task) error {
	var words Vocabularies
	err := log.ReadJSON(vocabularyFile, &words)
	if errors.Is(err, os.ErrNotExist) {
		return log.WriteJSON(vocabularyFile, Vocabularies{opened.Tokens(), opened.SourceVocabulary(), opened.TargetVocabulary()})
	}
	if err != nil {
		return err
	}
	if !words.Source.Equal(opened.SourceVocabulary()) || !words.Target.Equal(opened.TargetVocabulary()) {
		return fmt.Errorf("%s: the task's data give another vocabulary than the one this run was trained with: restore the files, or start a new run", log.Dir())
	}
	return nil
}

// run trains in an open run directory.
func (r Run) run(ctx context.Context, backend compute.Backend, log *runlog.Run, opened task.Task, w Watcher) (training.Report, error) {
	model, err := r.Model.with(opened.SourceVocabulary().Size(), opened.TargetVocabulary().Size(), r.Seed)
	if err != nil {
		return training.Report{}, err
	}
	config, err := r.Training.config(r.Seed, r.Model.Width)
	if err != nil {
		return training.Report{}, err
	}
	plan := r.plan(opened)
	stream, err := batch.NewStream(func(i int64) task.Example { return opened.Training(r.Seed, i) }, plan, r.Seed)
	if err != nil {
		return training.Report{}, err
	}
	heldOut, err := opened.HeldOut(r.Seed, task.Selection{Validation: true, Count: r.Training.HeldOut})
	if err != nil {
		return training.Report{}, err
	}
	if len(heldOut) == 0 {
		return training.Report{}, fmt.Errorf("%s: no line falls to the choice of a checkpoint: add lines", r.Task.name())
	}
	trainer := training.Trainer{
		Config: config, Backend: backend, Model: model, Positions: r.Model.Positions,
		Stream: stream, HeldOut: batch.Chunk(heldOut, plan), Log: log, OnProgress: w.Progress, Notify: w.Say, Fingerprint: r.fingerprint(),
	}
	return trainer.Run(ctx)
}

// plan is how the run's batches are cut.
func (r Run) plan(opened task.Task) batch.Plan {
	source, target := opened.MaxLengths()
	b := r.Training.Batch
	return batch.Plan{Tokens: b.Tokens, Rows: b.Rows, Boundaries: b.Boundaries, MaxSource: source, MaxTarget: target, TokensPerPosition: r.Model.TokensPerPosition}
}
