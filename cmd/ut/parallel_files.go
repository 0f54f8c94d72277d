package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/task/translation"
)

// parallelFiles are the flags that name parallel files to train on.
type parallelFiles struct{ source, target string }

func (f *parallelFiles) add(c *cobra.Command) {
	c.Flags().StringVar(&f.source, "source", "", "train a translation from the lines of this `file`")
	c.Flags().StringVar(&f.target, "target", "", "the translations, the lines of this `file`")
	for _, name := range []string{"source", "target"} {
		standardFlag(c, name) // the task says why it cannot be read
	}
}

// recipe returns the arguments with the recipe that parallel files are for.
func (f *parallelFiles) recipe(args, sets []string, config string) ([]string, error) {
	switch {
	case f.source == "" && f.target == "":
		return args, nil
	case f.source == "":
		return nil, usagef("--target is given without --source: name both files")
	case f.target == "":
		return nil, usagef("--source is given without --target: name both files")
	case config != "":
		return nil, usagef("--source and --config are both given: name the files in the configuration, as task.training")
	case slices.ContainsFunc(sets, ofTraining):
		return nil, usagef("--source and task.training are both given: leave one of them out")
	case len(args) == 0:
		return []string{"own-translation"}, nil
	}
	if r, err := recipes.Named(args[0]); err == nil {
		if _, ok := r.Run().Task.Value.(translation.Translation); !ok {
			return nil, usagef("--source and --target are files of a translation, which %s is not: leave out %s", args[0], args[0])
		}
	}
	return args, nil
}

// ofTraining reports whether an assignment changes the files of a translation.
func ofTraining(set string) bool {
	path, _, _ := strings.Cut(set, "=")
	return path == "task.training" || path == "task.translation.training"
}

// sets returns the changes of the configuration: no file of the recipe is left.
func (f *parallelFiles) sets() []string {
	if f.source == "" {
		return nil
	}
	files, err := json.Marshal([]map[string]string{{"source": f.source, "target": f.target}})
	if err != nil {
		panic(err) // strings marshal
	}
	return []string{"task.path=", "task.training=" + string(files), "task.validation=[]", "task.test=[]"}
}

// withHint is like withSetHint, for files that the flags named.
func (f *parallelFiles) withHint(err error) error {
	var missing *experiment.MissingFileError
	if f.source != "" && errors.As(err, &missing) && ofTraining(missing.Field) {
		return fmt.Errorf("%w: name the files with --source and --target", missing.Err)
	}
	return withSetHint(err)
}
