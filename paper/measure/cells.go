package measure

import (
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// A Request says which cells of a table are wanted.
type Request struct {
	Table   paper.Table
	Rows    []string // families; none: all
	Columns []string // none: all
	Seeds   []uint64
	Set     []string          // changes of the runs, as experiment.Run.Set takes them
	Data    map[string]string // paths of data by the names of needs; the others have their defaults
	Runs    string            // folder of run directories
	Results string            // folder of results
}

// Cells lists the cells, each with the first seed before any with the second. A cell that lacks a data file is left out and its error listed,
// once for all seeds; if columns were chosen, or if no cell would be left, it is the error.
func (r Request) Cells() (cells []sweep.Cell, leftOut []error, err error) {
	list, err := r.Table.Cells(r.Rows, r.Columns)
	if err != nil {
		return nil, nil, err
	}
	var check recipes.DataCheck
	for i, seed := range r.Seeds {
		for _, c := range list {
			cell, err := r.cell(c, seed)
			if err != nil {
				return nil, nil, err
			}
			missing := check.Missing(cell.Run)
			switch {
			case missing == nil:
				cells = append(cells, cell)
			case len(r.Columns) > 0:
				return nil, nil, fmt.Errorf("%s: %w", c.Recipe(), missing)
			case i == 0:
				leftOut = append(leftOut, fmt.Errorf("%s: %w", c.Recipe(), missing))
			}
		}
	}
	if len(cells) == 0 && len(leftOut) > 0 {
		return nil, nil, leftOut[0]
	}
	return cells, leftOut, nil
}

// cell is the run of a cell with a seed.
func (r Request) cell(c paper.Cell, seed uint64) (cell sweep.Cell, err error) {
	recipe, err := recipes.Named(c.Recipe())
	if err != nil {
		return cell, err
	}
	cell = sweep.Cell{
		Recipe: recipe.Name, Runs: r.Runs, Results: r.Results, Measure: For(r.Table), New: func() sweep.Measured { return New(r.Table) },
	}
	if cell.Run, err = recipe.WithData(r.Data); err != nil {
		return cell, err
	}
	cell.Run.Seed = seed
	if recipe.From != "" {
		cell.From = &sweep.Cell{Recipe: recipe.From, Run: experiment.Run{Seed: seed}, Runs: r.Runs, Results: r.Results}
		cell.Run.Training.Pretrained = cell.From.Dir()
	}
	cell.Run, err = cell.Run.Set(r.Set...)
	return cell, err
}
