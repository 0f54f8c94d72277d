package paper

import (
	"fmt"

	"universal-transformer/task/babi"
)

// table1 is bAbI, section 3.1 and appendices C and D: 10,000 and 1,000 questions, one model a task and one for all, by three models.
var table1 = &Table{
	Name:        "table1",
	Title:       "bAbI question answering (section 3.1, appendices C and D)",
	Experiments: babiExperiments(),
	Needs: []Need{
		{"data", "data", "the bAbI distribution, folder or archive, from ut data babi"},
		{"stand-in", "", "a file qaN_... to train task N on instead of its own file; recorded in the results"},
	},
	Measure:  measureBabi,
	New:      func() Measured { return new(babiMeasured) },
	Overview: babiOverview,
	Write:    writeBabi,
}

// babiColumn is a column of table 1.
type babiColumn struct {
	name  string // in names of experiments: "10k-joint"
	title string
	joint bool
}

var babiColumns = []babiColumn{
	{"10k-single", "10k, single", false},
	{"10k-joint", "10k, joint", true},
	{"1k-single", "1k, single", false},
	{"1k-joint", "1k, joint", true},
}

// babiModel is a row of table 1.
type babiModel struct {
	suffix string // in names of experiments
	title  string
}

var babiModels = []babiModel{
	{"-transformer", "Transformer"},
	{"", "Universal Transformer"},
	{"-adaptive", "UT with dynamic halting"},
}

// experiment is the name of a model's experiment in a column.
func (c babiColumn) experiment(m babiModel) string { return "babi-" + c.name + m.suffix }

// babiTasks is the labels of the twenty tasks.
func babiTasks() (labels []string) {
	for n := range babi.Tasks {
		labels = append(labels, label(fmt.Sprint(n+1)))
	}
	return labels
}

func babiExperiments() (list []Experiment) {
	for _, c := range babiColumns {
		for _, m := range babiModels {
			e := Experiment{
				Name: c.experiment(m), Summary: c.title + ": " + m.title, Tasks: babiTasks(),
			}
			if c.joint {
				e.Tasks = []string{"joint"}
			}
			list = append(list, e)
		}
	}
	return list
}
