package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/quantity"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// tableFlags holds the flags of ut table run.
type tableFlags struct {
	request       measure.Request
	needs         map[string]*string
	seeds         string
	jobs          int
	dryRun        bool
	runs, results string
	backend       string
}

func newTableRun() *cobra.Command {
	f := tableFlags{needs: map[string]*string{}}
	c := &cobra.Command{
		Use:   "run TABLE",
		Short: "Train and measure the cells of a table that have no result",
		Long: `run trains every cell of a table with every seed and writes one result per run. The checkpoint of
each run is selected on validation data, and the test set is evaluated once, with that checkpoint.

Runs that have a result are skipped, and interrupted ones are resumed: Ctrl-C saves all active runs,
and the same command continues. --jobs runs several in parallel, on one thread each.

The command first prints how many runs have no result and about how long they take, from results of
the same rows or from the catalogue; --dry-run stops there. A run whose result has another
configuration, as with another --set, is not trained, and the exit code is 1.

Cells whose data files are missing are reported, skipped and not in the estimate.`,
		Example: `  ut table run 4 --rows algorithmic,algorithmic-lstm --columns copy --seeds 3 --jobs 2
  ut table run 1 --rows babi-10k-single-adaptive --columns 1,2 --seeds 4-6 --data tasks_1-20_v1-2.tar.gz
  ut table run 1 --data tasks_1-20_v1-2.tar.gz --stand-in qa3_partial.txt --simulated qa3_simulated.txt --dry-run
  ut table run 7 --columns multi30k --multi30k multi30k.tar.xz --results results`,
		Args: arguments("TABLE"),
		RunE: onRanks(&f.backend, f.run),
	}
	f.needFlags(c)
	c.Flags().StringSliceVar(&f.request.Rows, "rows", nil, "`names` of rows, as ut table list TABLE shows them (default all)")
	c.Flags().StringSliceVar(&f.request.Columns, "columns", nil, "`names` of columns, as in copy or 1,6 (default all)")
	c.Flags().StringVar(&f.runs, "runs", "runs", "`folder` of run directories")
	c.Flags().StringVar(&f.results, "results", "", "`folder` of results (default results in the folder of run directories)")
	c.Flags().StringVar(&f.seeds, "seeds", "3", "`seeds`: how many, a range or a list, as in 3, 4-6 or 1,3")
	c.Flags().IntVar(&f.jobs, "jobs", 1, "`number` of runs in parallel; if more than 1, each uses one thread")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "list the runs without a result and their expected times, and train nothing")
	setFlag(c, &f.request.Set)
	backendFlag(c, &f.backend)
	return c
}

