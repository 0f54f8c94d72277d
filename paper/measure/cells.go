package measure

import (
	"errors"
	"reflect"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// A Request selects cells of a table.
type Request struct {
	Table   paper.Table
	Rows    []string // families; nil: all
	Columns []string // names; nil: all
	Seeds   []uint64
	Set     []string          // assignments for all runs, see experiment.Run.Set
	Data    map[string]string // paths of data by the names of needs; missing ones have their defaults
	Runs    string            // folder of run directories
	Results string            // folder of results
}

// Cells lists the cells: all with the first seed, then all with the second, and so on. A cell that lacks a data file is skipped, and its error
// is listed once for all seeds. If columns were selected, or if no cell remains, Cells returns that error.
func (r Request) Cells() (cells []sweep.Cell, leftOut []*MissingDataError, err error) {
	if sweep.SetsSeed(r.Set) {
		return nil, nil, errors.New("set has the field seed: give seeds in seeds")
	}
	list, err := r.Table.Cells(r.Rows, r.Columns)
	if err != nil {
		return nil, nil, err
	}
	var check recipes.DataCheck
	for i, seed := range r.Seeds {
		for _, c := range list {
			cell, err := r.cell(c, seed, &check)
			if err != nil {
				return nil, nil, err
			}
			missing := check.Missing(cell.Run)
			switch {
			case missing == nil:
				cells = append(cells, cell)
			case len(r.Columns) > 0:
				return nil, nil, &MissingDataError{c.Recipe(), missing}
			case i == 0:
				leftOut = append(leftOut, &MissingDataError{c.Recipe(), missing})
			}
		}
	}
	if len(cells) == 0 && len(leftOut) > 0 {
		return nil, nil, leftOut[0]
	}
	return cells, leftOut, nil
}

// MissingDataError says that a recipe needs data that are not there.
type MissingDataError struct {
	Recipe string
	Err    error
}

func (e *MissingDataError) Error() string { return e.Recipe + ": " + e.Err.Error() }

func (e *MissingDataError) Unwrap() error { return e.Err }

// cell returns a cell with a seed.
func (r Request) cell(c paper.Cell, seed uint64, check *recipes.DataCheck) (cell sweep.Cell, err error) {
	recipe, err := recipes.Named(c.Recipe())
	if err != nil {
		return cell, err
	}
	cell = sweep.Cell{
		Recipe: recipe.Name, Runs: r.Runs, Results: r.Results, Measure: For(r.Table), New: func() sweep.Measured { return New(r.Table) },
	}
	if cell.Run, err = check.WithData(recipe, r.Data); err != nil {
		return cell, err
	}
	cell.Run.Seed = seed
	if recipe.From != "" {
		cell.From = &sweep.Cell{Recipe: recipe.From, Run: experiment.Run{Seed: seed}, Runs: r.Runs, Results: r.Results, New: cell.New}
		cell.Run.Training.Pretrained = cell.From.Dir()
	}
	if cell.Set, err = changes(cell.Run, r.Set); err != nil {
		return cell, err
	}
	cell.Run, err = cell.Run.Set(r.Set...)
	return cell, err
}

// changes returns the assignments that give a field of a run another value.
func changes(r experiment.Run, assignments []string) (list []string, err error) {
	before, err := r.FieldsWith()
	if err != nil {
		return nil, err
	}
	for _, a := range assignments {
		after, err := r.FieldsWith(a)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(after, before) {
			list = append(list, a)
		}
	}
	return list, nil
}
