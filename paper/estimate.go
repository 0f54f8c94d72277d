package paper

import (
	"time"

	"universal-transformer/training"
)

// Progress is how far a Runner has come.
type Progress struct {
	Done, Cells int           // cells: with a result, and all
	Updates     int64         // made by this call of Run
	Rate        float64       // updates a second, of all jobs together
	Left        time.Duration // at this rate if no run stops early; 0: not known
}

// estimate counts updates and says how long the rest takes.
type estimate struct {
	start       time.Time
	done, cells int
	updates     int64
	runs        map[string]*pace
}

// pace is that of one run.
type pace struct {
	left  int64 // updates
	made  int64 // by this process
	start time.Time
}

func newEstimate(now time.Time, cells int) estimate {
	return estimate{start: now, cells: cells, runs: map[string]*pace{}}
}

// add is told of a run that has to be made.
func (e *estimate) add(name string, updates int64) { e.runs[name] = &pace{left: updates} }

// update is told of an update of a run.
func (e *estimate) update(name string, p training.Progress, now time.Time) {
	run := e.runs[name]
	if run.made == 0 {
		run.start = now
	}
	run.left, run.made = p.Steps-p.Step, run.made+1
	e.updates++
}

// finish is told of a run that is done, by whomever.
func (e *estimate) finish(name string) {
	delete(e.runs, name)
	e.done++
}

// progress extrapolates: all updates that are left at the rate of all jobs, but at least what the slowest run alone takes.
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
	p.Left = time.Duration(max(all, slowest) * float64(time.Second))
	return p
}
