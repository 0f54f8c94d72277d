package experiment

import (
	"fmt"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/task/babi"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Babi is one model on one task of bAbI: fill in task.babi.path. The size is one that twenty tasks can be trained with on a small
// machine; the authors' "tiny" set is width 128 and filter 512. Nothing is dropped from the attention weights, which the engine
// then computes in one pass.
//
// The transition is the separable convolution, which sees the facts beside a fact, as in the authors' code at the time of the paper:
// without it, tasks whose pronouns point at the fact before (11, 13) are learned by heart. Its second half sees no neighbours, which
// task 17 learns twice as fast with.
//
// Weight decay is what makes rules out of stories that were learned by heart: without it task 16 was not learned, and 17 not well (LOG.md).
//
// The answer is read from the question's position, the last one: that is where attention gathers the facts, so what the figures
// show is what answers. The authors' code takes the mean over all positions, model.classifier.pool=mean; so do the grids whose models halt
// adaptively. Norms stand in front of the sub-layers, as in that code: as the paper prints them, task 18 does not learn at this rate, and task 2 three times as slowly (LOG.md).
func Babi() Run {
	r := Base()
	r.Name = "babi"
	r.Task = Task{Babi: &babi.Babi{Path: "data", Set: "en-10k", Task: 1}}
	r.Model.Config = universal.Config{
		Width: 64, Heads: 4, ScaleEmbedding: true, PreNorm: true,
		Dropout: universal.Dropout{Transition: 0.1, Residual: 0.1},
	}
	r.Model.Transition = Transition{SeparableConvolution: &universal.SeparableConvolution{Filter: 128, Widths: [2]int{3, 1}}}
	r.Model.Halting = Halting{Fixed: &halting.Fixed{Steps: 4}}
	r.Model.Classifier = &Classifier{Pool: "last"}
	r.Training.Steps = 40_000
	r.Training.LabelSmoothing = 0.1
	r.Training.WeightDecay = 0.1
	r.Training.Schedule = cosine(2e-3, 300)
	r.Training.Batch = Batch{Rows: 32}
	r.Training.HeldOut = 0
	r.Training.BestByAccuracy = true
	r.Training.Stop = training.Stop{Accuracy: 1, Patience: 24} // nothing wrong in the validation set, or nothing new in a third of the updates
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 500, 500
	return r
}

// Grid is the runs behind one column of table 1: every task, or all of them jointly, with some seeds.
type Grid struct {
	Name    string
	Summary string
	Joint   bool
	run     func(r *Run) // what it changes of Babi
}

// Grids is every grid, table 1's order: the paper's models and the Transformer, single and joint, 10k and 1k.
var Grids = grids()

func grids() (list []Grid) {
	models := []struct {
		suffix, summary string
		change          func(*Run)
	}{
		{"", "Universal Transformer of fixed depth", func(*Run) {}},
		{"-adaptive", "Universal Transformer with dynamic halting", (*Run).pondering},
		{"-transformer", "Transformer: the same block, weights of its own in every layer", func(r *Run) { r.Model.Classifier.Untied = true }},
	}
	for _, size := range []struct{ name, set string }{{"10k", "en-10k"}, {"1k", "en"}} {
		for _, joint := range []bool{false, true} {
			for _, m := range models {
				how := "single"
				if joint {
					how = "joint"
				}
				list = append(list, Grid{
					Name:    fmt.Sprintf("babi-%s-%s%s", size.name, how, m.suffix),
					Summary: fmt.Sprintf("table 1, %s, train %s: %s", size.name, how, m.summary),
					Joint:   joint,
					run: func(r *Run) {
						r.Task.Babi.Set = size.set
						m.change(r)
						if size.name == "1k" {
							r.small()
						}
						if joint {
							r.joint()
						}
					},
				})
			}
		}
	}
	return list
}

// pondering gives the run dynamic halting. A model that answers everything right has not yet learned how long to ponder: it goes on.
// As in the authors' code the answer is read from the mean over all positions, the bias is 1, and the weight of ponder times is Base's, 0.01:
// positions then ponder longer where more facts have to be put together. Read from the question alone, a fact is done after a step or
// two, whatever it is asked for, and the mean over positions falls with the length of the story (LOG.md).
func (r *Run) pondering() {
	r.Model.Classifier.Pool = "mean"
	r.Model.Halting = Halting{Frozen: &halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
	r.Training.Stop.Accuracy = 0
}

// small is for a tenth of the questions: more dropout, fewer updates, no weight decay, and the authors' code's convolutions, of 3 and 5
// positions. There what helps the large set helps some tasks and harms others (LOG.md).
func (r *Run) small() {
	r.Model.Dropout = universal.Dropout{Embedding: 0.1, Transition: 0.2, Residual: 0.2}
	r.Model.Transition.SeparableConvolution.Widths = [2]int{}
	r.Training.WeightDecay = 0
	r.Training.Steps = 5000
	r.Training.Stop.Patience = 20
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 500
}

// joint is for twenty tasks at once: one model of twice the width, the authors' "tiny", and a longer training at half the rate.
func (r *Run) joint() {
	r.Model.Width, r.Model.Heads = 128, 8
	r.Model.Transition.SeparableConvolution.Filter = 256
	r.Training.Schedule = cosine(1e-3, 1000)
	r.Training.Steps = min(10*r.Training.Steps, 150_000)
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = r.Training.Steps/75, 2000
}

// GridNamed gives a grid; a name that is not there is an error that offers the nearest.
func GridNamed(name string) (Grid, error) {
	var names []string
	for _, g := range Grids {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Grid{}, unknown("experiment", name, names)
}

// Tasks is the tasks a grid has unless somebody chooses: 1 to 20, or 0, all jointly.
func (g Grid) Tasks() (tasks []int) {
	if g.Joint {
		return []int{0}
	}
	for n := range babi.Tasks {
		tasks = append(tasks, n+1)
	}
	return tasks
}

// Run is the run of one task and seed. standIn, if not empty, is trained on where its name says.
func (g Grid) Run(path, standIn string, n int, seed uint64) Run {
	r := Babi()
	r.Name, r.Seed = g.Name, seed
	r.Task.Babi.Path, r.Task.Babi.Task = path, n
	if c := (babi.Babi{Path: path, Set: "en", Task: n, StandIn: standIn}); c.Validate() == nil {
		r.Task.Babi.StandIn = standIn
	}
	g.run(&r)
	return r
}

// Missing names a training file that a run needs and neither the distribution nor a stand-in has; nil if there is none.
func (g Grid) Missing(d *babi.Distribution, standIn string, n int) error {
	c := g.Run(d.Path(), standIn, n, 1).Task.Babi
	return d.Missing(*c)
}

// Adaptive tells whether the grid's model chooses its depth.
func (g Grid) Adaptive() bool { return strings.HasSuffix(g.Name, "-adaptive") }
