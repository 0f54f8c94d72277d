package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/textfile"
	"universal-transformer/sweep"
)

// sweepFlags holds the flags of ut sweep.
type sweepFlags struct {
	out, backend string
	chosen       bool // --out is set
	jobs         int
	list, asJSON bool
}

// sweepHelp describes ut sweep and its file.
const sweepHelp = `sweep trains a grid of runs on your data: every variant with every combination of the grid's
values and every seed. Each finished run writes one result file. At the end sweep prints mean ±
standard deviation over the seeds, the best seed by validation and the training time, and writes a
page with learning curves.

FILE.json is an object with the fields
  name      of the sweep
  base      name of a recipe (ut list), or a configuration as ut show prints it, in which missing
            fields are as in the recipe own-... of its task
  set       assignments for all runs, as in --set of ut train
  variants  named lists of assignments; [] changes nothing
  grid      fields of the configuration, each with a list of values
  seeds     a number of seeds, or a list of them; 1 if missing
  measure   which examples are measured: validation, length, mix, from, hard, count, file,
            teacher_forced; the test examples if missing

A complete example, with nine runs:
  {
    "name": "depth",
    "base": "own-pairs",
    "set": ["task.path=pairs.tsv", "training.steps=2000", "model.halting.fixed.steps=4"],
    "variants": {
      "four-steps": [],
      "two-steps": ["model.halting.fixed.steps=2"],
      "wide": ["model.width=96"]
    },
    "seeds": 3
  }

Finished runs are skipped and interrupted ones are resumed: Ctrl-C saves all active runs, and the
same command continues. Before training, results and started runs that are damaged, or that have
another configuration, measure or other data than those of the file, are refused, and all of them
are named. With several jobs each uses one thread, unless --backend says otherwise.

Files in the folder of the sweep (--out):
  index.html               a page with the table and the learning curves
  results/CELL-seedN.json  a result, with its configuration and provenance
  CELL-seedN/              a run directory, as ut train writes it

With --json: an object with the fields "name", "page" and "cells". Each cell has cell, model,
parameters, seeds, missing, metrics, validation, seconds (each with name, mean, deviation and n),
trained_by (builds and backends), best_seed, best_metrics, best and p. The metrics of models with
adaptive halting include encoder steps and decoder steps, the mean steps per position. p is that of
Welch's t-test of the validation cross entropy against the best cell's, over seeds, corrected for
all pairs of cells (Holm).`

func newSweep() *cobra.Command {
	f := sweepFlags{}
	c := &cobra.Command{
		Use:   "sweep FILE.json",
		Short: "Train a grid of runs: variants, values and seeds",
		Long:  sweepHelp,
		Example: `  ut sweep depth.json
  ut sweep depth.json --list
  ut sweep depth.json --jobs 2 --json`,
		Args: arguments("FILE.json"),
		RunE: onRanks(&f.backend, f.run),
	}
	c.Flags().StringVar(&f.out, "out", "", "`folder` of the sweep (default runs/NAME)")
	c.Flags().IntVar(&f.jobs, "jobs", 1, "`number` of runs in parallel; if more than 1, each uses one thread")
	c.Flags().BoolVar(&f.list, "list", false, "list the runs and their state, check their data, and train nothing")
	jsonFlag(c, &f.asJSON)
	backendFlag(c, &f.backend)
	return c
}

func (f *sweepFlags) run(c *cobra.Command, args []string, group *parallel.Group) error {
	if f.jobs < 1 {
		return usagef("--jobs is %d: it must be at least 1", f.jobs)
	}
	if n := group.Size(); f.jobs > 1 && n > 1 {
		return usagef("--jobs is %d: %d ranks share one run at a time", f.jobs, n)
	}
	if err := checkBackend(f.backend); err != nil {
		return err
	}
	f.chosen = c.Flags().Changed("out")
	file, cells, err := f.cells(args[0])
	if err != nil {
		return err
	}
	if err := checkCells(cells, "out", f.out, filepath.Join(f.out, "index.html"), kept{args[0], "the file of the sweep"}); err != nil {
		return err
	}
	if f.list {
		problems, err := listCells(c.OutOrStdout(), cells)
		if err == nil && problems > 0 {
			err = fmt.Errorf("%s: %s files that cannot be used, as listed", args[0], quantity.Of(problems, "run has", "runs have"))
		}
		if err != nil {
			return err
		}
		return checkSweep(c, args[0], file, cells)
	}
	if err := f.train(c, group, args[0], file, cells); err != nil {
		return err
	}
	return f.report(c.OutOrStdout(), file.Name, cells)
}

