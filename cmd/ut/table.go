package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/paper"
)

func newTable() *cobra.Command {
	c := &cobra.Command{
		Use:   "table",
		Short: "Train, measure and report the tables of the paper",
		Long: `table trains the cells of the paper's seven tables, each with several seeds, and writes pages that
compare the results with the paper's. A cell is one recipe, which ut train also trains.`,
		Example: `  ut table list 4
  ut table run 4 --rows algorithmic,algorithmic-lstm --columns copy --seeds 3 --jobs 2
  ut table report`,
	}
	parent(c, newTableList(), newTableRun(), newTablePaired(), newTableReport())
	return c
}

func newTableList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [TABLE]",
		Short: "List the tables, or the rows and columns of one",
		Long: `list prints the paper's tables, or the rows of one with their columns. The recipe of a cell is
ROW/COLUMN.

With --json: an array of objects with the fields table (its number), title and recipes (the recipes
of its cells).`,
		Example: `  ut table list
  ut table list 4`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			tables := paper.All()
			if len(args) == 1 {
				t, err := paper.Named(args[0])
				if err != nil {
					return tableError(err)
				}
				tables = []paper.Table{t}
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), listedTables(tables))
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, t := range tables {
				fmt.Fprintf(w, "%d\t%s (%s)\n", t.Number, t.Title, t.Section)
				if len(args) == 1 {
					for _, r := range t.Rows {
						fmt.Fprintf(w, "  %s\t%s: %s\n", r.Family, rowTitle(r), strings.Join(columnsOf(t, r), ", "))
					}
				}
			}
			return w.Flush()
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// rowTitle returns the title of a row with the block of the table it belongs to.
func rowTitle(r paper.Row) string {
	if r.Block == "" {
		return r.Title
	}
	return r.Title + " (" + r.Block + ")"
}

// columnsOf returns the names of a row's columns. More than ten are shortened to the first and the last.
func columnsOf(t paper.Table, r paper.Row) (names []string) {
	for _, c := range t.Columns {
		if r.Has(c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 10 {
		return []string{names[0] + " to " + names[len(names)-1]}
	}
	return names
}

// listedTable is a table in the JSON of ut table list.
type listedTable struct {
	Table   int      `json:"table"`
	Title   string   `json:"title"`
	Recipes []string `json:"recipes"`
}

func listedTables(tables []paper.Table) (list []listedTable) {
	for _, t := range tables {
		l := listedTable{Table: t.Number, Title: t.Title}
		cells, err := t.Cells(nil, nil)
		if err != nil {
			panic(err) // all cells: no name can be wrong
		}
		for _, c := range cells {
			l.Recipes = append(l.Recipes, c.Recipe())
		}
		list = append(list, l)
	}
	return list
}

// tableError turns the error of an unknown name into a usage error that says how to list the names.
func tableError(err error) error {
	if errors.Is(err, paper.ErrName) {
		return usageError{fmt.Errorf("%w (ut table list TABLE shows all)", err)}
	}
	return err
}

// moved lists the commands of earlier versions with their present forms.
var moved = []struct{ name, now string }{
	{"experiment", "ut table list, ut table run TABLE --rows FAMILY --columns TASK"},
	{"report", "ut table report"},
}

// newMoved returns hidden commands with the names of earlier versions. Their error says the new form.
func newMoved() (list []*cobra.Command) {
	for _, m := range moved {
		list = append(list, &cobra.Command{
			Use: m.name, Hidden: true, DisableFlagParsing: true, Short: "Renamed", Args: cobra.ArbitraryArgs,
			RunE: func(*cobra.Command, []string) error {
				return usagef("ut %s is now: %s", m.name, m.now)
			},
		})
	}
	return slices.Clip(list)
}
