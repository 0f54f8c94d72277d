package sweep

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
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/provenance"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// A Cell is one training run of a grid, with the places of its files.
type Cell struct {
	Recipe  string         // name of the cell, together with the seed of Run
	Run     experiment.Run // the complete run
	Set     []string       // assignments by which Run differs from its recipe; nil: in the seed and the location of data only
	Runs    string         // folder of run directories
	Results string         // folder of results
	From    *Cell          // cell whose weights training starts from; nil: random weights

	// Extensions are types that other modules define of the run that Run.Training.Pretrained names. Those that Run and From have are known.
	Extensions experiment.Extensions

	// Protocol determines the examples if Measure is nil. The trained model is then measured by the measure of its task, and its result has [Metrics].
	Protocol Protocol
	// Measure measures the trained model in a way of the caller's own; it may be nil.
	Measure func(ctx context.Context, m *pipeline.Model, c Cell, log func(line string)) (Measured, error)
	// New returns an empty value of the type that Measure returns. Existing results are decoded into it. If New is nil and Measure is not, they are not
	// decoded.
	New func() Measured
}

// Name returns the cell's name in its grid: "babi-10k-single/task01-seed1".
func (c Cell) Name() string { return c.header().Name() }

// Dir returns the run directory.
func (c Cell) Dir() string { return filepath.Join(c.Runs, filepath.FromSlash(c.Name())) }

// File returns the path of the cell's result.
func (c Cell) File() string { return filepath.Join(c.Results, c.header().File()) }

// types returns the types of other modules in the run and in the one that training starts from.
func (c Cell) types() experiment.Extensions {
	x := c.Extensions
	if c.From != nil {
		x = x.With(c.From.Run.Extensions())
	}
	return x.With(c.Run.Extensions())
}

// header returns the part of the result that is known before training.
func (c Cell) header() Header { return Header{Recipe: c.Recipe, Seed: c.Run.Seed, Set: c.Set} }

// Done reads the result if it exists. If another version wrote its configuration with fields that this one does not know, and all other fields are those of
// the cell, the two cannot be compared, which is an error.
func (c Cell) Done() (r Result, m Measured, done bool, err error) {
	path := c.File()
	r, err = Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil, false, nil
	}
	if err == nil {
		err = c.comparable(r)
	}
	switch {
	case err != nil:
		return r, nil, false, err
	case c.New != nil:
		m = c.New()
	case c.Measure == nil:
		m = &Metrics{}
	default:
		return r, nil, true, nil
	}
	if err := r.Decode(m); err != nil {
		return r, nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return r, m, true, nil
}

// Draw writes a figure next to the cell's result.
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

// ErrInterrupted is the error of interrupted cells. Their state is saved; running them again continues.
var ErrInterrupted = errors.New("interrupted")

// do trains or resumes the cell's run, measures the checkpoint that validation selected, and saves the result. It trains nothing if the result could
// not be written.
func (c Cell) do(ctx context.Context, backend compute.Backend, threads int, callbacks pipeline.Callbacks) (r Result, m Measured, err error) {
	if err := atomicfile.CheckNew(c.File()); err != nil {
		return r, nil, err
	}
	var speed speed
	progress := callbacks.Progress
	callbacks.Progress = func(p training.Progress) {
		speed.add(p)
		progress(p)
	}
	trained, err := c.train(ctx, backend, callbacks)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // before the first update
		return r, nil, ErrInterrupted
	}
	if err != nil {
		return r, nil, err
	}
	if trained.Stopped == "interrupted" {
		return r, nil, ErrInterrupted
	}
	model, err := pipeline.LoadOptions{Extensions: c.Run.Extensions()}.Load(c.Dir(), backend)
	if err != nil {
		return r, nil, err
	}
	defer model.Close()
	m, measuredBy, err := c.measure(ctx, model, backend, callbacks.Log)
	if err != nil {
		return r, nil, err
	}
	r.Header = c.finished(model, trained)
	if curve := readCurve(c.Dir()); curve != nil && curve.validate(r.Header) == nil {
		r.Curve = curve.thin(r.BestStep)
	}
	r.MeasuredBy = measuredBy
	r.ExamplesPerSecond, r.PositionsPerSecond = speed.rates()
	r.Threads = threads
	sessions, err := pipeline.ReadSessions(c.Dir())
	if err != nil {
		return r, nil, err
	}
	r.TrainedBy = provenance.Merge(sessions)
	if r.Measured, err = json.Marshal(m); err != nil {
		return r, nil, err
	}
	if r.Config, err = json.Marshal(model.Run.WithoutDirectories()); err != nil {
		return r, nil, err
	}
	return r, m, r.Save(c.Results)
}

