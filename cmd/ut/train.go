package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/textfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// trainFlags holds the flags of ut train.
type trainFlags struct {
	config, out, resume, backend string
	pretrained                   string
	seed                         uint64
	devices                      int
	sets                         []string
	acceptData                   bool
	parallelFiles
}

const trainHelp = `train trains a recipe of ut list, or the configuration in a file (ut show prints the fields), in a
new run directory. --resume continues a run that was interrupted or killed from its newest
checkpoint. On a CPU, with the same build, backend, kernels and number of threads, the result is
bit-identical to an uninterrupted run; if kernels, products or threads differ, a message says so.

--resume with --set trains a run further, including one that has finished: more training.steps,
another training.schedule (such as a lower learning rate after a loss of NaN), other intervals for
logging, validation and checkpoints, training.keep, training.events and training.stop. Fields that
name files say where the data are now, as in --set task.path=moved/pairs.tsv. No other field can
change.

With more training.steps, a cosine ends at the new last update, so that the learning rate of a
finished run rises again; the change is reported. --set training.schedule.end=N keeps the rate at
the floor from update N on, and --set training.schedule.start=N warms up again after it.

Relative paths of a --config file begin in its folder or, if nothing is there, in the working
directory. A run finds its data from every working directory, also after it was moved together with
them.

Checkpoints record digests of the data as read. --resume is refused if the training, validation or
test part has changed since; --accept-data continues with the changed data.

--source and --target name parallel files, line by line, for own-translation, which is then the
default recipe.

--pretrained starts a new run from the weights of another run's best checkpoint, for example with
other data, another task or another depth. The shapes of all other parameters than embeddings and
readouts must be the same. Tokens are found by name; new ones begin with random weights and are
reported. The optimizer, the schedule and the batches start anew.

--devices N splits the rows of each batch over N devices of an XLA backend (see
docs/accelerators.md). The losses equal those of one device up to rounding. If the number of rows is
not a multiple of N, empty rows are added, which do not affect the result.

Ctrl-C, SIGTERM and closing the terminal end training after the current update, or in a validation,
and save a checkpoint; a second signal ends it immediately.

With mpirun or srun and a build with -tags mpi, several processes share the batches of an update
(training.accumulate, a multiple of their number). The result equals that of a single process: with
the backend cpu bit by bit, with XLA up to rounding. See docs/hosts.md.`

func newTrain() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train RECIPE",
		Short: "Train a recipe or a configuration of your own, or continue a run",
		Long:  trainHelp,
		Example: `  ut train algorithmic/reverse
  ut train algorithmic/reverse --out runs/small --seed 7 --set model.width=64 --set training.steps=5000
  ut train --config mine.json --out runs/mine
  ut train own-pairs --set task.path=pairs.tsv --out runs/pairs
  ut train --resume runs/mine
  ut train programs/control --pretrained runs/programs/program --out runs/control
  ut train --source train.en --target train.de --out runs/de
  ut train --source train.en --target train.de --backend xla:cuda --devices 4 --out runs/de
  ut train --resume runs/mine --set training.steps=50000
  ut train --resume runs/mine --set training.steps=50000 --set training.schedule.end=3000`,
		Args: func(*cobra.Command, []string) error { return nil },
		RunE: onRanks(&f.backend, f.run),
	}
	c.Flags().StringVar(&f.config, "config", "", "train the configuration in this `file` instead of a recipe")
	f.parallelFiles.add(c)
	c.Flags().StringVar(&f.out, "out", "", "run `directory` (default runs/ and the recipe's name)")
	c.Flags().StringVar(&f.resume, "resume", "", "resume the run in this `directory`")
	c.Flags().StringVar(&f.pretrained, "pretrained", "", "start from the weights of the run in this `directory`")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "random seed, a `number` (default the recipe's)")
	c.Flags().IntVar(&f.devices, "devices", 1, "`number` of devices that share the rows of a batch")
	c.Flags().BoolVar(&f.acceptData, "accept-data", false, "with --resume: continue although the data have changed")
	setFlag(c, &f.sets)
	backendFlag(c, &f.backend)
	return c
}

// maxDevices is far more than any host has.
const maxDevices = 1024

// run trains in a new or an existing run directory.
func (f *trainFlags) run(c *cobra.Command, args []string, group *parallel.Group) error {
	if f.resume == "" { // else check says that files cannot be given
		var err error
		if args, err = f.parallelFiles.recipe(args, f.sets, f.config); err != nil {
			return err
		}
	}
	if err := f.check(c, args); err != nil {
		return err
	}
	if n := group.Size(); n > 1 && f.devices > 1 {
		return usagef("--devices is %d: each of %d ranks has one device", f.devices, n)
	}
	if f.resume != "" {
		return f.resumeRun(c, group)
	}
	return f.start(c, group, args)
}

