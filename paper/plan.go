package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
)

// Request says which cells are wanted.
type Request struct {
	Name    string   // an experiment, or a table: all its experiments
	Tasks   []string // "1", "joint"; none: all
	Seeds   []uint64
	Set     []string // changes of the runs, as experiment.Run.Set takes them
	Data    Data     // what is not given has the need's default
	Runs    string   // folder of run directories
	Results string   // folder of results
}

// A RequestError is a name or a task that does not exist.
type RequestError struct{ error }

func (e RequestError) Unwrap() error { return e.error }

// Cells lists the cells, every task once before any task a second time. Where a file is missing that a cell needs, the cell is left out and
// the error listed, once for all seeds; but if the tasks were chosen, or no cell would be left, it is the error.
func (r Request) Cells() (cells []Cell, leftOut []error, err error) {
	t, experiments, err := find(r.Name)
	if err != nil {
		return nil, nil, err
	}
	if err := r.checkTasks(experiments); err != nil {
		return nil, nil, err
	}
	data := Data{}
	for _, n := range t.Needs {
		data[n.Name] = n.Default
	}
	maps.Copy(data, r.Data)
	for _, seed := range r.Seeds {
		for _, e := range experiments {
			for _, task := range e.Tasks {
				if !r.wants(task) {
					continue
				}
				complete, err := run(e.Name, task, data)
				if err != nil {
					return nil, nil, err
				}
				c := Cell{Recipe: e.Name + "/" + task, Run: complete, Runs: r.Runs, Results: r.Results, Measure: t.Measure, New: t.New}
				c.Run.Seed = seed
				if p := e.Pretrained; p != nil {
					c.From = &Cell{Recipe: p.Experiment + "/" + p.Task, Run: experiment.Run{Seed: seed}, Runs: r.Runs, Results: r.Results}
					c.Run.Training.Pretrained = c.From.Dir()
				}
				if c.Run, err = c.Run.Set(r.Set...); err != nil {
					return nil, nil, err
				}
				cells = append(cells, c)
			}
		}
	}
	return r.present(cells)
}

// wants tells whether a task was chosen.
func (r Request) wants(task string) bool {
	return len(r.Tasks) == 0 || slices.ContainsFunc(r.Tasks, func(chosen string) bool { return label(chosen) == task })
}

// checkTasks is an error if a chosen task is not among those of any experiment.
func (r Request) checkTasks(experiments []Experiment) error {
	var known []string
	for _, e := range experiments {
		known = append(known, e.Tasks...)
	}
	for _, chosen := range r.Tasks {
		if !slices.Contains(known, label(chosen)) {
			slices.Sort(known)
			return RequestError{fmt.Errorf("%q is no task of %s, which has %s", chosen, r.Name, strings.Join(slices.Compact(known), ", "))}
		}
	}
	return nil
}

// present leaves out cells whose files are missing.
func (r Request) present(cells []Cell) (there []Cell, leftOut []error, err error) {
	var check recipes.DataCheck
	for _, c := range cells {
		problem := check.Missing(c.Run)
		switch {
		case problem == nil:
			there = append(there, c)
		case len(r.Tasks) > 0:
			return nil, nil, problem
		case c.Run.Seed == r.Seeds[0]:
			leftOut = append(leftOut, fmt.Errorf("%s: %w", c.Recipe, problem))
		}
	}
	if len(there) == 0 && len(leftOut) > 0 {
		return nil, nil, leftOut[0]
	}
	return there, leftOut, nil
}
