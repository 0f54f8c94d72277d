// Package pipeline trains runs in run directories, resumes them, and loads trained models to decode, score, classify, tag, evaluate and
// trace with them. The command ut and the public package of this module are built on it:
//
//	m, err := pipeline.Load("runs/pairs", backend)
//	answers, err := m.Decode(ctx, []string{"two plus two"}, pipeline.DecodeOptions{})
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/strictjson"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// Callbacks report the progress of training; any of them may be nil.
type Callbacks struct {
	Progress func(training.Progress) // after every update
	Log      func(line string)       // receives messages of one line

	// Extensions are types of the run, or of the run that it starts from, that other modules define.
	Extensions experiment.Extensions

	// Group holds the ranks that train together; nil is this process alone. This process is rank 0; the others run [Assist].
	Group *parallel.Group

	// AcceptData lets [Resume] continue on other data than those of the checkpoint.
	AcceptData bool
}

func (c Callbacks) log(lines ...string) {
	if c.Log == nil {
		return
	}
	for _, line := range lines {
		c.Log(line)
	}
}

// Train trains a run in a new run directory. The error is [runlog.ErrExists], before any data are read, if there is a run in it, and also
// [runlog.ErrInUse] if another process trains that.
func Train(ctx context.Context, backend compute.Backend, r experiment.Run, dir string, c Callbacks) (training.Summary, error) {
	if err := cmp.Or(r.Validate(), checkStart(r), runlog.CheckVacant(dir)); err != nil {
		return training.Summary{}, err
	}
	t := openRun{backend: backend, run: r, reading: r, callbacks: c}
	if err := t.readData(ctx); err != nil { // before the directory exists, as the next two, so that an error leaves none behind
		return training.Summary{}, err
	}
	if err := t.initialize(); err != nil {
		return training.Summary{}, err
	}
	trainer, err := t.trainer()
	if err != nil {
		return training.Summary{}, err
	}
	if t.log, err = runlog.Create(dir, r); err != nil {
		return training.Summary{}, err
	}
	defer t.log.Close()
	summary, err := t.trainNew(ctx, trainer)
	if err != nil {
		err = errors.Join(err, t.discard(err))
	}
	return summary, err
}

// trainNew writes what a new run directory holds besides its configuration, and trains.
func (t *openRun) trainNew(ctx context.Context, trainer *training.Trainer) (training.Summary, error) {
	if err := writeDataRoot(t.log); err != nil {
		return training.Summary{}, err
	}
	if err := writeVocabularies(t.log, t.data.Vocabularies()); err != nil {
		return training.Summary{}, err
	}
	if err := t.saveInitial(); err != nil {
		return training.Summary{}, err
	}
	return t.train(ctx, trainer)
}

// discard removes the directory of a new run that has failed, if nothing was computed that is worth keeping: then the corrected command can
// use the same directory. A run that has diverged remains, as it can be continued from its beginning, unless no update was made.
func (t *openRun) discard(failure error) error {
	var diverged *training.DivergedError
	steps, err := t.log.Steps()
	rows, problem := t.log.Metrics()
	if errors.As(failure, &diverged) && diverged.Initial {
		return t.log.Discard()
	}
	if diverged != nil || cmp.Or(err, problem) != nil || len(steps)+len(rows) > 0 {
		return nil
	}
	return t.log.Discard()
}

// Resume continues the run in a directory from its newest intact checkpoint. Assignments ("training.steps=2000", see
// [experiment.Run.Set]) change the configuration from there on, and a stop reached earlier no longer applies. They may change the number
// of updates, the schedule, intervals, the number of checkpoints kept, the stopping criteria, and where the data are; any other assignment
// is an error.
// config.json is rewritten, and changes.json records what was changed at which step. If there were checkpoints, and none can be used, it
// returns a [LostError] and changes nothing. If the data have changed, it returns a [DataError], unless they are accepted.
func Resume(ctx context.Context, backend compute.Backend, dir string, c Callbacks, assignments ...string) (training.Summary, error) {
	log, err := runlog.Resume(dir)
	if err != nil {
		return training.Summary{}, err
	}
	defer log.Close()
	t := openRun{backend: backend, log: log, callbacks: c}
	if t.run, err = readRun(log, c.Extensions); err != nil {
		return training.Summary{}, err
	}
	changed, err := changedRun(log, t.run, assignments)
	if err = cmp.Or(err, checkStart(changed)); err != nil {
		return training.Summary{}, err
	}
	if t.reading, err = withFoundFiles(log, changed, c.Log); err != nil {
		return training.Summary{}, err
	}
	if t.known, err = knownVocabularies(log); err != nil {
		return training.Summary{}, err
	}
	if err := t.readData(ctx); err != nil {
		return training.Summary{}, err
	}
	if err := t.findCheckpoint(); err != nil {
		return training.Summary{}, err
	}
	if err := t.checkVocabulary(); err != nil {
		return training.Summary{}, err
	}
	before, step := t.run, t.step()
	if err := checkSteps(changed, step); err != nil {
		return training.Summary{}, err
	}
	t.run = changed
	trainer, err := t.trainer()
	if err != nil {
		return training.Summary{}, err
	}
	trainer.Begin = func() error { return t.change(before, step, assignments) }
	return t.train(ctx, trainer)
}

