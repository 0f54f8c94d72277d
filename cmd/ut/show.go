package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
)

func newShow() *cobra.Command {
	var sets []string
	fields := false
	c := &cobra.Command{
		Use:   "show RECIPE|FIELD",
		Short: "Print the complete configuration of a recipe, or explain its fields",
		Long: `show prints every field of a recipe as JSON, in the form that ut train --config reads.

With --explain, it prints every field on a line, as --set takes it, and below it what it means: its
unit, its default, and the meaning of 0.

A FIELD or a part of a configuration in place of a recipe, such as training.stop, is explained
likewise; a part that comes in variants, such as task, model or model.halting, with all of them and
their defaults.`,
		Example: `  ut show algorithmic/reverse
  ut show algorithmic/reverse --set model.width=64 --set model.heads=2 > mine.json
  ut train --config mine.json
  ut show own-pairs --explain
  ut show task.labels
  ut show model.halting
  ut show training.schedule`,
		Args: arguments("RECIPE or FIELD"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := configured(args[0], "", sets)
			if _, unknown := recipes.Named(args[0]); unknown != nil && len(sets) == 0 {
				if part, wrong := experiment.ExplainPart(args[0]); wrong == nil || looksLikeField(args[0]) {
					return printExplanations(c.OutOrStdout(), part, wrong)
				}
				if field, ok := experiment.Defaults().Suggest(args[0]); ok {
					return fmt.Errorf("%q is no recipe and no field: did you mean %q?", args[0], field)
				}
			}
			if err != nil {
				return err
			}
			if fields {
				return printExplanations(c.OutOrStdout(), r.Explain(), nil)
			}
			_, err = c.OutOrStdout().Write(r.Complete())
			return err
		},
	}
	c.Flags().BoolVar(&fields, "explain", false, "explain every field instead of printing JSON")
	setFlag(c, &sets)
	return c
}

// looksLikeField reports whether a name that is neither a recipe nor a field was meant to be a field.
func looksLikeField(name string) bool {
	root, _, dotted := strings.Cut(name, ".")
	return dotted && (root == "task" || root == "model" || root == "training")
}

// printExplanations prints fields, each with its value, and what they mean.
func printExplanations(w io.Writer, list []experiment.Explanation, err error) error {
	if err != nil {
		return err
	}
	for _, e := range list {
		if _, err := fmt.Fprintf(w, "%s=%s\n%s\n", e.Field, e.Value, wrapped(e.Text, "    ", 100)); err != nil {
			return err
		}
	}
	return nil
}

// wrapped breaks a text into lines of at most width characters with an indent.
func wrapped(text, indent string, width int) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) >= width && line != indent {
			lines, line = append(lines, line), indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
