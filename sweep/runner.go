package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/internal/parallel"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// A Runner runs cells, several at a time. It skips cells with a result and resumes interrupted ones. Log, Progress and Finished may be nil;
// no two of them run at the same time.
type Runner struct {
	Jobs     int                             // cells at a time; 0 counts as 1
	Threads  int                             // threads of one backend, as recorded in results
	Backend  func() (compute.Backend, error) // opens a backend for each job; required
	Group    *parallel.Group                 // ranks that train every cell together, with a single job; see [pipeline.Callbacks]
	Now      func() time.Time                // the clock; nil means time.Now
	Log      func(line string)
	Progress func(Progress)
	Finished func(Outcome)
}

// Outcome is the outcome of one cell.
type Outcome struct {
	Cell     Cell
	Result   Result
	Measured Measured // decoded; nil after an error, and for an existing result if the cell has no New
	Before   bool     // the result existed before
	Err      error    // ErrInterrupted if the cell was interrupted; the result is then empty
}

// Run runs the cells. The failure of a cell does not stop the others; its error is among those returned. If a backend cannot be opened, no
// cell starts. When ctx ends, the running cells are saved, and Run returns ErrInterrupted if a cell is left to run.
func (r Runner) Run(ctx context.Context, cells []Cell) error {
	if r.Now == nil {
		r.Now = time.Now
	}
	w := &work{Runner: r, estimate: newEstimate(r.Now(), len(cells))}
	pending := w.pending(cells)
	backends, err := r.backends(min(max(r.Jobs, 1), len(pending)))
	for _, backend := range backends {
		defer backend.Finalize()
	}
	if err != nil {
		return errors.Join(append(w.errs, err)...)
	}
	queue := make(chan Cell)
	var jobs sync.WaitGroup
	for _, backend := range backends {
		jobs.Go(func() { w.job(ctx, backend, queue) })
	}
	for _, c := range pending {
		select {
		case queue <- c:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	jobs.Wait()
	if ctx.Err() != nil && w.ended < len(pending) {
		w.errs = append([]error{ErrInterrupted}, w.errs...)
	}
	return errors.Join(w.errs...)
}

// work is the state of one call of Run.
type work struct {
	Runner
	mu       sync.Mutex
	estimate estimate
	ended    int // cells that ran to their end or failed
	errs     []error
}

// pending returns the cells to run. It reports those that have a result or whose files cannot be used.
func (w *work) pending(cells []Cell) (left []Cell) {
	for _, c := range cells {
		result, measured, done, err := c.Done()
		if err == nil && !done {
			_, err = c.started()
		}
		if err == nil && !done {
			left = append(left, c)
			w.estimate.add(c.Name(), c.Run.Training.Steps)
			continue
		}
		w.finished(Outcome{Cell: c, Result: result, Measured: measured, Before: done, Err: err})
	}
	return left
}

// backends opens a backend for each of n jobs. After an error, it also returns the open backends, which the caller must finalize.
func (r Runner) backends(n int) (list []compute.Backend, err error) {
	for range n {
		backend, err := r.Backend()
		if err != nil {
			return list, err
		}
		list = append(list, backend)
	}
	return list, nil
}

// job runs cells of the queue, one after another, with its own backend.
func (w *work) job(ctx context.Context, backend compute.Backend, queue <-chan Cell) {
	for c := range queue {
		w.log(c, "starting in "+c.Dir())
		o := Outcome{Cell: c}
		o.Result, o.Measured, o.Err = w.do(ctx, backend, c)
		w.finished(o)
		w.end(o)
	}
}

// do runs one cell. A panic becomes an error of the cell, so that the other cells are saved.
func (w *work) do(ctx context.Context, backend compute.Backend, c Cell) (r Result, m Measured, err error) {
	defer func() {
		if w.Group != nil && w.Group.Size() > 1 {
			return // other ranks wait for this one; the panic ends them too
		}
		if problem := recover(); problem != nil {
			err = fmt.Errorf("internal error: %v", problem)
		}
	}()
	return c.do(ctx, backend, w.Threads, pipeline.Callbacks{
		Group: w.Group,
		Log:   func(line string) { w.log(c, line) },
		Progress: func(p training.Progress) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.estimate.update(c.Name(), p, w.Now())
			w.report()
		},
	})
}

// end counts the cell unless it was interrupted.
func (w *work) end(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(o.Err, ErrInterrupted) {
		w.ended++
	}
}

func (w *work) log(c Cell, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Log != nil {
		w.Log(c.Name() + ": " + line)
	}
}

func (w *work) finished(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.Err == nil:
		w.estimate.finish(o.Cell.Name())
	case !errors.Is(o.Err, ErrInterrupted):
		w.errs = append(w.errs, fmt.Errorf("%s: %w", o.Cell.Name(), o.Err))
		w.estimate.drop(o.Cell.Name())
	}
	if w.Finished != nil {
		w.Finished(o)
	}
	w.report()
}

// report reports an outcome. The caller holds the lock.
func (w *work) report() {
	if w.Progress != nil {
		w.Progress(w.estimate.progress(w.Now()))
	}
}

// Progress is the progress of a Runner.
type Progress struct {
	Done, Cells int           // number of cells with a result, and of all cells
	Updates     int64         // updates by this call of Run
	Rate        float64       // updates per second of all jobs together
	Left        time.Duration // remaining time at this rate if no run stops early, at most 292 years; 0: unknown
}

// estimate counts updates and estimates the remaining time.
type estimate struct {
	start       time.Time
	done, cells int
	updates     int64
	runs        map[string]*pace
}

// pace is the progress of one run.
type pace struct {
	left  int64 // remaining updates
	made  int64 // updates by this process
	start time.Time
}

func newEstimate(now time.Time, cells int) estimate {
	return estimate{start: now, cells: cells, runs: map[string]*pace{}}
}

// add adds a run to do.
func (e *estimate) add(name string, updates int64) { e.runs[name] = &pace{left: updates} }

// update counts an update of a run.
func (e *estimate) update(name string, p training.Progress, now time.Time) {
	run := e.runs[name]
	if run.made == 0 {
		run.start = now
	}
	run.left, run.made = p.Steps-p.Step, run.made+1
	e.updates++
}

// finish removes a finished run.
func (e *estimate) finish(name string) {
	e.drop(name)
	e.done++
}

// drop removes a run that makes no further updates.
func (e *estimate) drop(name string) { delete(e.runs, name) }

// progress estimates the remaining time: all remaining updates at the rate of all jobs, but at least the time of the slowest run.
func (e *estimate) progress(now time.Time) Progress {
	p := Progress{Done: e.done, Cells: e.cells, Updates: e.updates}
	elapsed := now.Sub(e.start)
	if e.updates == 0 || elapsed <= 0 {
		return p
	}
	p.Rate = float64(e.updates) / elapsed.Seconds()
	all, slowest := 0.0, 0.0
	for _, run := range e.runs {
		all += float64(run.left) / p.Rate
		if run.made > 1 {
			slowest = max(slowest, float64(run.left)*now.Sub(run.start).Seconds()/float64(run.made-1))
		}
	}
	p.Left = math.MaxInt64
	if nanoseconds := max(all, slowest) * float64(time.Second); nanoseconds < math.MaxInt64 {
		p.Left = time.Duration(nanoseconds)
	}
	return p
}
