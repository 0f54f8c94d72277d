package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

func newExperiment() *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Run the paper's tables: many runs, one result each",
		Long: `experiment runs the experiments of the paper's tables 1 to 7, which train every task with several
seeds. Each finished run writes one small JSON file; ut report generates a page from them.`,
		Example: `  ut experiment list
  ut experiment run babi-10k-single --data tasks_1-20_v1-2.tar.gz --tasks 1,6 --seeds 1
  ut report`,
	}
	parent(c, newExperimentList(), newExperimentRun())
	return c
}

func newExperimentList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the tables and experiments that run can run",
		Example: `  ut experiment list`,
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, t := range paper.Tables {
				if len(t.Experiments) == 0 {
					continue
				}
				fmt.Fprintf(w, "%s\t%s\n", t.Name, t.Title)
				for _, e := range t.Experiments {
					fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Summary)
				}
			}
			return w.Flush()
		},
	}
}

// experimentFlags is what experiment run is told.
type experimentFlags struct {
	request       paper.Request
	needs         map[string]*string
	seeds         string
	jobs          int
	runs, results string
	backend       string
}

func newExperimentRun() *cobra.Command {
	f := experimentFlags{needs: map[string]*string{}}
	c := &cobra.Command{
		Use:   "run EXPERIMENT",
		Short: "Train and test all runs of an experiment or a table that are not done",
		Long: `run trains every task of an experiment with every seed and writes one result per run. The name of a
table runs all of its experiments. The checkpoint of each run is selected on validation data, and
the test set is evaluated once, with that checkpoint.

Runs that have a result are skipped, and interrupted ones are resumed: Ctrl-C saves all active runs,
and the same command continues. --jobs runs several at a time, on one thread each.

Tasks whose files are missing are reported and skipped.`,
		Example: `  ut experiment run babi-10k-single
  ut experiment run babi-10k-single-adaptive --tasks 1,2 --seeds 4-6 --jobs 2
  ut experiment run babi-1k-joint --data ~/babi/tasks_1-20_v1-2
  ut experiment run table1 --results results`,
		Args: arguments("EXPERIMENT"),
		RunE: onRanks(&f.backend, f.run),
	}
	f.needFlags(c)
	c.Flags().StringVar(&f.runs, "runs", "runs", "`folder` of run directories")
	c.Flags().StringVar(&f.results, "results", "", "`folder` of results (default results in the folder of run directories)")
	c.Flags().StringSliceVar(&f.request.Tasks, "tasks", nil, "`names` of the tasks, as in 1,6 (default all)")
	c.Flags().StringVar(&f.seeds, "seeds", "3", "`seeds`: how many, a range or a list, as in 3, 4-6 or 1,3; the paper has 10")
	c.Flags().IntVar(&f.jobs, "jobs", 1, "`number` of runs side by side; if more than 1, on one thread each")
	setFlag(c, &f.request.Set)
	backendFlag(c, &f.backend)
	return c
}

// needFlags adds a flag for each file or folder that a table needs. Tables may share one.
func (f *experimentFlags) needFlags(c *cobra.Command) {
	usages := map[string]string{}
	for _, t := range paper.Tables {
		for _, n := range t.Needs {
			usage := fmt.Sprintf("for %s: %s", t.Name, n.Usage)
			if n.Default != "" {
				usage += fmt.Sprintf(" (default %s)", n.Default)
			}
			if before := usages[n.Name]; before != "" {
				usage = before + "; " + usage
			}
			usages[n.Name] = usage
		}
	}
	for name, usage := range usages {
		f.needs[name] = c.Flags().String(name, "", "`path` "+usage)
	}
}

func (f *experimentFlags) run(c *cobra.Command, args []string, group *parallel.Group) (err error) {
	if f.request.Seeds, err = parseSeeds(f.seeds); err != nil {
		return usageError{fmt.Errorf("--seeds: %w", err)}
	}
	if f.jobs < 1 {
		return usagef("--jobs is %d: it must be at least 1", f.jobs)
	}
	if n := group.Size(); f.jobs > 1 && n > 1 {
		return usagef("--jobs is %d: %d ranks train one run after another, all together", f.jobs, n)
	}
	if f.results == "" {
		f.results = filepath.Join(f.runs, "results")
	}
	f.request.Name, f.request.Runs, f.request.Results, f.request.Data = args[0], f.runs, f.results, paper.Data{}
	for need, path := range f.needs {
		if c.Flags().Changed(need) {
			f.request.Data[need] = *path
		}
	}
	var cells []sweep.Cell
	var leftOut []error
	err = interruptible(c.Context(), func() (err error) {
		cells, leftOut, err = f.request.Cells()
		return err
	})
	var wrong paper.RequestError
	if errors.As(err, &wrong) {
		return usageError{fmt.Errorf("%w (ut experiment list shows all)", err)}
	}
	if err != nil {
		return err
	}
	for _, problem := range leftOut {
		c.PrintErrln("ut: left out:", oneLine(problem))
	}
	if err := f.all(c, group, cells); err != nil {
		return err
	}
	if len(leftOut) > 0 {
		return fmt.Errorf("what could be run is done; %d tasks lack a file", len(leftOut))
	}
	return nil
}

// all does the cells.
func (f *experimentFlags) all(c *cobra.Command, group *parallel.Group, cells []sweep.Cell) error {
	defer ignoreHangup()()
	backend, threads := jobBackend(f.backend, f.jobs)
	watch := newCellWatch(c.OutOrStdout(), c.ErrOrStderr(), len(cells))
	stop := context.AfterFunc(c.Context(), func() {
		if group.Size() == 1 {
			c.PrintErrln("\ninterrupted: finishing these updates; again to stop at once, without saving")
		}
	})
	runner := sweep.Runner{
		Jobs: f.jobs, Threads: threads, Now: time.Now, Group: group,
		Backend: func() (compute.Backend, error) { return engine.New(backend) },
		Log:     watch.log, Progress: watch.progress, Finished: watch.finished,
	}
	err := runner.Run(c.Context(), cells)
	stop()
	watch.done()
	switch {
	case errors.Is(err, sweep.ErrInterrupted):
		return fmt.Errorf("%w: what is done is saved; the same command goes on", errInterrupted)
	case watch.failed > 0 && len(cells) > 1:
		return fmt.Errorf("%d of %d runs failed; the first: %s", watch.failed, len(cells), oneLine(err))
	}
	return errors.Join(watch.err, err)
}

// maxSeeds is more than anybody means.
const maxSeeds = 1000

// parseSeeds reads "3", the seeds 1 to 3, "4-6" or "1,3".
func parseSeeds(text string) (seeds []uint64, err error) {
	list := text
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		list = "1-" + text
	}
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 64)
		last, err2 := strconv.ParseUint(to, 10, 64)
		if err != nil || err2 != nil || first > last || last-first >= maxSeeds {
			return nil, fmt.Errorf("%q is no number of seeds (3), range (4-6) or list (1,3)", text)
		}
		for i := range last - first + 1 { // not up to last, after which there may be none
			if s := first + i; !slices.Contains(seeds, s) {
				seeds = append(seeds, s)
			}
		}
	}
	return seeds, nil
}