// check rejects combinations of flags that contradict each other.
func (f *trainFlags) check(c *cobra.Command, args []string) error {
	if err := between(c, "devices", maxDevices); err != nil {
		return err
	}
	if f.resume != "" {
		for _, name := range []string{"source", "target", "config", "out", "pretrained", "seed"} {
			if c.Flags().Changed(name) {
				return usagef("--%s cannot be given with --resume: a run keeps its configuration", name)
			}
		}
		if len(args) > 0 {
			return usagef("%q cannot be given with --resume: a run keeps its configuration", args[0])
		}
		return nil
	}
	if f.acceptData {
		return usagef("--accept-data requires --resume: a new run has no earlier data")
	}
	return oneRecipe(args, f.config, "nothing to train: name a RECIPE (ut list shows them), a --config file, or a run to --resume")
}

// start trains in a new run directory.
func (f *trainFlags) start(c *cobra.Command, group *parallel.Group, args []string) error {
	var r experiment.Run
	err := interruptible(c.Context(), func() (err error) {
		r, err = configured(append(args, "")[0], f.config, append(f.parallelFiles.sets(), f.sets...))
		return err
	})
	if err != nil {
		return err
	}
	if c.Flags().Changed("seed") {
		r.Seed = f.seed
	}
	if f.pretrained != "" {
		r.Training.Pretrained = f.pretrained
	}
	if err := checkPretrained(r, append(args, "")[0]); err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = defaultDir(r.Name)
	}
	if err := runlog.CheckVacant(dir); errors.Is(err, runlog.ErrExists) { // before data are read
		return existing(trainCommandOf(c, group), dir, err)
	} else if err != nil {
		return err
	}
	return usingDevices(f.backend, f.devices, func(backend compute.Backend) error {
		err := watched(c, group, dir, r.Remarks(f.sets...), func(ctx context.Context, w pipeline.Callbacks) (training.Summary, error) {
			return pipeline.Train(ctx, backend, r, dir, w)
		})
		if errors.Is(err, runlog.ErrExists) {
			return existing(trainCommandOf(c, group), dir, err)
		}
		return f.parallelFiles.withHint(err)
	})
}

// checkPretrained returns an error unless the run whose weights training starts from can be read.
func checkPretrained(r experiment.Run, name string) error {
	from := r.Training.Pretrained
	if from == "" {
		return nil
	}
	_, err := pipeline.ReadRun(from)
	if err == nil {
		return nil
	}
	if recipe, _ := recipes.Named(name); errors.Is(err, runlog.ErrNotRun) && recipe.From != "" && from == recipe.Run().Training.Pretrained {
		return fmt.Errorf("%s starts from the weights of %s, which is not in %s: train that first, or name its run with --pretrained", name, recipe.From, from)
	}
	return fmt.Errorf("training.pretrained: %w", err)
}

// defaultDir returns the default run directory for a configuration's name.
func defaultDir(name string) string {
	if name = filepath.FromSlash(name); !filepath.IsLocal(name) {
		name = filepath.Base(name)
	}
	return filepath.Join("runs", name)
}

// resumeRun trains in an existing run directory.
func (f *trainFlags) resumeRun(c *cobra.Command, group *parallel.Group) error {
	var remarks []string
	if r, err := pipeline.ReadRun(f.resume); err == nil {
		if r, err = r.Set(f.sets...); err == nil { // otherwise resuming says what is wrong
			remarks = r.Remarks(f.sets...)
		}
	}
	return usingDevices(f.backend, f.devices, func(backend compute.Backend) error {
		err := withSetHint(watched(c, group, f.resume, remarks, func(ctx context.Context, w pipeline.Callbacks) (training.Summary, error) {
			w.AcceptData = f.acceptData
			return pipeline.Resume(ctx, backend, f.resume, w, f.sets...)
		}))
		if errors.Is(err, training.ErrWeightsOnly) {
			return fmt.Errorf("%w: %s", err, trainCommandOf(c, group).train("RECIPE --pretrained "+textfile.Quoted(f.resume)+" --out DIRECTORY"))
		}
		return writtenElsewhere(err, f.resume)
	})
}

// writtenElsewhere adds what to do to the error of a run directory in which nothing can be written.
func writtenElsewhere(err error, dir string) error {
	path := new(fs.PathError)
	if !errors.As(err, &path) || path.Path != filepath.Join(dir, "lock") || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return fmt.Errorf("%w: copy the run to a folder in which files can be written, and resume the copy", err)
}
