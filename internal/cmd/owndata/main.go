// Command owndata writes the data of ten small tasks like those that people bring, with a sweep file for each, and prints a table of their
// results. scripts/own_data.sh runs it.
//
// Usage:
//
//	owndata write [--grid] DIR    data and sweep files
//	owndata names DIR             the tasks whose data are there
//	owndata table DIR             the table of the finished runs
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "owndata:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("say what to do: write, names or table, and a folder")
	}
	command := arguments[0]
	flags := flag.NewFlagSet("owndata "+command, flag.ContinueOnError)
	grid := flags.Bool("grid", false, "write sweep files with twelve settings of each task instead of its recipe with three seeds")
	only := flags.String("only", "", "`names` of tasks, separated by commas (default all)")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one folder")
	}
	dir := flags.Arg(0)
	tasks, err := chosen(*only)
	if err != nil {
		return err
	}
	switch command {
	case "write":
		return write(os.Stdout, dir, tasks, *grid)
	case "names":
		printNames(os.Stdout, dir, tasks)
		return nil
	case "table":
		return printTable(os.Stdout, dir, tasks)
	}
	return fmt.Errorf("%q is not write, names or table", command)
}

// chosen returns the tasks with the given names, separated by commas; all if there is none.
func chosen(list string) (tasks []dataset, err error) {
	if list == "" {
		return suite(), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, d := range suite() {
			if d.name == name {
				tasks, found = append(tasks, d), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no task %q: choose from %s", name, strings.Join(names(suite()), ", "))
		}
	}
	return tasks, nil
}
