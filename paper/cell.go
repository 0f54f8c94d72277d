package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// A Cell is one training run of a table, and where it goes.
type Cell struct {
	Table      *Table
	Experiment string
	Task       string // its label
	Run        experiment.Run
	Runs       string // folder of run directories
	Results    string // folder of results
	From       *Cell  // whose weights training starts from; nil: random weights
}

// Name is the cell's name among all: "babi-10k-single/task01-seed1".
func (c Cell) Name() string { return c.header().Name() }

// Dir is the run directory.
func (c Cell) Dir() string { return filepath.Join(c.Runs, filepath.FromSlash(c.Name())) }

// header is what is known of the result before anything is trained.
func (c Cell) header() Header {
	return Header{Experiment: c.Experiment, Task: c.Task, Seed: c.Run.Seed}
}

// Done gives the result if there is one already.
func (c Cell) Done() (r Result, done bool, err error) {
	r, err = Read(filepath.Join(c.Results, c.header().File()))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	return r, err == nil, err
}

// Changed tells whether a result is of another configuration than the cell's, wherever its data were. It is false where another
// version wrote the configuration in a form that this one does not read: the two cannot be compared.
func (c Cell) Changed(r Result) bool {
	run, ok := r.run()
	return ok && !same(c.Run, run)
}

func same(a, b experiment.Run) bool { return slices.Equal(a.Identity().JSON(), b.Identity().JSON()) }

// Draw writes a figure beside the cell's result.
func (c Cell) Draw(suffix string, draw func(io.Writer) error) error {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	path := filepath.Join(c.Results, c.header().Beside(suffix))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}

// ErrInterrupted is the error of cells that were interrupted: everything is saved, and doing them again goes on.
var ErrInterrupted = errors.New("interrupted")

// do trains the cell's run, or goes on with it, measures the checkpoint that validation chose, and saves the result.
func (c Cell) do(ctx context.Context, backend compute.Backend, threads int, callbacks pipeline.Callbacks) (r Result, err error) {
	var speed speed
	progress := callbacks.Progress
	callbacks.Progress = func(p training.Progress) {
		speed.add(p)
		progress(p)
	}
	trained, err := c.train(ctx, backend, callbacks)
	if err != nil {
		return r, err
	}
	if trained.Stopped == "interrupted" {
		return r, ErrInterrupted
	}
	m, err := pipeline.Load(c.Dir(), backend)
	if err != nil {
		return r, err
	}
	defer m.Close()
	if r.Measured, err = c.Table.Measure(ctx, m, c, callbacks.Log); err != nil {
		if ctx.Err() != nil {
			err = ErrInterrupted
		}
		return r, err
	}
	if err := r.Measured.Validate(); err != nil {
		return r, err
	}
	r.Header = c.finished(m, trained)
	r.ExamplesPerSecond, r.PositionsPerSecond = speed.rates()
	r.Threads = threads
	if r.Config, err = json.Marshal(m.Run.WithoutDirectories()); err != nil {
		return r, err
	}
	return r, r.Save(c.Results)
}

// finished is the header of the result, but for speed.
func (c Cell) finished(m *pipeline.Model, trained training.Summary) Header {
	h := c.header()
	h.Version, h.Model, h.Data = runlog.Version(), m.Describe(), m.Run.Task.Value.String()
	h.Parameters, h.Step, h.BestStep, h.Stopped, h.Seconds = trained.Parameters, trained.Step, m.Step, trained.Stopped, trained.Seconds
	h.Validation, h.ChosenBy = trained.BestNats, byEntropy
	switch {
	case m.Run.Training.BestByAccuracy:
		h.ChosenBy = byAccuracy
	case m.Run.Training.BestByMeasure:
		h.ChosenBy = byMeasure
	}
	return h
}

// How checkpoints are compared.
const (
	byEntropy  = "validation cross entropy"
	byAccuracy = "validation accuracy, then cross entropy"
	byMeasure  = "validation answers, decoded and measured as the task is, then cross entropy"
	byPonder   = "validation accuracy, then the lowest ponder time, then cross entropy" // in results of versions before 0.2
)

// train starts the run, or goes on where its directory stands.
func (c Cell) train(ctx context.Context, backend compute.Backend, callbacks pipeline.Callbacks) (training.Summary, error) {
	there, err := pipeline.ReadRun(c.Dir())
	if errors.Is(err, runlog.ErrNotRun) {
		if err := c.pretrained(); err != nil {
			return training.Summary{}, err
		}
		return pipeline.Train(ctx, backend, c.Run, c.Dir(), callbacks)
	}
	if err != nil {
		return training.Summary{}, err
	}
	if !same(c.Run, there) {
		return training.Summary{}, fmt.Errorf("%s holds a run of another configuration: remove it, or choose another folder of runs", c.Dir())
	}
	return pipeline.Resume(ctx, backend, c.Dir(), callbacks)
}

// pretrained is an error if the run whose weights training starts from is not finished, or not there any more.
func (c Cell) pretrained() error {
	if c.From == nil {
		return nil
	}
	_, done, err := c.From.Done()
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("training starts from the weights of %s, which is not finished: first ut experiment run %s --tasks %s --seeds %d-%d",
			c.From.Name(), c.From.Experiment, c.From.Task, c.From.Run.Seed, c.From.Run.Seed)
	}
	if _, err = pipeline.ReadRun(c.From.Dir()); errors.Is(err, runlog.ErrNotRun) {
		return fmt.Errorf("training starts from the weights of %s, whose result is in %s, but not its run in %s: choose the folder of runs that has it, or train it again with another folder of results",
			c.From.Name(), c.From.Results, c.From.Runs)
	}
	return err
}

// speed measures training, without the first updates, which compile.
type speed struct {
	updates                      int
	examples, positions, seconds float64
}

const compiling = 50 // updates

func (s *speed) add(p training.Progress) {
	if s.updates++; s.updates > compiling && p.TokensPerSecond > 0 {
		s.examples += p.Tally.Sequences
		s.positions += p.Tally.EncoderPositions + p.Tally.DecoderPositions
		s.seconds += p.Tally.Tokens / p.TokensPerSecond
	}
}

func (s *speed) rates() (examples, positions float64) {
	if s.seconds == 0 {
		return 0, 0
	}
	return s.examples / s.seconds, s.positions / s.seconds
}