// cells reads the file of the sweep and returns its cells.
func (f *sweepFlags) cells(path string) (sweep.File, []sweep.Cell, error) {
	data, err := textfile.Read(path, sweep.MaxFileSize)
	if err != nil {
		return sweep.File{}, nil, err
	}
	file, err := sweep.ParseFile(data)
	if err == nil && f.out == "" {
		f.out = filepath.Join("runs", file.Name)
	}
	var cells []sweep.Cell
	if err == nil {
		cells, err = file.Cells(f.out, func(name string) (experiment.Run, error) {
			recipe, err := recipes.Named(name)
			if err != nil {
				return experiment.Run{}, fmt.Errorf("%w (ut list shows all)", err)
			}
			return recipe.Run(), nil
		})
	}
	if err != nil {
		return file, nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, cells, nil
}

// checkSweep checks the files and the data of all cells. If several have problems, it prints each of them.
func checkSweep(c *cobra.Command, path string, file sweep.File, cells []sweep.Cell) error {
	err := file.Check(c.Context(), cells, lineWriter(c))
	var found sweep.Problems
	if errors.As(err, &found) && len(found) > 1 {
		for _, problem := range found {
			c.PrintErrln("ut:", oneLine(problem))
		}
		return fmt.Errorf("%s: nothing was trained, because of the %d problems above", path, len(found))
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// listCells prints the runs and whether they have a result. It returns how many have files that cannot be used.
func listCells(w io.Writer, cells []sweep.Cell) (problems int, err error) {
	for _, cell := range cells {
		state := "to be trained"
		if problem := cell.Problem(); problem != nil {
			state = oneLine(problem)
			problems++
		} else if _, m, done, err := cell.Done(); err != nil {
			return problems, err
		} else if done {
			state = m.Summary()
		} else if exists(cell.Dir()) {
			state = "started"
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", cell.Name(), state); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// train trains and measures the cells without a result.
func (f *sweepFlags) train(c *cobra.Command, group *parallel.Group, path string, file sweep.File, cells []sweep.Cell) error {
	defer ignoreHangup()()
	if err := checkTraining(f.backend); err != nil {
		return err
	}
	if err := atomicfile.CheckNew(filepath.Join(f.out, "index.html")); err != nil {
		return elsewhere(err, "choose another folder with --out")
	}
	if err := checkSweep(c, path, file, cells); err != nil {
		return err
	}
	remark(c, cells)
	out := c.OutOrStdout()
	if f.asJSON {
		out = c.ErrOrStderr()
	}
	return trainCells(c, out, group, f.backend, f.jobs, cells, "continue with: "+f.again(path))
}

// again returns the command that continues the sweep.
func (f *sweepFlags) again(path string) string {
	command := fmt.Sprintf("%s sweep %s", textfile.Quoted(os.Args[0]), textfile.Quoted(path))
	if f.chosen {
		command += " --out " + textfile.Quoted(f.out)
	}
	if f.jobs > 1 {
		command += fmt.Sprintf(" --jobs %d", f.jobs)
	}
	if f.backend != "" {
		command += " --backend " + f.backend
	}
	return command
}

// sweepReport is the JSON of ut sweep.
type sweepReport struct {
	Name  string          `json:"name"`
	Page  string          `json:"page"`
	Cells []sweep.Summary `json:"cells"`
}

// report writes the page and prints the table.
func (f *sweepFlags) report(w io.Writer, name string, cells []sweep.Cell) error {
	list, err := sweep.Summarize(cells)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := sweep.WritePage(&page, name, cells, list); err != nil {
		return err
	}
	path := filepath.Join(f.out, "index.html")
	if err := atomicfile.Write(path, page.Bytes()); err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(w, sweepReport{Name: name, Page: path, Cells: list})
	}
	if err := printSummaries(w, list); err != nil {
		return err
	}
	if mixed := sweep.Mixed(list); mixed != "" {
		if _, err := fmt.Fprintf(w, "note: %s\n", mixed); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "page: %s\n", path)
	return err
}

// printSummaries prints one row per cell.
func printSummaries(out io.Writer, list []sweep.Summary) error {
	metrics := sweep.MetricNames(list)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\ncell\tseeds\tparameters")
	for _, m := range metrics {
		fmt.Fprint(w, "\t"+m)
	}
	fmt.Fprintln(w, "\tvalidation\tp\tbest by validation\ttraining")
	for _, s := range list {
		name := s.Cell
		if s.Best {
			name += " *"
		}
		fmt.Fprintf(w, "%s\t%d\t%s", name, len(s.Seeds), thousands(s.Parameters))
		for _, m := range metrics {
			fmt.Fprintf(w, "\t%s", s.Metric(m))
		}
		fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\n", s.Validation, s.Probability(), s.BestFigures(), minutes(s.Seconds.Mean))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "mean ± standard deviation over seeds; best seed and best cell (*) have the lowest validation cross entropy (nats per token); p: Welch's t-test of that of a cell against that of *, over seeds, corrected for all pairs of cells (Holm)")
	return err
}
