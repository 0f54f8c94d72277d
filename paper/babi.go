package paper

import (
	"fmt"
	"os"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task/babi"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
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
	Open:     openBabi,
	Measure:  measureBabi,
	New:      func() Measured { return new(babiMeasured) },
	Overview: babiOverview,
	Write:    writeBabi,
}

// babiColumn is a column of table 1.
type babiColumn struct {
	name  string // in names of experiments: "10k-joint"
	title string
	set   string // of the distribution
	joint bool
}

var babiColumns = []babiColumn{
	{"10k-single", "10k, single", "en-10k", false},
	{"10k-joint", "10k, joint", "en-10k", true},
	{"1k-single", "1k, single", "en", false},
	{"1k-joint", "1k, joint", "en", true},
}

// babiModel is a row of table 1.
type babiModel struct {
	suffix string // in names of experiments
	title  string
	change func(*experiment.Run, *experiment.Classifier)
}

var babiModels = []babiModel{
	{"-transformer", "Transformer", func(_ *experiment.Run, m *experiment.Classifier) { m.UntiedLayers = true }},
	{"", "Universal Transformer", func(*experiment.Run, *experiment.Classifier) {}},
	{"-adaptive", "UT with dynamic halting", babiAdaptive},
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
				Run: func(task string, data Data) experiment.Run { return c.run(m, task, data) },
			}
			if c.joint {
				e.Tasks = []string{"joint"}
			}
			list = append(list, e)
		}
	}
	return list
}

// run is the run of one task.
func (c babiColumn) run(m babiModel, task string, data Data) experiment.Run {
	r := experiment.Babi()
	definition := babi.Babi{Path: data["data"], Set: c.set}
	if !c.joint {
		_, _ = fmt.Sscanf(task, "task%d", &definition.Task) // a label of babiTasks
	}
	standIn := definition
	if standIn.StandIn = data["stand-in"]; standIn.Validate() == nil { // not a file of another task
		definition = standIn
	}
	r.Task.Value = definition
	model := r.Model.Value.(experiment.Classifier)
	m.change(&r, &model)
	if c.set == "en" {
		babiSmall(&r, &model)
	}
	if c.joint {
		babiJoint(&r, &model)
	}
	r.Model.Value = model
	return r
}

// babiAdaptive gives a run dynamic halting. A model without a wrong answer has not yet learned how long to ponder: training goes on.
// As in the authors' code the answer is read from the mean over all positions, the bias is 1, and the weight of the ponder cost is
// Base's, 0.01: positions then ponder longer where more facts have to be combined. Where the answer is read from the question alone, facts
// halt after a step or two whatever is asked, and the mean over positions falls with the length of the story (LOG.md).
func babiAdaptive(r *experiment.Run, m *experiment.Classifier) {
	m.Pool = experiment.MeanPool
	m.Halting.Value = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
	r.Training.Stop.Accuracy = 0
}

// babiSmall is for 1,000 questions: more dropout, fewer updates, no weight decay, and the authors' code's convolutions, of 3 and 5
// positions. What helps with 10,000 questions helps some tasks here and harms others (LOG.md).
func babiSmall(r *experiment.Run, m *experiment.Classifier) {
	m.Dropout = universal.Dropout{Embedding: 0.1, Transition: 0.2, Residual: 0.2}
	convolution(m, func(t *universal.SeparableConvolution) { t.Widths = [2]int{} })
	r.Training.WeightDecay = 0
	r.Training.Steps = 5000
	r.Training.Stop.Patience = 20
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 500
}

// babiJoint is for twenty tasks at once: one model of twice the width, the authors' "tiny", and longer training at half the rate.
func babiJoint(r *experiment.Run, m *experiment.Classifier) {
	m.Width, m.Heads = 128, 8
	convolution(m, func(t *universal.SeparableConvolution) { t.Filter = 256 })
	r.Training.Schedule.Value = schedule.Cosine{Peak: 1e-3, Floor: 1e-3 / 20, Warmup: 1000}
	r.Training.Steps = min(10*r.Training.Steps, 150_000)
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = r.Training.Steps/75, 2000
}

// convolution changes the transition.
func convolution(m *experiment.Classifier, change func(*universal.SeparableConvolution)) {
	t := m.Transition.Value.(universal.SeparableConvolution)
	change(&t)
	m.Transition.Value = t
}

// openBabi opens the distribution; what is returned knows which runs have their training files.
func openBabi(data Data) (missing func(experiment.Run) error, err error) {
	d, err := babi.Open(data["data"])
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if file := data["stand-in"]; file != "" {
		if err := (babi.Babi{Path: data["data"], Set: babi.Sets[0], StandIn: file}).Validate(); err != nil {
			return nil, fmt.Errorf("--stand-in: %w", err)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("--stand-in: %w", err)
		}
	}
	return func(r experiment.Run) error {
		definition, ok := r.Task.Value.(babi.Babi)
		if !ok {
			return fmt.Errorf("the task is %s, which is not part of table 1", r.Task.Value)
		}
		return d.Missing(definition)
	}, nil
}
