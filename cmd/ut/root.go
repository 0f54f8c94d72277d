package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/strictjson"
	"universal-transformer/runlog"
)

// newRoot returns the program's root command. Commands share no global state.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ut",
		Short: "Train, evaluate, decode and visualize Universal Transformers",
		Long: `ut trains, evaluates, decodes and visualizes Universal Transformers (Dehghani et al., ICLR 2019).

A training run lives in a directory: its configuration, metrics, checkpoints, traces and
exports. Most commands take such a directory as RUN.

ut help TOPIC explains configuration, halting, positions and exits; ut completion SHELL prints a
script that completes recipes, runs and fields.`,
		Example: `  ut demo                                           a first result, in half a minute
  ut list                                           list the recipes
  ut train algorithmic/reverse --out runs/reverse   train one of them
  ut runs                                           list the runs
  ut eval runs/reverse --length 40                  evaluate one of them
  echo 31415 | ut decode runs/reverse               use it
  ut trace runs/reverse --input 31415               visualize one input`,
		Version:       runlog.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			if f := c.Flags().Lookup("backend"); f != nil {
				warnOfThreads(c, f.Value.String(), runtime.NumCPU(), hostProcessors(), parallel.OnThisHost())
			}
		},
	}
	root.SetVersionTemplate("ut {{.Version}}\n")
	addGroups(root)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			onlyBelow(c, c.Commands()...)
		case "help":
			addTopics(root, c)
		}
	}
	root.AddCommand(newMoved()...)
	root.SetFlagErrorFunc(flagError)
	for _, c := range root.Commands() {
		for _, c := range append(c.Commands(), c) {
			c.Args = usage(c.Args)
			addCompletion(c)
		}
	}
	return root
}

// addTopics lets the help command explain topics, too, and refuse what is neither a command nor a topic.
func addTopics(root, c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	commands := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		list, directive := commands(c, args, typed)
		return append(list, completeTopics(args, typed)...), directive
	}
	help := c.RunE
	if run := c.Run; help == nil {
		help = func(c *cobra.Command, args []string) error { run(c, args); return nil }
	}
	c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if t, ok := topicNamed(args[0]); ok {
				_, err := fmt.Fprintln(c.OutOrStdout(), t.text)
				return err
			}
		}
		if err := unknownCommand(root, args, topicNames()...); err != nil {
			return err
		}
		return help(c, args)
	}
}

// addGroups adds the commands in the groups in which help lists them.
func addGroups(root *cobra.Command) {
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start", []*cobra.Command{newDemo(), newList(), newTrain(), newEval(), newCompare(), newRuns(), newInfo(), newMetrics(), newWatch()}},
		{"Use a model", []*cobra.Command{newDecode(), newClassify(), newTag(), newTranslate(), newAnswer(), newScore(), newTrace(), newExport(), newImport(), newServe()}},
		{"Research", []*cobra.Command{newTable(), newSweep(), newDepth(), newShow(), newPlan(), newData()}},
		{"Tools", []*cobra.Command{newTokenizer(), newBleu(), newBench(), newDoctor(), newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, c := range group.commands {
			c.GroupID = group.title
		}
		root.AddCommand(group.commands...)
	}
	root.SetHelpCommandGroupID("Tools")
	root.SetCompletionCommandGroupID("Tools")
}

// usage wraps a check of arguments so that its errors are usage errors.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := errors.Join(check(c, args), rejectEmpty(c, args), rejectStandard(c)); err != nil {
			return usageError{fmt.Errorf("%s: see %s --help", oneLine(err), c.CommandPath())}
		}
		return nil
	}
}

// rejectEmpty rejects empty arguments and flags, such as those of a script with an unset variable, which would otherwise count as missing.
// An empty --input is left to the model.
func rejectEmpty(c *cobra.Command, args []string) (err error) {
	for i, arg := range args {
		if arg == "" {
			return fmt.Errorf("argument %d is empty", i+1)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if s := f.Value.String(); f.Value.Type() == "string" && s == "" && f.Name != "input" || f.Value.Type() == "stringSlice" && s == "[]" {
			err = fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	return err
}

// arguments requires exactly one argument per name.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return extraArgument(args[len(names)])
		}
		return nil
	}
}

// extraArgument returns the error for an argument too many.
func extraArgument(arg string) error { return fmt.Errorf("%q is an extra argument", arg) }

// readsInput is like arguments, for a command that reads the standard input: a file or a text in place of it is a common mistake.
func readsInput(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := arguments(names...)(c, args)
		if len(args) <= len(names) {
			return err
		}
		command, extra := c.CommandPath()+" "+strings.Join(args[:len(names)], " "), args[len(names)]
		if exists(extra) || filepath.Ext(extra) != "" {
			return fmt.Errorf("%w: the command reads the standard input, as in %s < %s", err, command, extra)
		}
		return fmt.Errorf("%w: the command reads the standard input, as in echo %s | %s", err, extra, command)
	}
}

// atLeast requires at least one argument.
func atLeast(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", name)
		}
		return nil
	}
}

// flagError suggests the nearest flag for an unknown one, and names the type of an invalid value.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near, ok := strictjson.Nearest(missing.GetSpecifiedName(), names); ok {
			return usageError{fmt.Errorf("%w: did you mean --%s?", err, near)}
		}
	}
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) {
		f := wrong.GetFlag()
		if kind := kindOf(f.Value.Type()); kind != "" {
			return usagef("--%s is %q: it must be %s", f.Name, wrong.GetValue(), kind)
		}
		return usagef("--%s: %w", f.Name, wrong.Unwrap())
	}
	return usageError{fmt.Errorf("%w: see %s --help", err, c.CommandPath())}
}

// kindOf describes the type of a flag. It returns "" for our own types, whose errors describe themselves.
func kindOf(name string) string {
	switch name {
	case "int", "int64":
		return "a whole number"
	case "uint32", "uint64":
		return "a whole number, not negative"
	case "float64":
		return "a number"
	case "duration":
		return "a number with a unit, as in 30s or 2m"
	case "bool":
		return "true or false"
	}
	return ""
}

// unknownCommand returns an error with the nearest subcommand, or one of further names, if the arguments name none, and otherwise nil.
func unknownCommand(root *cobra.Command, args []string, further ...string) error {
	if _, _, err := root.Find(args); err == nil {
		return nil
	}
	name := ""
	for _, arg := range args {
		if len(arg) > 0 && arg[0] != '-' {
			name = arg
			break
		}
	}
	names := further
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near, ok := strictjson.Nearest(name, names); ok {
		return usageError{fmt.Errorf("unknown command %q: did you mean %q?", name, near)}
	}
	return usageError{fmt.Errorf("unknown command %q: see ut --help", name)}
}
