package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/internal/compare"
	"universal-transformer/internal/progress"
)

const compareHelp = `compare shows how two or more runs differ: status and time, the validation of the best checkpoint,
the fields of the configuration that are not the same, scores on the same examples with 95 %
intervals, which run is better, and the answers of each to some of the examples. A folder stands for
the runs in it.

The examples are those of ut eval: --count of the test set, or of the file of --data; all of them if
the measure needs that, as BLEU does, and no --count is given. Correct answers are compared by
McNemar's exact test, BLEU and perplexity by paired bootstrap. With more than two runs the p-values
are adjusted for the number of pairs (Holm). Runs that answered other examples are not tested, nor
perplexities of other tokens and BLEU of other tokenizers.

--out writes one page instead, which also has the curves of training over updates and over time and
needs no network; --out - writes it to the standard output. --curves does not load the models: no
scores, tests and answers.

What is not a run, or has no readable configuration, is reported and skipped; it is an error if
fewer than two runs remain, or if none can be evaluated on the file of --data. Of damaged metrics,
the figures before the damage are used, and a note names the file. A run whose model cannot be
loaded has no scores, and the exit code is 1.`

// compareFlags holds the flags of ut compare.
type compareFlags struct {
	compare.Options
	out, backend string
}

func newCompare() *cobra.Command {
	f := compareFlags{Options: compare.Options{WholeSet: true, Advise: withDataHint}}
	c := &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Compare runs: configuration, curves, scores, significance, answers",
		Long:  compareHelp,
		Example: `  ut compare runs/wide runs/deep
  ut compare runs/wide runs/deep runs/lstm --out compared.html
  ut compare runs/* --curves --out curves.html
  ut compare runs/wide runs/deep --count 1000 --examples 20
  ut compare runs/wide runs/deep --data other.tsv`,
		Args: atLeast("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			f.WholeSet = !c.Flags().Changed("count")
			if err := f.check(c); err != nil {
				return err
			}
			return interruptible(c.Context(), func() error { return f.run(c, args) })
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "write a page to this `file` instead, - for the standard output")
	standardFlag(c, "out")
	c.Flags().IntVar(&f.Protocol.Selection.Count, "count", 200, "number of examples; 0 for all, the default for BLEU and agreement")
	c.Flags().StringVar(&f.Protocol.File, "data", "", "evaluate on the examples in this `file`")
	c.Flags().IntVar(&f.Examples, "examples", 10, "show the answers to `N` examples")
	c.Flags().BoolVar(&f.Curves, "curves", false, "do not load the models: no scores, tests and answers")
	backendFlag(c, &f.backend)
	return c
}

func (f *compareFlags) check(c *cobra.Command) error {
	if err := f.Protocol.Selection.Validate(); err != nil {
		return usagef("--%w", err)
	}
	if f.Examples < 0 {
		return usagef("--examples is %d: it must not be negative", f.Examples)
	}
	if f.Curves {
		for _, name := range []string{"count", "data", "examples"} {
			if c.Flags().Changed(name) {
				return usagef("--curves and --%s are both given: without the models there are no examples", name)
			}
		}
	}
	return nil
}

func (f *compareFlags) run(c *cobra.Command, args []string) error {
	dirs, err := expandRuns(c, args, readable)
	if err != nil {
		return err
	}
	if len(dirs) < 2 {
		return usagef("%s is one run: name at least two", dirs[0])
	}
	if err := checkOutput("out", f.out, append(keptRuns(nil, dirs...), keptData(f.Protocol.File, "which the command reads")...)...); err != nil {
		return err
	}
	var found *compare.Comparison
	err = using(f.backend, func(backend compute.Backend) error {
		done := f.watch(c)
		defer done()
		found, err = compare.Of(c.Context(), backend, dirs, f.Options)
		return err
	})
	if err != nil {
		return err
	}
	if f.Protocol.File != "" && !slices.ContainsFunc(found.Runs, func(r compare.Run) bool { return r.Problem == "" }) {
		return fmt.Errorf("--data: no run can be evaluated: %s", found.Runs[0].Problem)
	}
	return cmp.Or(f.write(c, found), unloaded(found))
}

// write writes the text or the page.
func (f *compareFlags) write(c *cobra.Command, found *compare.Comparison) error {
	if f.out == "" {
		return found.WriteText(c.OutOrStdout())
	}
	var page bytes.Buffer
	if err := found.WriteHTML(&page); err != nil {
		return err
	}
	if err := writeOutput(c, f.out, page.Bytes()); err != nil {
		return err
	}
	for _, problem := range found.Problems {
		c.PrintErrln("ut:", problem)
	}
	if f.out == standard {
		return nil
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), f.out)
	return err
}

// unloaded returns an error that names the runs whose models cannot be loaded, with the reason of the first; nil if there are none.
func unloaded(found *compare.Comparison) error {
	var names []string
	reason := ""
	for _, r := range found.Runs {
		if r.Unloaded {
			names = append(names, r.Name)
			reason = cmp.Or(reason, r.Problem)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the model of %s cannot be loaded: %s", names[0], reason)
	}
	return fmt.Errorf("the models of %s cannot be loaded; the first: %s", strings.Join(names, ", "), reason)
}

// watch shows the progress of evaluations on the standard error, until done is called.
func (f *compareFlags) watch(c *cobra.Command) (done func()) {
	var line *progress.Progress
	done = func() {
		if line != nil {
			line.Done()
			line = nil
		}
	}
	f.Begin = func(run string) { done() }
	f.Protocol.Log = func(text string) { c.PrintErrln(text) }
	f.Protocol.Progress = func(n, total int) {
		if line == nil {
			line = progress.New(c.ErrOrStderr(), int64(total), "example")
		}
		line.Update(int64(n))
	}
	return done
}
