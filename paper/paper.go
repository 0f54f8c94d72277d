// Package paper describes the tables of the paper as data: rows and columns that name recipes, the paper's figures, and notes for comparing
// them with ours. It trains and measures nothing.
//
// To add a row, add it to the table's file, and its recipes to package recipes. Package measure measures the cells, package report writes
// the pages.
package paper

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/strictjson"
)

// A Table is one table of the paper. Its cells are training runs: a row and a column together name a recipe.
type Table struct {
	Number  int
	Title   string
	Section string   // section of the paper: "section 3.4"
	Preface string   // remarks for comparing our figures with the paper's
	Depths  string   // how the depths of its models differ, if the titles of rows do not say it; "": they do
	Source  string   // who published the figures beside ours, if these are of the same data: "published"; "": the paper
	Seen    []string // knowledge of the test data while the configurations were developed; several entries are a list
	Chosen  []string // blocks whose models have peak rates that searches over [PeakRates] chose on validation data
	Logged  []Logged // larger tests of its runs
	Rows    []Row
	Columns []Column
	Sets    []Set // generated test sets on which the models of the table are measured; the shown ones come first
}

// Logged is a test of runs of a table whose figures are in docs/log.md alone: no result file was kept.
type Logged struct {
	Text  string // "copy 9,989 of 10,000"
	Entry string // heading of the entry
}

// A Row is one family of recipes: one kind of model, trained on the tasks of some columns.
type Row struct {
	Family    string // the part of the recipes' names before the slash: "algorithmic-lstm"
	Title     string
	Block     string              // heading of a group of rows
	Own       bool                // whether this is the Universal Transformer that the other rows of the block are compared with
	Adaptive  bool                // whether the model has dynamic halting
	Columns   []string            // names of its columns; nil: all
	Published map[string][]string // the paper's figures by column, as printed
	Note      string              // differences in positions or training
	Detail    bool                // not of the paper's layout: shown on the page of the table, not in RESULTS.md
	EqualTime bool                // whether it has more updates than its model's other row, for about the training time of the block's own row
	RatesOf   string              // the row whose searches chose the peak rate; "": this one
	Unequal   []Unequal           // exceptions to the rule of fair comparisons
}

// A Column is one task.
type Column struct {
	Name      string // the part of the recipes' names after the slash: "copy"
	Title     string
	Short     string   // the title in lists of columns; "" is Title
	Note      string   // remarks on its figures
	Figures   []Figure // figures that the table shows; empty if every column has one figure
	Baselines []Baseline
	Earlier   []Printed // rows of the paper that have no recipe: results of others, and differences
	Compared  string    // metric by which models are compared; of perplexities, the logarithm
	On        []string  // titles of the figures whose sets models are compared on; nil: the last
	Detail    bool      // not of the paper's layout: shown on the page of the table, not in RESULTS.md
}

// Brief returns the title in lists of columns.
func (c Column) Brief() string { return cmp.Or(c.Short, c.Title) }

// ComparedFigures returns the figures whose sets models are compared on.
func (c Column) ComparedFigures() (list []Figure) {
	for i, f := range c.Figures {
		if slices.Contains(c.On, f.Title) || c.On == nil && i == len(c.Figures)-1 {
			list = append(list, f)
		}
	}
	return list
}

// Printed is a row of the paper's table, as printed.
type Printed struct {
	Title   string
	Figures []string
}

// A Figure is a number of a table: a metric of a test set, with further metrics in parentheses.
type Figure struct {
	Title   string
	Set     string   // "test"
	Metrics []string // "3 attractors", "3 balanced"
	Key     string   // in names of baselines: "3"
}

// A Baseline is a row without a model, whose figures are computed from the data. Metric is the name of its metric; a figure's Key replaces %s.
type Baseline struct{ Title, Metric string }

// Name returns the name of the baseline's metric for a figure.
func (b Baseline) Name(f Figure) string { return strings.ReplaceAll(b.Metric, "%s", f.Key) }

// A Set is a generated test set: examples of one length, or of all lengths up to a maximum.
type Set struct {
	Name   string
	Length int    // of the examples
	Mix    int    // maximum length of a mixture; 0: Length, or the task's own mixture
	Count  int    // number of examples
	Forced bool   // measured with teacher forcing as well as decoded
	Shown  bool   // whether the table shows it
	Block  string // the only block of rows that shows it; "": all
	Only   bool   // whether only the models of Block are measured on it
	Plot   int    // length in the chart of accuracy by length; 0: not in the chart
}

