package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/quantity"
	"universal-transformer/sweep"
)

// jobBackend returns the backend of each of several jobs: with one thread, unless the name says otherwise or the backend has no
// such option. threads is the number of threads it uses.
func jobBackend(name string, jobs int) (job string, threads int) {
	kind, options, _ := strings.Cut(name, ":")
	if kind == "" {
		kind = engine.Default
	}
	if jobs > 1 && kind == engine.Default && !strings.Contains(options, "threads=") {
		options = strings.TrimPrefix(options+",threads=1", ",")
		name = kind + ":" + options
	}
	for option := range strings.SplitSeq(options, ",") {
		if n, err := strconv.Atoi(strings.TrimPrefix(option, "threads=")); err == nil && strings.HasPrefix(option, "threads=") {
			return name, n
		}
	}
	return name, runtime.GOMAXPROCS(0)
}

// remark prints what can hardly be meant in the configurations of cells without a result, once for all seeds.
func remark(c *cobra.Command, cells []sweep.Cell) {
	said := map[string]bool{}
	for _, cell := range cells {
		if _, _, done, err := cell.Done(); done || err != nil {
			continue
		}
		for _, line := range cell.Run.Remarks() {
			if text := cell.Recipe + ": " + line; !said[text] {
				said[text] = true
				c.PrintErrln("ut: note:", text)
			}
		}
	}
}

// trainCells trains and measures cells, several jobs at a time. out receives a line per result; again tells how an interrupted command
// continues.
func trainCells(c *cobra.Command, out io.Writer, group *parallel.Group, backend string, jobs int, cells []sweep.Cell, again string) error {
	backend, threads := jobBackend(backend, jobs)
	watch := newCellWatch(out, c.ErrOrStderr(), len(cells))
	watch.command = onBackend(backend)
	stop := context.AfterFunc(c.Context(), func() {
		if group.Size() == 1 {
			c.PrintErrln("\ninterrupted: finishing these updates; interrupt again to stop immediately, without saving")
		}
	})
	runner := sweep.Runner{
		Jobs: jobs, Threads: threads, Now: time.Now, Group: group,
		Backend: func() (compute.Backend, error) { return trainingBackend(backend) },
		Log:     watch.log, Progress: watch.progress, Finished: watch.finished,
	}
	err := watch.command.advise(runner.Run(c.Context(), cells))
	stop()
	watch.done()
	if errors.Is(err, sweep.ErrInterrupted) {
		return fmt.Errorf("%w: all runs are saved; %s", errInterrupted, again)
	}
	return errors.Join(watch.err, watch.failures(err))
}

// failures counts failed runs and names the first, given their errors. The error of a single run remains as it is.
func (w *cellWatch) failures(err error) error {
	if w.failed > 0 && w.cells > 1 {
		return fmt.Errorf("%d of %d runs failed; the first: %s", w.failed, w.cells, oneLine(err))
	}
	return err
}

// cellWatch shows the progress of a grid of runs: one result per run on out; log lines and one line of overall progress on errs.
type cellWatch struct {
	out, errs io.Writer
	cells     int  // number of cells of the grid
	terminal  bool // errs is a terminal; its last line is the progress line
	line      *progress.Progress
	updated   time.Time // when line was last updated
	failed    int       // failed runs
	command   trainCommand
	err       error // errors of writing to out
}

func newCellWatch(out, errs io.Writer, cells int) *cellWatch {
	file, ok := errs.(*os.File)
	return &cellWatch{out: out, errs: errs, cells: cells, terminal: ok && term.IsTerminal(int(file.Fd())), line: progress.New(errs, 0, "update")}
}

// logEvery is the interval of progress lines in a log file, as runs of a table take hours.
const logEvery = time.Minute

func (w *cellWatch) progress(p sweep.Progress) {
	if now := time.Now(); !w.terminal && now.Sub(w.updated) < logEvery {
		return
	} else {
		w.updated = now
	}
	fields := []progress.Field{progress.Field(fmt.Sprintf("%d/%d runs", p.Done, p.Cells))}
	if p.Rate > 0 {
		fields = append(fields, progress.Rate(p.Rate, "updates/s"))
	}
	if p.Left > 0 {
		fields = append(fields, progress.Field("at most "+short(p.Left)+" left"))
	}
	w.line.Update(p.Updates, fields...)
}

// short formats a duration in minutes, or in seconds below an hour.
func short(d time.Duration) string {
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}

// clear removes the progress line.
func (w *cellWatch) clear() {
	if w.terminal {
		fmt.Fprint(w.errs, "\r\x1b[K")
	}
}

func (w *cellWatch) log(line string) {
	w.clear()
	fmt.Fprintln(w.errs, line)
}

// doneDifferently says that a cell is not run, because its result has another configuration.
const doneDifferently = "done before, with another configuration: remove its result to do it again"

func (w *cellWatch) finished(o sweep.Outcome) {
	name := o.Cell.Name()
	if errors.Is(o.Err, sweep.ErrInterrupted) {
		w.log(name + ": interrupted, saved")
		return
	}
	if o.Err != nil {
		w.failed++
		if w.cells > 1 { // the error of a single cell is the command's own error
			w.log("ut: " + name + ": " + oneLine(w.command.advise(o.Err)))
		}
		return
	}
	how := fmt.Sprintf("%s in %s", quantity.Regular(int(o.Result.Step), "updates"), minutes(o.Result.Seconds))
	if o.Before {
		how = "done before"
		if o.Cell.Changed(o.Result) {
			how = doneDifferently
		}
	}
	w.clear()
	_, err := fmt.Fprintf(w.out, "%s: %s (%s)\n", name, o.Measured.Summary(), how)
	w.err = errors.Join(w.err, err)
}

func (w *cellWatch) done() { w.line.Done() }