// An openRun is a run to be trained: its configuration, data, directory, and the checkpoint that training starts from.
type openRun struct {
	backend   compute.Backend
	run       experiment.Run
	reading   experiment.Run // the same, with the places where its data are
	callbacks Callbacks
	known     *task.Vocabularies // those of the run directory; nil: a new run
	data      task.Task
	log       *runlog.Run
	from      *runlog.Checkpoint // nil: a new run with random weights
	accepted  string             // how the data differ from those of the checkpoint; "" if they do not
}

// readData checks that the backend can train and the ranks can share the run's updates, reads its data and reports what they contain. It is an
// error if they have no validation examples of the lengths, or of the kinds, that are wanted.
func (t *openRun) readData(ctx context.Context) (err error) {
	if err := cmp.Or(engine.CheckTraining(t.backend), t.callbacks.checkRanks(t.run)); err != nil {
		return err
	}
	if t.data, err = open(ctx, t.reading, t.known, t.callbacks); err != nil || !t.run.Training.ChoosesValidation() {
		return err
	}
	_, err = t.validation(1)
	return err
}

// open reads the data of a run's task, with the vocabularies of the run unless they are nil, and reports what it contains.
func open(ctx context.Context, r experiment.Run, v *task.Vocabularies, c Callbacks) (task.Task, error) {
	opened, err := openTaskWith(ctx, r, v, c.Log)
	if err != nil {
		return nil, err
	}
	c.log(opened.Notes()...)
	return opened, r.CheckPositions(opened)
}

// ReadRun returns the configuration of a run directory.
func ReadRun(dir string) (experiment.Run, error) { return ReadRunWith(dir, experiment.Extensions{}) }

// ReadRunWith is like ReadRun, for runs with types that other modules define.
func ReadRunWith(dir string, x experiment.Extensions) (experiment.Run, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return experiment.Run{}, err
	}
	return readRun(log, x)
}

// readRun returns the configuration of a run directory.
func readRun(log *runlog.Run, x experiment.Extensions) (r experiment.Run, err error) {
	if err := readConfig(log, &r); err != nil {
		return r, err
	}
	if r, err = r.Extend(x); err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(log.Dir(), configFile), err)
	}
	if err := r.Validate(); err != nil {
		problem := fmt.Errorf("%s: %w", filepath.Join(log.Dir(), configFile), err)
		if missing := (*experiment.MissingTypeError)(nil); !errors.As(err, &missing) {
			problem = log.Unreadable(configFile, problem)
		}
		return r, problem
	}
	return r, nil
}

// readConfig decodes the configuration of a run directory. It does not validate it.
func readConfig(log *runlog.Run, r *experiment.Run) error {
	err := log.Config(r)
	switch key := (*strictjson.UnknownKeyError)(nil); {
	case err == nil || errors.Is(err, runlog.ErrNotJSON):
		return err
	case errors.As(err, &key) && key.Key == vocabularyKey && key.Path == "":
		return fmt.Errorf("%s is an export for other programs, not a run: use the run directory that it is of, or export that as a run", log.Dir())
	}
	if errors.Is(err, runlog.ErrDamaged) {
		return fmt.Errorf("%w: restore the file", err)
	}
	return err
}

// trainer returns the trainer of the run, with what only rank 0 needs, apart from the run directory and what to continue from.
func (t *openRun) trainer() (*training.Trainer, error) {
	trainer, err := newTrainer(t.backend, t.run, t.data)
	if err != nil {
		return nil, err
	}
	if err := checkOwnTypes(t.run, trainer.Model, t.data.Vocabularies().Positions()); err != nil {
		return nil, err
	}
	trainer.Notify, trainer.Group = t.callbacks.Log, t.callbacks.Group
	return trainer, t.addValidation(trainer)
}

// train trains an open run.
func (t *openRun) train(ctx context.Context, trainer *training.Trainer) (training.Summary, error) {
	trainer.From, trainer.Log = t.from, t.log
	t.from = nil // the trainer frees it
	if t.callbacks.Group != nil {
		if err := assign(t.callbacks.Group, t.backend, t.reading, t.known, t.data); err != nil {
			return training.Summary{}, err
		}
	}
	session := beginSession(t.log, t.backend, t.callbacks)
	session.own.ChangedData = t.accepted
	trainer.OnProgress, trainer.CPU = session.counted(t.callbacks.Progress), cpuTime(session.meter)
	summary, err := trainer.Run(ctx)
	if diverged := new(training.DivergedError); errors.As(err, &diverged) {
		session.own.Diverged = diverged.Step
	}
	return summary, cmp.Or(err, session.end())
}

// newTrainer returns a trainer with what every rank needs.
func newTrainer(backend compute.Backend, r experiment.Run, opened task.Task) (*training.Trainer, error) {
	v := opened.Vocabularies()
	stream, err := batch.NewStream(func(i int64) task.Example { return opened.Training(r.Seed, i) }, r.Plan(opened), r.Seed)
	if err != nil {
		return nil, fmt.Errorf("training.batch.%w", err)
	}
	config := r.TrainingConfig()
	config.Objective.Unknown, _ = v.Target.Unknown()
	return &training.Trainer{
		Config: config, Backend: backend, Model: r.Model.Value.Build(v, r.Seed), Positions: r.Model.Value.TrainingPositions(v),
		Stream: stream, Seals: seals(backend, r, opened),
	}, nil
}
