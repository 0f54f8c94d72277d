package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/textfile"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// setFlag adds --set.
func setFlag(c *cobra.Command, sets *[]string) {
	c.Flags().StringArrayVar(sets, "set", nil, "change a field: a `path=value` such as model.width=128; may be repeated, and later ones win")
}

// oneRecipe asks for a recipe's name, or a configuration file.
func oneRecipe(args []string, file, missing string) error {
	switch {
	case len(args) == 0 && file == "":
		return usagef("%s", missing)
	case len(args) > 0 && file != "":
		return usagef("%q and --config %s are both given: choose one", args[0], file)
	case len(args) > 1:
		return usagef("%q is an extra argument", args[1])
	case len(args) == 1 && isFile(args[0]):
		if _, err := recipes.Named(args[0]); err != nil {
			return usagef("%q is a file and no recipe: give --config %s", args[0], textfile.Quoted(args[0]))
		}
	}
	return nil
}

// isFile reports whether a path is that of a file, and not of a folder or something else.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// maxConfigurationSize is far above the size of any configuration, in bytes.
const maxConfigurationSize = 1 << 20

// configured returns the run of the recipe that a command names, or that of a configuration file, with changes.
func configured(name, file string, sets []string) (experiment.Run, error) {
	if file == "" {
		recipe, err := recipes.Named(name)
		if err != nil {
			return experiment.Run{}, fmt.Errorf("%w (ut list shows all)", err)
		}
		return recipe.Run().Set(sets...)
	}
	data, err := textfile.Read(file, maxConfigurationSize)
	if err != nil {
		return experiment.Run{}, fmt.Errorf("configuration: %w", err)
	}
	r, err := experiment.Parse(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return besideConfiguration(r, file).Set(sets...)
}

// besideConfiguration returns the run with paths that begin in the folder of its file, where such files exist. Other paths begin in the
// working directory.
func besideConfiguration(r experiment.Run, file string) experiment.Run {
	return r.WithFiles(func(f experiment.File) string {
		if beside := filepath.Join(filepath.Dir(file), f.Path); !filepath.IsAbs(f.Path) && exists(beside) {
			return beside
		}
		return f.Path
	})
}

// withSetHint adds the flag that says where missing data are.
func withSetHint(err error) error {
	var missing *experiment.MissingFileError
	var public *task.MissingDataError // for which there is other advice
	if errors.As(err, &missing) && !errors.As(err, &public) {
		if missing.List {
			return fmt.Errorf(`%w, as in --set %s='[{"source": "FILE", "target": "FILE"}]'`, err, missing.Field)
		}
		if path := new(fs.PathError); errors.As(err, &path) && strings.HasPrefix(path.Path, "~") {
			return fmt.Errorf("%w, as in --set %s=FILE, with $HOME in place of ~", err, missing.Field)
		}
		return fmt.Errorf("%w, as in --set %s=FILE", err, missing.Field)
	}
	return err
}

// withDataHint names the flag with which a command without --set evaluates other examples than those of missing data.
func withDataHint(err error) error {
	var missing *experiment.MissingFileError
	if errors.As(err, &missing) {
		return fmt.Errorf("%w: give a file of examples with --data", missing.Err)
	}
	return err
}

// existing returns the error for a new run whose directory already holds one, given that of the run directory.
func existing(command trainCommand, dir string, err error) error {
	if errors.Is(err, runlog.ErrInUse) {
		return err
	}
	if log, err := runlog.Open(dir); err == nil {
		if steps, err := log.Steps(); err == nil && len(steps) == 0 {
			return fmt.Errorf("%s %w, without a checkpoint: begin it again with the same settings (%s), remove it, or choose another directory with --out", dir, runlog.ErrExists, command.resume(dir))
		}
	}
	return fmt.Errorf("%s %w: resume it (%s), or choose another directory with --out", dir, runlog.ErrExists, command.resume(dir))
}
