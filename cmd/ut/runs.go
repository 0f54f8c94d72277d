package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
)

func newRuns() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the runs in a folder: status, best update and metrics, parameters, time",
		Long: `runs lists the run directories in a folder (default runs) and in the folders below it. The metrics
are those of the validation at the best update; ut info RUN tells more. A folder that may not be
read is reported, and the exit code is 1.

With --json: an array of objects with the fields of ut info --json:` + infoFields,
		Example: `  ut runs
  ut runs runs/sweep
  ut runs --json`,
		Args: atMostOne,
		RunE: prompt(func(c *cobra.Command, args []string) error {
			dir := append(args, "runs")[0]
			list, err := readRuns(c, dir)
			var unreadable pipeline.UnreadableError
			switch {
			case errors.As(err, &unreadable) && len(list)+len(unreadable) > 1:
				for _, problem := range unreadable {
					c.PrintErrln("ut:", oneLine(problem))
				}
				err = fmt.Errorf("%s cannot be read, and could hold runs", quantity.Of(len(unreadable), "folder", "folders"))
			case err != nil:
				return err
			}
			switch {
			case asJSON:
				return cmp.Or(writeJSON(c.OutOrStdout(), list), err)
			case len(list) > 0:
				return cmp.Or(printRuns(c.OutOrStdout(), list), err)
			case err == nil:
				c.PrintErrf("%s has no runs\n", dir)
			}
			return err
		}),
	}
	jsonFlag(c, &asJSON)
	return c
}

// readRuns describes the runs in a folder.
func readRuns(c *cobra.Command, dir string) ([]pipeline.Info, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: name the folder of the runs", dir)
	}
	found, err := pipeline.FindRuns(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: name the folder of the runs", dir)
	}
	list := []pipeline.Info{}
	for _, run := range found {
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		i, err := pipeline.ReadInfo(run)
		if err != nil { // removed meanwhile
			continue
		}
		list = append(list, i)
	}
	return list, err
}

// printRuns prints one row per run, and the problems of damaged runs.
func printRuns(w io.Writer, list []pipeline.Info) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "run\tstatus\tupdate\tbest\tcross entropy\ttoken accuracy\tsequence accuracy\tsteps per position\tparameters\ttime\ttask")
	for _, i := range list {
		best, parameters, time := "-", "-", "-"
		if i.Best != nil {
			best = fmt.Sprint(i.Best.Step)
		}
		if i.Parameters > 0 {
			parameters = thousands(i.Parameters)
		}
		if i.Seconds > 0 {
			time = minutes(i.Seconds)
		}
		fmt.Fprintf(table, "%s\t%s\t%d of %d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i.Run, i.Status, i.Step, i.Steps, best,
			figure(i.Best, "cross_entropy"), figure(i.Best, "token_accuracy"), figure(i.Best, "sequence_accuracy"), ponder(i.Best), parameters, time, i.Task)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, i := range list {
		if i.Problem != "" {
			if _, err := fmt.Fprintf(w, "%s: %s\n", i.Run, i.Problem); err != nil {
				return err
			}
		}
	}
	return nil
}

// figure formats a metric of a validation; "-" if there is none.
func figure(v *pipeline.Validation, name string) string {
	n, ok := v.Figure(name)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.4f", n)
}

// ponder formats the ponder times of encoder and decoder; "-" if depth is not adaptive.
func ponder(v *pipeline.Validation) (text string) {
	for _, stack := range []string{"encoder_ponder", "decoder_ponder"} {
		if n, _ := v.Figure(stack); n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%.2f", n)
		}
	}
	if text == "" {
		return "-"
	}
	return text
}