// measure measures a trained model and records the provenance of the measurement.
func (c Cell) measure(ctx context.Context, m *pipeline.Model, backend compute.Backend, log func(string)) (Measured, Provenance, error) {
	by, meter := pipeline.Provenance(backend), provenance.Start()
	defer meter.Stop()
	measure := c.Measure
	if measure == nil {
		measure = c.Protocol.measure
	}
	found, err := measure(ctx, m, c, log)
	if err != nil {
		if ctx.Err() != nil {
			err = ErrInterrupted
		}
		return nil, by, err
	}
	by.WallSeconds, by.CPUSeconds = meter.Seconds()
	return found, by, found.Validate()
}

// finished returns the header of the result without speed and provenance.
func (c Cell) finished(m *pipeline.Model, trained training.Summary) Header {
	h := c.header()
	h.Model, h.Data = m.Describe(), m.Run.Task.Value.String()
	h.Parameters, h.Step, h.BestStep, h.Stopped, h.Seconds = trained.Parameters, trained.Step, m.Step, trained.Stopped, trained.Seconds
	h.DataDigests = m.DataDigests()
	h.Validation, h.ChosenBy = trained.BestNats, chosenBy(m.Run.Training.BestByMeasure, m.Run.Training.BestByAccuracy)
	return h
}

// The ways to compare checkpoints.
const (
	ByEntropy  = "validation cross entropy"
	ByAccuracy = "validation accuracy, then cross entropy"
	ByMeasure  = "validation answers, decoded and measured as the task is, then cross entropy"
	byPonder   = "validation accuracy, then the lowest ponder time, then cross entropy" // in results of versions before 0.2
)

// train starts or resumes the run.
func (c Cell) train(ctx context.Context, backend compute.Backend, callbacks pipeline.Callbacks) (training.Summary, error) {
	there, err := pipeline.ReadRunWith(c.Dir(), c.Run.Extensions())
	if errors.Is(err, runlog.ErrNotRun) {
		callbacks.Extensions = c.types()
		if err := c.pretrained(); err != nil {
			return training.Summary{}, err
		}
		summary, err := pipeline.Train(ctx, backend, c.Run, c.Dir(), callbacks)
		if errors.Is(err, runlog.ErrExists) && !errors.Is(err, runlog.ErrInUse) { // it was not there a moment ago
			err = fmt.Errorf("%s: another process has begun this run meanwhile: run this cell again to continue it", c.Dir())
		}
		return summary, err
	}
	if err != nil {
		return training.Summary{}, err
	}
	if err := c.checkSame(there); err != nil {
		return training.Summary{}, err
	}
	callbacks.Log, callbacks.Extensions = withoutAdvice(callbacks.Log), c.Run.Extensions()
	return pipeline.Resume(ctx, backend, c.Dir(), callbacks)
}

// withoutAdvice replaces the advice on how to train a finished run further, which the cell of a grid has no use for.
func withoutAdvice(log func(string)) func(string) {
	return func(line string) {
		if strings.HasPrefix(line, "training has already finished") {
			line = "training has finished before: the checkpoint is only measured"
		}
		log(line)
	}
}

// pretrained returns an error if the run whose weights training starts from is not finished or no longer exists.
func (c Cell) pretrained() error {
	if c.From == nil {
		return nil
	}
	_, _, done, err := c.From.Done()
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("training starts from the weights of %s, which is not finished: run that cell first", c.From.Name())
	}
	if _, err = pipeline.ReadRunWith(c.From.Dir(), c.From.Run.Extensions()); errors.Is(err, runlog.ErrNotRun) {
		return fmt.Errorf("training starts from the weights of %s, whose result is in %s, but whose run is not in %s: choose the folder of runs that has it, or train it again with another folder of results",
			c.From.Name(), c.From.Results, c.From.Runs)
	}
	return err
}

// speed measures the speed of training without the first updates, which include compilation.
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
