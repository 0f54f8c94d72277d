package main

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"universal-transformer/internal/curves"
	"universal-transformer/runlog"
)

// runRow is a row of ut metrics --json.
type runRow struct {
	Run string `json:"run"`
	curves.Row
}

func newMetrics() *cobra.Command {
	asJSON, split := false, ""
	c := &cobra.Command{
		Use:   "metrics RUN...",
		Short: "Print the figures that training recorded, as CSV",
		Long: `metrics prints a line for each row of metrics.jsonl: run, step, split ("training" or "validation"),
seconds of training, and a column for each figure (docs/metrics.md). Speed and seconds are from the
event files; cells are empty where a row has no such figure. A folder stands for the runs in it.
What is not a run is reported and skipped. Of damaged metrics, the rows before the damage are
printed, and the file is named on the standard error; it is an error if no row can be read.

With --json: an array of objects with the fields run, step, split, seconds (null if it is not known)
and values, an object of figures by name.`,
		Example: `  ut metrics runs/pairs > pairs.csv
  ut metrics runs --split validation
  ut metrics runs/pairs --json`,
		Args: atLeast("RUN"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			if split != "" && split != "training" && split != "validation" {
				return usagef("--split is %q: it must be training or validation", split)
			}
			rows, err := readMetrics(c, args, split)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), rows)
			}
			return writeMetrics(c.OutOrStdout(), rows)
		}),
	}
	c.Flags().StringVar(&split, "split", "", "only the rows of `training` or validation")
	jsonFlag(c, &asJSON)
	return c
}

// readMetrics returns the rows of runs, of one split if it is named.
func readMetrics(c *cobra.Command, args []string, split string) ([]runRow, error) {
	dirs, err := expandRuns(c, args, func(dir string) error {
		_, err := runlog.Open(dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	all, read := []runRow{}, 0
	var problems []error
	for _, dir := range dirs {
		rows, err := curves.Read(dir)
		if err != nil {
			problems = append(problems, err)
		}
		read += len(rows)
		for _, r := range rows {
			if split == "" || r.Split == split {
				all = append(all, runRow{dir, r})
			}
		}
	}
	if read == 0 && len(problems) > 0 {
		return nil, problems[0]
	}
	for _, err := range problems {
		c.PrintErrf("ut: %s: figures are missing\n", oneLine(err))
	}
	return all, nil
}

// writeMetrics writes rows as CSV.
func writeMetrics(w io.Writer, rows []runRow) error {
	list := make([]curves.Row, len(rows))
	for i, r := range rows {
		list[i] = r.Row
	}
	names := curves.Names(list)
	out := csv.NewWriter(w)
	if err := out.Write(slices.Concat([]string{"run", "step", "split", "seconds"}, names)); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, r := range rows {
		cells := []string{r.Run, strconv.FormatInt(r.Step, 10), r.Split, ""}
		if r.Seconds != nil {
			cells[3] = number(*r.Seconds)
		}
		for _, name := range names {
			cell := ""
			if v, ok := r.Values[name]; ok {
				cell = number(v)
			}
			cells = append(cells, cell)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