// needsOf returns the needs of the recipes of some rows, nil for all, without duplicates.
func needsOf(t paper.Table, rows []string) (needs []recipes.Need) {
	cells, err := t.Cells(rows, nil)
	if err != nil {
		return nil // reported with the cells
	}
	for _, c := range cells {
		recipe, err := recipes.Named(c.Recipe())
		if err != nil {
			panic(err) // a test checks that every cell names a recipe
		}
		for _, n := range recipe.Needs {
			if !slices.ContainsFunc(needs, func(known recipes.Need) bool { return known.Name == n.Name }) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// needFlags adds a flag for each file or folder that the recipes of tables need. Tables may share one, and what it is for.
func (f *tableFlags) needFlags(c *cobra.Command) {
	type purpose struct {
		tables []string
		usage  string
	}
	purposes := map[string][]purpose{}
	for _, t := range paper.All() {
		for _, n := range needsOf(t, nil) {
			usage := n.Usage
			if n.Default != "" {
				usage += fmt.Sprintf(" (default %s)", n.Default)
			}
			list := purposes[n.Name]
			at := slices.IndexFunc(list, func(p purpose) bool { return p.usage == usage })
			if at < 0 {
				at, list = len(list), append(list, purpose{usage: usage})
			}
			list[at].tables = append(list[at].tables, fmt.Sprint(t.Number))
			purposes[n.Name] = list
		}
	}
	for name, list := range purposes {
		var texts []string
		for _, p := range list {
			noun := "table"
			if len(p.tables) > 1 {
				noun = "tables"
			}
			texts = append(texts, fmt.Sprintf("for %s %s: %s", noun, strings.Join(p.tables, " and "), p.usage))
		}
		f.needs[name] = c.Flags().String(name, "", "`path` "+strings.Join(texts, "; "))
	}
}

// read checks the arguments and sets the request.
func (f *tableFlags) read(c *cobra.Command, args []string, group *parallel.Group) (err error) {
	if f.request.Table, err = paper.Named(args[0]); err != nil {
		return tableError(err)
	}
	if f.request.Seeds, err = parseSeeds(f.seeds); err != nil {
		return usageError{fmt.Errorf("--seeds: %w", err)}
	}
	if f.jobs < 1 {
		return usagef("--jobs is %d: it must be at least 1", f.jobs)
	}
	if n := group.Size(); f.jobs > 1 && n > 1 {
		return usagef("--jobs is %d: %d ranks share one run at a time", f.jobs, n)
	}
	if err := checkBackend(f.backend); err != nil {
		return err
	}
	if f.results == "" {
		f.results = filepath.Join(f.runs, "results")
	}
	if sweep.SetsSeed(f.request.Set) {
		return usagef("--set has the field seed: give seeds in --seeds")
	}
	f.request.Runs, f.request.Results, f.request.Data = f.runs, f.results, map[string]string{}
	for need, path := range f.needs {
		if c.Flags().Changed(need) {
			f.request.Data[need] = *path
		}
	}
	return nil
}

func (f *tableFlags) run(c *cobra.Command, args []string, group *parallel.Group) error {
	if err := f.read(c, args, group); err != nil {
		return err
	}
	if !f.dryRun {
		if err := checkTraining(f.backend); err != nil {
			return err
		}
	}
	var cells []sweep.Cell
	var skipped []*measure.MissingDataError
	err := interruptible(c.Context(), func() (err error) {
		cells, skipped, err = f.request.Cells()
		return err
	})
	if missing, ok := errors.AsType[*measure.MissingDataError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", err, f.whereData(missing.Recipe))
	}
	if err != nil {
		return tableError(err)
	}
	if err := cmp.Or(checkFolder("runs", f.runs), checkCells(cells, "results", f.results, "")); err != nil {
		return err
	}
	defer ignoreHangup()()
	for _, problem := range skipped {
		c.PrintErrf("ut: skipped: %s: %s\n", oneLine(problem), f.whereData(problem.Recipe))
	}
	if len(skipped) > 0 {
		c.PrintErrf("ut: %s skipped and not in the estimate\n", quantity.Of(len(skipped), "cell is", "cells are"))
	}
	pending := f.pending(cells)
	if text := pending.estimate(f.jobs); text != "" {
		c.PrintErrln(text)
	}
	changed := f.changed(cells)
	if f.dryRun {
		pending.print(c.OutOrStdout())
		for _, name := range changed {
			c.PrintErrf("%s: %s\n", name, doneDifferently)
		}
		return f.damaged(c, cells)
	}
	if err := trainCells(c, c.OutOrStdout(), group, f.backend, f.jobs, cells, "the same command continues"); err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("%s a result of another configuration, and not trained: remove the results in %s, or choose another folder with --results",
			quantity.Of(len(changed), "run has", "runs have"), f.results)
	}
	if len(skipped) > 0 {
		return fmt.Errorf("%s a data file, all others are done: the lines above name the flags", quantity.Of(len(skipped), "cell lacks", "cells lack"))
	}
	return nil
}

// whereData returns advice on the flags that name the data of a recipe: of those whose path does not exist, or else of all.
func (f *tableFlags) whereData(name string) string {
	recipe, err := recipes.Named(name)
	if err != nil {
		panic(err) // a test checks that every cell names a recipe
	}
	var absent, all []string
	for _, n := range recipe.Needs {
		all = append(all, "--"+n.Name)
		path := cmp.Or(f.request.Data[n.Name], n.Default)
		if _, err := os.Stat(path); path != "" && err != nil {
			absent = append(absent, "--"+n.Name)
		}
	}
	if len(absent) > 0 {
		all = absent
	}
	return "name the data with " + strings.Join(all, " or ")
}

// maxSeeds limits the size of a range of seeds.
const maxSeeds = 1000

// parseSeeds parses a number of seeds ("3" means 1 to 3), a range ("4-6") or a list ("1,3").
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
			return nil, fmt.Errorf("%q is not a number of seeds (3), a range (4-6) or a list (1,3)", text)
		}
		for i := range last - first + 1 { // last may be the largest uint64
			s := first + i
			if slices.Contains(seeds, s) {
				return nil, fmt.Errorf("%q lists seed %d twice", text, s)
			}
			seeds = append(seeds, s)
		}
	}
	return seeds, nil
}
