package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/experiment/recipes"
)

func newList() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list [TEXT]",
		Short: "List the recipes that can be trained",
		Long: `list prints the recipes that ut train, show, plan and data sample accept, in groups: name, summary,
and published accuracy and training time. TEXT selects recipes whose name or group contains it.

With --json: an array of objects with the fields name, group, summary, expect (published accuracy
and time), from (the recipe whose weights training starts from) and needs (data to get: name, field,
file, default, usage).`,
		Example: `  ut list
  ut list "table 4"
  ut list babi-1k --json`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			list := selected(append(args, "")[0])
			if len(list) == 0 {
				return usagef("no recipe has a name or group that contains %q", args[0])
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), listed(list))
			}
			return printRecipes(c.OutOrStdout(), list)
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// atMostOne allows at most one argument.
func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%q is an extra argument", args[1])
	}
	return nil
}

// selected returns the recipes whose name or group contains text.
func selected(text string) (list []recipes.Recipe) {
	for _, r := range recipes.All() {
		if strings.Contains(r.Name, text) || strings.Contains(r.Group, text) {
			list = append(list, r)
		}
	}
	return list
}

// maxColumns is the largest number of recipes of a family that are printed one per line. A larger family has a single line.
const maxColumns = 10

// printRecipes prints recipes in the order given, under the headings of their groups.
func printRecipes(out io.Writer, list []recipes.Recipe) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	group := ""
	for i := 0; i < len(list); {
		r, next := list[i], i+1
		for next < len(list) && list[next].Family() == r.Family() {
			next++
		}
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(w, "%s%s\n", group, heading(group))
		}
		if next-i > maxColumns {
			_, last, _ := strings.Cut(list[next-1].Name, "/")
			printRecipe(w, r.Name+" .. "+last, r.Summary, recipes.FamilyExpect(r.Family()))
		} else {
			for _, r := range list[i:next] {
				printRecipe(w, r.Name, r.Summary, r.Expect)
			}
		}
		i = next
	}
	return w.Flush()
}

// heading returns the text after the name of a group.
func heading(group string) string {
	if title := recipes.GroupTitle(group); title != "" {
		return ": " + title
	}
	return ""
}

// printRecipe prints one line. Recipes without published figures have an empty expect.
func printRecipe(w io.Writer, name, summary, expect string) {
	if expect != "" {
		expect = "\t" + expect
	}
	fmt.Fprintf(w, "  %s\t%s%s\n", name, summary, expect)
}

// listedRecipe is a recipe in the JSON of list.
type listedRecipe struct {
	Name    string       `json:"name"`
	Group   string       `json:"group"`
	Summary string       `json:"summary"`
	Expect  string       `json:"expect"`
	From    string       `json:"from"`
	Needs   []listedNeed `json:"needs"`
}

// listedNeed is data that a recipe needs.
type listedNeed struct {
	Name    string `json:"name"`
	Field   string `json:"field"`
	File    string `json:"file"`
	Default string `json:"default"`
	Usage   string `json:"usage"`
}

func listed(list []recipes.Recipe) []listedRecipe {
	entries := make([]listedRecipe, len(list))
	for i, r := range list {
		entries[i] = listedRecipe{r.Name, r.Group, r.Summary, r.Expect, r.From, []listedNeed{}}
		for _, n := range r.Needs {
			entries[i].Needs = append(entries[i].Needs, listedNeed(n))
		}
	}
	return entries
}
