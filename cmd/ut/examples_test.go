package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"universal-transformer/experiment/recipes"
)

// Every recipe that an example of a command's help names exists, under its present name.
// Caught when planted: a name of an earlier version, in the help of a command or of its parent.
func TestExamplesNameRecipes(t *testing.T) {
	root, found := newRoot(), 0
	for _, c := range append(root.Commands(), commandsBelow(root)...) {
		for line := range strings.Lines(c.Example) {
			for part := range strings.SplitSeq(line, ";") {
				name, ok := exampleRecipe(root, part)
				if !ok {
					continue
				}
				found++
				if _, err := recipes.Named(name); err != nil {
					t.Errorf("%s --help: %q: %v", c.CommandPath(), strings.TrimSpace(part), err)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d recipes in examples", found)
	}
}

// commandsBelow returns the commands of the commands.
func commandsBelow(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		list = append(list, c.Commands()...)
	}
	return list
}

// exampleRecipe returns the argument of a command that is a recipe, unless it is a run or a field.
func exampleRecipe(root *cobra.Command, example string) (name string, ok bool) {
	words := strings.Fields(example)
	if len(words) < 2 || words[0] != "ut" {
		return "", false
	}
	if at := strings.IndexAny(example, "<>|&"); at >= 0 {
		words = strings.Fields(example[:at])
	}
	c, rest, err := root.Find(words[1:])
	if err != nil || c.ParseFlags(rest) != nil {
		return "", false
	}
	at := slices.IndexFunc(strings.Fields(c.Use)[1:], func(argument string) bool { return strings.HasPrefix(argument, "RECIPE") })
	if at < 0 || at >= c.Flags().NArg() {
		return "", false
	}
	name = c.Flags().Arg(at)
	return name, !strings.HasPrefix(name, "runs/") && !strings.HasPrefix(name, "models/") && !strings.Contains(name, ".") // a field
}
