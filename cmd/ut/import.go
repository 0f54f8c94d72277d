package main

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/internal/regularfile"
	"universal-transformer/internal/t2t"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// importFlags holds the flags of ut import.
type importFlags struct {
	config, out, vocabulary string
	sets                    []string
	options                 t2t.Options
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import VARIABLES RECIPE",
		Short: "Make a run of a model that tensor2tensor trained",
		Long: `import converts the variables of a Universal Transformer of tensor2tensor, the authors' code, to a
run directory that decode, translate, score, trace, serve and export read, and that ut train
--pretrained starts from.

VARIABLES is a file of all variables of a checkpoint under their own names: an npz archive of NumPy
or safetensors. The recipe, or the configuration in a file, gives the task, which says how text is
read; its model is replaced. Recurrence basic and act (with act_type basic) are read, with dense or
separable transitions, norms before or after the sub-layers, learned or sinusoidal step signals,
shared or separate tables, with or without an encoder. A variable that no model here has a place for
is an error that names it.

The variables do not tell everything. --heads is num_heads. --steps is num_rec_steps or
act_max_steps, if there are no learned step signals. --target-space is the number of the problem's
target space. Sources end with id 1, as in tensor2tensor, unless --set source_end=false.`,
		Example: `  python3 -c "import tensorflow as tf, numpy as np; r = tf.train.load_checkpoint('model.ckpt-250000'); np.savez('ut.npz', **{n: r.get_tensor(n) for n in r.get_variable_to_shape_map()})"
  ut import ut.npz own-translation --vocabulary vocab.translate_ende_wmt32k.32768.subwords --heads 16 --target-space 4 --out runs/ende
  ut import reverse.npz algorithmic/reverse --heads 4 --target-space 0 --out runs/imported`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("VARIABLES is missing")
			}
			return oneRecipe(args[1:], f.config, "RECIPE is missing: name a recipe whose task the model was trained for, or give --config")
		},
		RunE: sayingTime(f.run),
	}
	c.Flags().StringVar(&f.config, "config", "", "the configuration in this `file` instead of a recipe")
	c.Flags().StringVar(&f.out, "out", "", "run `directory`")
	c.Flags().StringVar(&f.vocabulary, "vocabulary", "", "subwords of the model: a `file` of tensor2tensor, or a tokenizer.json (default the task's vocabulary)")
	c.Flags().IntVar(&f.options.Heads, "heads", 0, "`number` of attention heads")
	c.Flags().IntVar(&f.options.Steps, "steps", 0, "`number` of steps, if the variables do not tell it")
	c.Flags().Float64Var(&f.options.Epsilon, "epsilon", 0.01, "act_epsilon, a `number`")
	c.Flags().IntVar(&f.options.TargetSpace, "target-space", -1, "`number` of the target space")
	setFlag(c, &f.sets)
	return c
}

// run converts the file and writes the run directory.
func (f *importFlags) run(c *cobra.Command, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	if err := runlog.CheckVacant(f.out); err != nil {
		return err
	}
	run, vocabularies, err := f.configured(c, args)
	if err != nil {
		return err
	}
	data, err := regularfile.Read(args[0])
	if err != nil {
		return err
	}
	return using("", func(backend compute.Backend) error {
		imported, notes, err := pipeline.Import(f.out, backend, run, vocabularies, data, f.options)
		switch {
		case errors.Is(err, t2t.ErrSteps):
			return fmt.Errorf("%s: %w: give --steps", args[0], err)
		case errors.Is(err, t2t.ErrTargetSpace):
			return fmt.Errorf("%s: %w: give --target-space", args[0], err)
		case err != nil:
			return fmt.Errorf("%s: %w", args[0], err)
		}
		for _, note := range notes {
			if _, err := fmt.Fprintln(c.ErrOrStderr(), note); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", f.out, imported.Model.Value.Describe())
		return err
	})
}

// check rejects options that are missing or out of range.
func (f *importFlags) check(c *cobra.Command) error {
	switch {
	case f.out == "":
		return usagef("--out is missing: name a new run directory")
	case f.options.Heads < 1:
		return usagef("--heads is %d: give num_heads of the model's hyperparameters, which the variables do not tell", f.options.Heads)
	case c.Flags().Changed("target-space") && f.options.TargetSpace < 0:
		return usagef("--target-space is %d: it must be at least 0", f.options.TargetSpace)
	case !(f.options.Epsilon > 0 && f.options.Epsilon < 1):
		return usagef("--epsilon is %v: it must be above 0 and below 1", f.options.Epsilon)
	}
	return atLeastOne(c, "steps")
}

// configured returns the run with the task, and the vocabularies.
func (f *importFlags) configured(c *cobra.Command, args []string) (experiment.Run, task.Vocabularies, error) {
	name := ""
	if len(args) > 1 {
		name = args[1]
	}
	run, err := configured(name, f.config, nil)
	if err != nil {
		return run, task.Vocabularies{}, err
	}
	if f.config == "" {
		run.SourceEnd = run.Task.Value.Kind() == task.Transduction
	}
	if run, err = run.Set(f.sets...); err != nil {
		return run, task.Vocabularies{}, err
	}
	if f.vocabulary == "" {
		opened, err := pipeline.OpenTask(c.Context(), run, lineWriter(c))
		if err != nil {
			return run, task.Vocabularies{}, withSetHint(err)
		}
		return run, opened.Vocabularies(), nil
	}
	file, err := regularfile.Read(f.vocabulary)
	if err != nil {
		return run, task.Vocabularies{}, err
	}
	pieces, err := subword.ReadPieces(file)
	if err != nil {
		return run, task.Vocabularies{}, fmt.Errorf("%s: %w", f.vocabulary, err)
	}
	return run, task.OfPieces(pieces), nil
}
