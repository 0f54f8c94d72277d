package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
)

func newList() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Long: `list prints the experiments that train and show accept, in a sensible order to try them.

With --json: an array of objects with the fields "name" and "summary".`,
		Example: `  ut list
  ut list --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(c.OutOrStdout(), listed())
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, e := range experiment.List {
				fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Summary)
			}
			return w.Flush()
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// listedEntry is an experiment in the JSON of list.
type listedEntry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

func listed() []listedEntry {
	entries := make([]listedEntry, len(experiment.List))
	for i, e := range experiment.List {
		entries[i] = listedEntry{e.Name, e.Summary}
	}
	return entries
}
