package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/pipeline"
)

// addCompletion lets shells complete the arguments of a command by the names in its usage, RECIPE and RUN, and the values of some flags.
func addCompletion(c *cobra.Command) {
	if words := strings.Fields(strings.ReplaceAll(c.Use, "|", " ")); c.ValidArgsFunction == nil {
		is := func(name string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "[].") == name })
		}
		switch {
		case is("RECIPE"):
			c.ValidArgsFunction = first(completeRecipes)
		case is("RUN"):
			c.ValidArgsFunction = completeRuns
		}
	}
	for name, complete := range map[string]cobra.CompletionFunc{
		"set": completeSet, "resume": completeRuns, "pretrained": completeRuns, "backend": fixedCompletions(engine.Names()),
	} {
		if c.Flags().Lookup(name) != nil {
			if err := c.RegisterFlagCompletionFunc(name, complete); err != nil {
				panic(err) // a flag that exists is registered once
			}
		}
	}
}

// first completes the first argument only.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

func fixedCompletions(list []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRecipes offers the recipes, with their summaries.
func completeRecipes(_ *cobra.Command, _ []string, typed string) (list []string, _ cobra.ShellCompDirective) {
	for _, r := range recipes.All() {
		if strings.HasPrefix(r.Name, typed) {
			list = append(list, r.Name+"\t"+r.Summary)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeRuns offers the runs of the folder that is typed, and its folders; with nothing typed, all runs below the folder runs.
func completeRuns(_ *cobra.Command, args []string, typed string) (list []string, _ cobra.ShellCompDirective) {
	if typed == "" {
		if list, _ = pipeline.FindRuns("runs"); len(list) > 0 {
			return without(list, args), cobra.ShellCompDirectiveNoFileComp
		}
	}
	folder, _ := filepath.Split(typed)
	entries, _ := os.ReadDir(filepath.Join(".", folder))
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, e := range entries {
		path := folder + e.Name()
		if info, err := os.Stat(path); err != nil || !info.IsDir() || !strings.HasPrefix(path, typed) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := os.Stat(filepath.Join(path, "config.json")); err != nil {
			path, directive = path+"/", directive|cobra.ShellCompDirectiveNoSpace // the runs are below
		}
		list = append(list, path)
	}
	return without(list, args), directive
}

// without returns the paths that are not among the arguments yet.
func without(list, args []string) []string {
	return slices.DeleteFunc(list, func(path string) bool { return slices.Contains(args, path) })
}

// completeSet offers the fields of the recipe or the run that is named, and otherwise those of the defaults.
func completeSet(c *cobra.Command, args []string, typed string) (list []string, _ cobra.ShellCompDirective) {
	r := experiment.Defaults()
	if f := c.Flags().Lookup("resume"); f != nil && f.Value.String() != "" {
		args = []string{f.Value.String()}
	}
	if len(args) > 0 {
		if recipe, err := recipes.Named(args[0]); err == nil {
			r = recipe.Run()
		} else if run, err := pipeline.ReadRun(args[0]); err == nil {
			r = run
		}
	}
	var variants []string // a path and a key below it that may be left out, in turn
	for _, e := range r.Explain() {
		short := e.Field
		if len(variants) > 0 {
			short = strings.NewReplacer(variants...).Replace(short)
		}
		if key, ok := strings.CutSuffix(e.Value, `": {...}}`); ok {
			variants = append(variants, "."+strings.TrimPrefix(key, `{"`)+".", ".")
		}
		text, _, _ := strings.Cut(e.Text, ";")
		for _, field := range slices.Compact([]string{short, e.Field}) {
			if strings.HasPrefix(field, typed) && !strings.Contains(field, "[]") {
				list = append(list, field+"=\t"+text)
				break
			}
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