// A Cell is one run of a table, for every seed.
type Cell struct {
	Row    Row
	Column Column
}

// Recipe returns the name of the cell's recipe.
func (c Cell) Recipe() string { return c.Row.Family + "/" + c.Column.Name }

// All returns the seven tables.
func All() []Table {
	return []Table{Table1(), Table2(), Table3(), Table4(), Table5(), Table6(), Table7()}
}

// ErrName reports that no table, row or column has a name.
var ErrName = errors.New("not known")

// Named returns the table with a number: "4" or "table4".
func Named(name string) (Table, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "table"))
	if all := All(); err == nil && n >= 1 && n <= len(all) {
		return all[n-1], nil
	}
	for _, t := range All() {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Family == name }) {
			return Table{}, fmt.Errorf("table %q is %w: %s is a row of table %d", name, ErrName, name, t.Number)
		}
	}
	return Table{}, fmt.Errorf("table %q is %w: the paper has tables 1 to %d", name, ErrName, len(All()))
}

// Name returns "table4".
func (t Table) Name() string { return fmt.Sprintf("table%d", t.Number) }

// Has reports whether a row has a cell in a column.
func (r Row) Has(column string) bool { return r.Columns == nil || slices.Contains(r.Columns, column) }

// Row returns the row with a family.
func (t Table) Row(family string) (Row, bool) {
	at := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Family == family })
	if at < 0 {
		return Row{}, false
	}
	return t.Rows[at], true
}

// Column returns the column with a name.
func (t Table) Column(name string) (Column, bool) {
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if at < 0 {
		return Column{}, false
	}
	return t.Columns[at], true
}

// ShownSets returns the generated test sets that the table shows for a block of rows. The first is the same for all blocks.
func (t Table) ShownSets(block string) (sets []Set) {
	for _, s := range t.Sets {
		if s.Shown && (s.Block == "" || s.Block == block) {
			sets = append(sets, s)
		}
	}
	return sets
}

// MeasuredSets returns the generated test sets on which the models of a block of rows are measured.
func (t Table) MeasuredSets(block string) (sets []Set) {
	for _, s := range t.Sets {
		if !s.Only || s.Block == block {
			sets = append(sets, s)
		}
	}
	return sets
}

// Cells lists the cells of some rows and columns, row by row; no names mean all. It returns an error for unknown names, and for a row and a
// column that are both named but have no common cell.
func (t Table) Cells(rows, columns []string) (cells []Cell, err error) {
	var families, names []string
	for _, r := range t.Rows {
		families = append(families, r.Family)
	}
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	for _, row := range rows {
		if err := known(t, "row", row, families); err != nil {
			return nil, err
		}
	}
	columns = slices.Clone(columns)
	for i, column := range columns {
		columns[i] = label(column)
		if err := known(t, "column", columns[i], names); err != nil {
			return nil, err
		}
	}
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			if r.Has(c.Name) && (len(rows) == 0 || slices.Contains(rows, r.Family)) && (len(columns) == 0 || slices.Contains(columns, c.Name)) {
				cells = append(cells, Cell{r, c})
			}
		}
	}
	if len(cells) == 0 {
		row, _ := t.Row(rows[0])
		return nil, fmt.Errorf("column %s is %w in row %s, which has %s", strings.Join(columns, ", "), ErrName, row.Family, strings.Join(row.Columns, ", "))
	}
	return cells, nil
}

// known returns an error if a name is not among the valid ones. The error suggests the nearest.
func known(t Table, what, name string, valid []string) error {
	if slices.Contains(valid, name) {
		return nil
	}
	if near, ok := strictjson.Nearest(name, valid); ok {
		return fmt.Errorf("%s %q of table %d is %w: did you mean %q?", what, name, t.Number, ErrName, near)
	}
	return fmt.Errorf("%s %q of table %d is %w: it has %s", what, name, t.Number, ErrName, strictjson.List(valid))
}

// label returns the name of a column. The tasks of bAbI may be given by their numbers.
func label(name string) string {
	if n, err := strconv.Atoi(name); err == nil {
		return fmt.Sprintf("task%02d", n)
	}
	return name
}
