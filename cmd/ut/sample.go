package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// sampleFlags holds the flags of ut data sample.
type sampleFlags struct {
	split         string
	length, count int
	seed          uint64
	sets          []string
}

func newDataSample() *cobra.Command {
	f := sampleFlags{split: "training", count: 10}
	c := &cobra.Command{
		Use:   "sample RECIPE|RUN",
		Short: "Print examples of a task as text",
		Long: `sample prints examples of a recipe's task, or of the task that a run was trained on, in the format
that ut eval --data reads. Most tasks have one example per line: source, tab, target. Others have
the format of their files: numbered stories (bAbI), passages (LAMBADA), a tag and the words before
the verb, a table or whole sentences (agreement). Language models on own text have the text, one
line each or, if the text is continuous, its segments below a first line that says so. Unknown words
are printed as in the data.

--split selects training examples, in the order in which training uses them, validation examples,
or test examples.`,
		Example: `  ut data sample algorithmic/reverse --count 5
  ut data sample algorithmic/addition --split test --length 40
  ut data sample runs/pairs --split validation --count 100 > validation.tsv
  ut data sample own-pairs --set task.path=pairs.tsv
  ut data sample runs/pairs --split test > test.tsv; ut eval runs/pairs --data test.tsv`,
		Args: arguments("RECIPE or RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			return interruptible(c.Context(), func() error { return f.run(c, args[0]) })
		},
	}
	c.Flags().StringVar(&f.split, "split", f.split, "training, validation or test")
	c.Flags().IntVar(&f.length, "length", 0, "with --split test or validation: sources of exactly `N` tokens, if the task supports it")
	c.Flags().IntVar(&f.count, "count", f.count, "examples to print")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "random seed, a `number` (default the recipe's; for --split test that of ut eval)")
	setFlag(c, &f.sets)
	return c
}

func (f *sampleFlags) run(c *cobra.Command, name string) error {
	if !slices.Contains([]string{"training", "validation", "test"}, f.split) {
		return usagef("--split is %q: it must be training, validation or test", f.split)
	}
	if f.length != 0 && f.split == "training" {
		return usagef("--length is for --split test or validation: training has its own mix of lengths")
	}
	if err := errors.Join(between(c, "count", task.MaxExamples), atLeastOne(c, "length")); err != nil {
		return err
	}
	r, err := f.configured(c, name)
	if err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if err := checkSelection(r, f.selection()); err != nil {
		return err
	}
	switch {
	case c.Flags().Changed("seed"):
		r.Seed = f.seed
	case f.split == "test":
		r.Seed = task.TestSeed
	}
	opened, err := pipeline.OpenTask(c.Context(), r, lineWriter(c))
	if err != nil {
		return withSetHint(err)
	}
	examples, err := f.examples(opened, r.Seed)
	if err != nil {
		return asFlag(err)
	}
	return task.WriteExamples(c.OutOrStdout(), r.Task.Value, opened.Vocabularies(), examples)
}

// configured returns the run in the directory name, or the run of the recipe name if there is no such run.
func (f *sampleFlags) configured(c *cobra.Command, name string) (experiment.Run, error) {
	r, err := pipeline.ReadRunOfData(name, lineWriter(c))
	if errors.Is(err, runlog.ErrNotRun) {
		return configured(name, "", f.sets)
	}
	if err != nil {
		return r, err
	}
	return r.Set(f.sets...)
}

// selection returns the selection of held-out examples.
func (f *sampleFlags) selection() task.Selection {
	return task.Selection{Validation: f.split == "validation", Length: f.length, Count: f.count}
}

// examples returns the examples of the split.
func (f *sampleFlags) examples(opened task.Task, seed uint64) ([]task.Example, error) {
	if f.split != "training" {
		return opened.HeldOut(seed, f.selection())
	}
	list := make([]task.Example, f.count)
	for i := range list {
		var err error
		if list[i], err = task.Drawn(func() task.Example { return opened.Training(seed, int64(i)) }); err != nil {
			return nil, err
		}
	}
	return list, nil
}
