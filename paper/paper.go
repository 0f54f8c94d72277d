// Package paper defines the paper's tables: the runs each one needs, the published results, and how our results are measured and
// presented. A table consists of cells, one training run each. A finished cell leaves one JSON file, a [Result]; RESULTS.md is
// generated from those files alone and lists what is missing.
//
// To add a table, write a file with a [Table] value, like babi.go, and add the value to [Tables].
package paper

import (
	"context"
	"fmt"
	"strconv"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/strictjson"
	"universal-transformer/pipeline"
)

// A Table is one table of the paper. One without experiments has not been started: it only has an Overview.
type Table struct {
	Name        string // "table1"
	Title       string
	Experiments []Experiment
	Needs       []Need

	// Measure measures a trained model, on the test set once.
	Measure func(ctx context.Context, m *pipeline.Model, c Cell, log func(line string)) (Measured, error)
	// New gives an empty value of the type that Measure returns, to decode JSON into.
	New func() Measured

	Overview func(*Page, []Result) []Row // the table's rows, and its figures' rows, in the overview of RESULTS.md
	Write    func(*Page, []Result)       // its section of RESULTS.md, from its results only
}

// An Experiment is one column or row of a table: one kind of model, trained on some tasks.
type Experiment struct {
	Name    string // "babi-10k-single-adaptive"; the folder of its results
	Summary string
	Tasks   []string // labels, as in file names: "task01", or "joint" for one model of all tasks

	// Pretrained is the run, of the same seed, whose weights training starts from; nil: random weights.
	Pretrained *Pretrained
}

// Pretrained names runs of another experiment.
type Pretrained struct{ Experiment, Task string }

// A Need is a file or folder that a table's runs read. The command line has a flag of its name.
type Need struct{ Name, Default, Usage string }

// Data is the paths of a table's needs, by their names.
type Data map[string]string

// Tables is every table of the paper.
var Tables = []*Table{
	table1,
	agreementTable.Table(),
	lambadaTable.Table(),
	lengthGeneralization.Table(),
	memorization.Table(),
	evaluatedPrograms.Table(),
	table7,
}

// find gives the table and its experiments that a name stands for: those of the whole table, or one.
func find(name string) (*Table, []Experiment, error) {
	var names []string
	for _, t := range Tables {
		if t.Name == name {
			if len(t.Experiments) == 0 {
				return nil, nil, RequestError{fmt.Errorf("%s has no experiments yet", name)}
			}
			return t, t.Experiments, nil
		}
		for _, e := range t.Experiments {
			if e.Name == name {
				return t, []Experiment{e}, nil
			}
			names = append(names, e.Name)
		}
		names = append(names, t.Name)
	}
	if near, ok := strictjson.Nearest(name, names); ok {
		return nil, nil, RequestError{fmt.Errorf("experiment %q is not known: did you mean %q?", name, near)}
	}
	return nil, nil, RequestError{fmt.Errorf("experiment %q is not known", name)}
}

// label is what a task is called in file names: numbers are "task01", names stay as they are.
func label(task string) string {
	if n, err := strconv.Atoi(task); err == nil {
		return fmt.Sprintf("task%02d", n)
	}
	return task
}

// run returns the run of an experiment's task: the recipe of that name, with the paths of its data.
func run(experiment, task string, data Data) (experiment.Run, error) {
	recipe, err := recipes.Named(experiment + "/" + task)
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err)) // every cell names a recipe
	}
	return recipe.WithData(data)
}
