package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/task/babi"
)

func newExperiment() *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Run the paper's tables: many runs, one result each",
		Long: `experiment runs what is behind a table of the paper: every task, with several seeds. Each run
that is finished leaves one small JSON file; ut report makes a page of them.`,
		Example: `  ut experiment list
  ut experiment run babi-10k-single --data tasks_1-20_v1-2.tar.gz --tasks 1,6 --seeds 1
  ut report`,
	}
	parent(c, newExperimentList(), newExperimentRun())
	return c
}

// parent makes c a command that only has others below it.
func parent(c *cobra.Command, below ...*cobra.Command) {
	var names []string
	for _, b := range below {
		names = append(names, b.Name())
	}
	c.AddCommand(below...)
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("what to do is missing: one of %s", strings.Join(names, ", "))
		}
		return fmt.Errorf("%q is none of %s", args[0], strings.Join(names, ", "))
	}
	c.RunE = func(*cobra.Command, []string) error { return nil }
}

func newExperimentList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments that run can run",
		Example: `  ut experiment list`,
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, g := range experiment.Grids {
				fmt.Fprintf(w, "%s\t%s\n", g.Name, g.Summary)
			}
			return w.Flush()
		},
	}
}

// gridFlags is what experiment run is told.
type gridFlags struct {
	data, standIn, runs, results, backend string
	tasks                                 []string
	seeds                                 int
	sets                                  []string
}

func newExperimentRun() *cobra.Command {
	var f gridFlags
	c := &cobra.Command{
		Use:   "run EXPERIMENT",
		Short: "Train and test all runs of an experiment that are not done",
		Long: `run trains every task of an experiment with every seed, one after the other, and writes one
result a run. A tenth of the training stories is kept to choose the checkpoint by; the test set is
measured once, with that checkpoint.

Runs that have a result are skipped; one that was interrupted goes on where it stood. Ctrl-C ends
it after the update at hand; the same command goes on.

A task whose training file the distribution lacks is named, and left out. --stand-in names another
file for it, whose name must begin as the missing one's does (qa3_...): results and report say so.`,
		Example: `  ut experiment run babi-10k-single
  ut experiment run babi-10k-single-adaptive --tasks 1,2 --seeds 3
  ut experiment run babi-1k-joint --data ~/babi/tasks_1-20_v1-2`,
		Args: arguments("EXPERIMENT"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.data, "data", "data", "the bAbI distribution, `folder` or archive, as ut data babi gets it")
	c.Flags().StringVar(&f.standIn, "stand-in", "", "`file` qaN_... to train task N on instead; results say so")
	c.Flags().StringVar(&f.runs, "runs", "runs", "`folder` of run directories")
	c.Flags().StringVar(&f.results, "results", "", "`folder` of results (default results in the folder of run directories)")
	c.Flags().StringSliceVar(&f.tasks, "tasks", nil, "`numbers` of the tasks, 1 to 20, with commas between them (default all)")
	c.Flags().IntVar(&f.seeds, "seeds", 3, "`number` of seeds: 1, 2, ...; the paper has 10")
	setFlag(c, &f.sets)
	backendFlag(c, &f.backend)
	return c
}

func (f gridFlags) run(c *cobra.Command, name string) error {
	grid, err := experiment.GridNamed(name)
	if err != nil {
		return usageError{fmt.Errorf("%w (ut experiment list shows all)", err)}
	}
	if f.results == "" {
		f.results = filepath.Join(f.runs, "results")
	}
	tasks, err := f.chosen(grid)
	if err != nil {
		return err
	}
	tasks, missing, err := f.present(c, grid, tasks)
	if err != nil {
		return err
	}
	err = f.all(c, grid, tasks)
	if err == nil && missing > 0 {
		err = fmt.Errorf("what could be run is done; %d tasks have no training file in %s", missing, f.data)
	}
	return err
}

// present is the tasks that have their files. Where all were asked for, the others are named and left out; otherwise they are an error.
func (f gridFlags) present(c *cobra.Command, g experiment.Grid, tasks []int) (there []int, missing int, err error) {
	d, err := babi.Open(f.data)
	if err != nil {
		return nil, 0, fmt.Errorf("--data: %w", err)
	}
	if f.standIn != "" {
		if err := (babi.Babi{Path: f.data, Set: babi.Sets[0], StandIn: f.standIn}).Validate(); err != nil {
			return nil, 0, usagef("--stand-in: %w", err)
		}
		if _, err := os.Stat(f.standIn); err != nil {
			return nil, 0, fmt.Errorf("--stand-in: %w", err)
		}
	}
	for _, n := range tasks {
		problem := g.Missing(d, f.standIn, n)
		switch {
		case problem == nil:
			there = append(there, n)
		case g.Joint || len(f.tasks) > 0:
			return nil, 0, problem
		default:
			missing++
			c.PrintErrln("ut: left out:", oneLine(problem))
		}
	}
	return there, missing, nil
}

// all does every run that is not done.
func (f gridFlags) all(c *cobra.Command, grid experiment.Grid, tasks []int) (err error) {
	return using(f.backend, func(backend compute.Backend) error {
		for seed := 1; seed <= f.seeds; seed++ { // every task once, before any twice
			for _, n := range tasks {
				cell := grid.Cell(f.runs, f.results, f.data, f.standIn, n, uint64(seed))
				if cell.Run, err = cell.Run.Set(f.sets...); err != nil {
					return err
				}
				if err := f.one(c, backend, cell); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// chosen is the tasks asked for.
func (f gridFlags) chosen(g experiment.Grid) (tasks []int, err error) {
	if f.seeds < 1 {
		return nil, usagef("--seeds is %d: it must be at least 1", f.seeds)
	}
	if len(f.tasks) == 0 {
		return g.Tasks(), nil
	}
	if g.Joint {
		return nil, usagef("--tasks cannot be given with %s: it trains on all tasks at once", g.Name)
	}
	for _, text := range f.tasks {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > babi.Tasks {
			return nil, usagef("--tasks: %q is no task: they have the numbers 1 to %d", text, babi.Tasks)
		}
		tasks = append(tasks, n)
	}
	return tasks, nil
}

// one does one run, or says that it is done.
func (f gridFlags) one(c *cobra.Command, backend compute.Backend, cell experiment.Cell) error {
	result, done, err := cell.Done()
	if err != nil {
		return err
	}
	if !done {
		c.PrintErrf("%s, in %s\n", cell.Name(), cell.Dir)
		watch := &trainingWatch{w: c.ErrOrStderr()}
		stop := context.AfterFunc(c.Context(), func() {
			c.PrintErrln("\ninterrupted: finishing this update; again to stop at once, without saving")
		})
		result, err = cell.Do(c.Context(), backend, experiment.Watcher{Progress: watch.progress, Say: watch.say})
		stop()
		watch.done()
		if errors.Is(err, experiment.ErrInterrupted) {
			return fmt.Errorf("%w: what is done is saved; the same command goes on", errInterrupted)
		}
		if err != nil {
			return err
		}
	}
	was := "done before"
	switch {
	case done && !cell.Same(result):
		was += ", with another configuration: remove its result to do it again"
	case !done:
		was = fmt.Sprintf("%d updates in %s", result.Step, minutes(result.Seconds))
	}
	wrong, questions := 0, 0
	for _, t := range result.Tests {
		wrong, questions = wrong+t.Wrong, questions+t.Questions
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: validation error %.1f %%, test error %.1f %% of %d questions (%s)\n",
		cell.Name(), result.Validation.Percent(), 100*float64(wrong)/float64(questions), questions, was)
	return err
}
