// Package curves reads the figures of training over updates and over time, from the metrics and the events of run directories, also while they
// are written.
package curves

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
)

// A Row is a row of metrics.jsonl with the time at which it was written.
type Row struct {
	Step    int64              `json:"step"`
	Split   string             `json:"split"`   // "training" or "validation"
	Seconds *float64           `json:"seconds"` // of training so far; nil if no event tells
	Values  map[string]float64 `json:"values"`  // of the row, and those of its event that depend on the machine: "tokens_per_second"
}

// Read returns all rows of a run. With an error, it returns those that can be read: the rows before a damaged line ([runlog.ErrDamaged]), and rows
// without times where events cannot be read.
func Read(dir string) ([]Row, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	found, damage := log.Metrics()
	f := Follower{log: log}
	rows, err := f.join(found)
	return rows, cmp.Or(damage, err)
}

// A Follower reads the rows of a run while they are written.
type Follower struct {
	log     *runlog.Run
	offset  int64        // in metrics.jsonl
	last    int64        // step of the last row
	held    []runlog.Row // the newest row, if its event has not been written yet
	offsets map[string]int64
	speeds  map[key]map[string]float64
}

// key identifies a row.
type key struct {
	step  int64
	split string
}

// Follow returns a follower of the run in a directory.
func Follow(dir string) (*Follower, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Follower{log: log}, nil
}

// Next returns the rows that were written since the last call. The newest one may wait for the next call, which returns it with the time of its
// event. Again reports that the run was reset to an earlier step in between, so that the rows are all that it has. With an error, Next returns the
// rows that can be read, as [Read] does.
func (f *Follower) Next() (rows []Row, again bool, err error) {
	found, next, problem := f.log.NewMetrics(f.offset)
	reset := len(found) > 0 && found[0].Step() < f.last
	if (errors.Is(problem, runlog.ErrDamaged) || errors.Is(problem, fs.ErrNotExist) || reset) && f.offset > 0 {
		found, next, problem = f.log.NewMetrics(0)
		if again = reset || next != f.offset; again {
			*f = Follower{log: f.log}
		} else { // the damage is behind the rows that were returned
			found = nil
		}
	}
	if problem != nil && !errors.Is(problem, runlog.ErrDamaged) {
		return nil, again, problem
	}
	f.offset = next
	if len(found) > 0 {
		f.last = found[len(found)-1].Step()
	}
	waited := len(found) == 0
	found, f.held = append(f.held, found...), nil
	rows, err = f.join(found)
	if n := len(rows) - 1; n >= 0 && rows[n].Seconds == nil && !waited {
		rows, f.held = rows[:n], found[n:]
	}
	return rows, again, cmp.Or(problem, err)
}

// InUse reports whether a process is writing the run.
func (f *Follower) InUse() bool { return f.log.InUse() }

// join adds the times of events to rows. Training writes a row before its event, so that the newest row may have no time yet. With an error, rows
// whose events cannot be read have none.
func (f *Follower) join(found []runlog.Row) ([]Row, error) {
	if f.offsets == nil {
		f.offsets, f.speeds = map[string]int64{}, map[key]map[string]float64{}
	}
	events, err := f.log.NewEvents(f.offsets)
	for _, e := range events {
		if at, speeds := speedsOf(e); len(speeds) > 0 {
			f.speeds[at] = speeds
		}
	}
	rows := make([]Row, len(found))
	for i, from := range found {
		split, _ := from["split"].(string)
		rows[i] = Row{Step: from.Step(), Split: split, Values: map[string]float64{}}
		for name := range from {
			if v, ok := from.Number(name); ok && name != "step" {
				rows[i].Values[name] = v
			}
		}
		at := key{rows[i].Step, split}
		for name, v := range f.speeds[at] {
			if name == strings.TrimPrefix(runlog.SecondsTag, runlog.SpeedGroup) {
				rows[i].Seconds = &v
			} else {
				rows[i].Values[name] = v
			}
		}
		delete(f.speeds, at)
	}
	return rows, err
}

// speedsOf returns the figures of an event that metrics.jsonl does not have, and the row that they belong to.
func speedsOf(e tensorboard.Event) (at key, speeds map[string]float64) {
	at.step, speeds = e.Step, map[string]float64{}
	for _, s := range e.Scalars {
		group, name, _ := strings.Cut(s.Tag, "/")
		if v := float64(s.Value); math.IsNaN(v) || math.IsInf(v, 0) { // as tokens per second of updates without a time, which JSON cannot represent
			continue
		}
		if group+"/" == runlog.SpeedGroup {
			speeds[name] = float64(s.Value)
		} else {
			at.split = group
		}
	}
	return at, speeds
}

// important are the names of figures that come first.
var important = []string{
	"loss", "cross_entropy", "token_accuracy", "sequence_accuracy", "encoder_ponder", "decoder_ponder", "learning_rate", "gradient_norm", "tokens_per_second",
	"updates_per_second", "compile_share",
}

// Names returns the names of the figures of rows, the important ones first: losses, accuracies, the task's measure, the others.
func Names(rows ...[]Row) (names []string) {
	for _, list := range rows {
		for _, r := range list {
			for name := range r.Values {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	rank := func(name string) int {
		if strings.HasPrefix(name, "decoded_") {
			return slices.Index(important, "encoder_ponder")*2 - 1
		}
		if at := slices.Index(important, name); at >= 0 {
			return 2 * at
		}
		return 2 * len(important)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	return names
}

// Thin returns at most n rows of each split, evenly chosen, with the last one. The others are left out.
func Thin(rows []Row, n int) (kept []Row) {
	total, seen := map[string]int{}, map[string]int{}
	for _, r := range rows {
		total[r.Split]++
	}
	for _, r := range rows {
		of := total[r.Split]
		seen[r.Split]++
		if at := seen[r.Split]; of <= n || at*n/of > (at-1)*n/of {
			kept = append(kept, r)
		}
	}
	return kept
}
