package paper

import (
	"errors"
	"fmt"
	"math"

	"universal-transformer/task/babi"
)

// babiMeasured is what one run on bAbI came to.
type babiMeasured struct {
	StandIn           string     `json:"stand_in"` // file that was trained on in place of the distribution's; "" for none
	StandInQuestions  int        `json:"stand_in_questions,omitempty"`
	TrainingQuestions int        `json:"training_questions"`
	Validation        babiErrors `json:"validation"` // of the checkpoint that was chosen
	Tests             []babiTest `json:"tests"`      // one; one a task if all were trained jointly
}

// babiErrors counts wrong answers.
type babiErrors struct {
	Questions int `json:"questions"`
	Wrong     int `json:"wrong"`
}

func (e *babiErrors) count(a answered) {
	if !a.correct {
		e.Wrong++
	}
}

// percent is the share of wrong answers.
func (e babiErrors) percent() float64 {
	if e.Questions == 0 {
		return math.NaN()
	}
	return 100 * float64(e.Wrong) / float64(e.Questions)
}

// babiTest is the one measurement of a task's test set.
type babiTest struct {
	Task int `json:"task"`
	babiErrors
	PonderTimes []ponderTimes    `json:"ponder_times"` // of models that choose their depth
	Attention   []attentionShare `json:"attention"`    // step by step
}

// attentionShare is how much of its attention the question gave in one step to its supporting facts: the mean over heads, and over the
// stories whose question ran that far. Uniform is what it would be if all positions got the same.
type attentionShare struct {
	Stories int     `json:"stories"`
	Share   float64 `json:"share"`
	Uniform float64 `json:"uniform"`
}

func (a *attentionShare) divide() {
	a.Share, a.Uniform = a.Share/float64(a.Stories), a.Uniform/float64(a.Stories)
}

// ponderTimes is a histogram over all positions of the stories whose question has so many supporting facts.
type ponderTimes struct {
	SupportingFacts int   `json:"supporting_facts"`
	Stories         int   `json:"stories"`
	Positions       []int `json:"positions"` // how many ran for 1 step, 2 steps, ...
}

// add counts a story of which every position ran for so many steps.
func (p *ponderTimes) add(steps []int) {
	p.Stories++
	for _, n := range steps {
		for len(p.Positions) < n {
			p.Positions = append(p.Positions, 0)
		}
		p.Positions[n-1]++
	}
}

// plus adds two histograms.
func (p ponderTimes) plus(q ponderTimes) ponderTimes {
	sum := ponderTimes{SupportingFacts: p.SupportingFacts, Stories: p.Stories + q.Stories, Positions: make([]int, max(len(p.Positions), len(q.Positions)))}
	for _, positions := range [][]int{p.Positions, q.Positions} {
		for i, n := range positions {
			sum.Positions[i] += n
		}
	}
	return sum
}

// moments is the number of positions, and the mean and standard deviation of their steps.
func (p ponderTimes) moments() (n int, mean, deviation float64) {
	sum, squares := 0.0, 0.0
	for i, count := range p.Positions {
		steps := float64(i + 1)
		n += count
		sum += float64(count) * steps
		squares += float64(count) * steps * steps
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean = sum / float64(n)
	return n, mean, math.Sqrt(max(0, squares/float64(n)-mean*mean))
}

// usual is the number of steps that most positions ran, and the share of positions that did.
func (p ponderTimes) usual() (steps int, share float64) {
	total, most := 0, 0
	for i, count := range p.Positions {
		total += count
		if count > most {
			steps, most = i+1, count
		}
	}
	if total == 0 {
		return 0, 0
	}
	return steps, float64(most) / float64(total)
}

// Validate names what cannot be.
func (m *babiMeasured) Validate() error {
	if len(m.Tests) == 0 {
		return errors.New("tests are missing")
	}
	for i, t := range m.Tests {
		switch {
		case t.Task < 1 || t.Task > babi.Tasks:
			return fmt.Errorf("tests[%d].task is %d: tasks are 1 to %d", i, t.Task, babi.Tasks)
		case t.Questions < 1 || t.Wrong < 0 || t.Wrong > t.Questions:
			return fmt.Errorf("tests[%d].wrong is %d of %d questions", i, t.Wrong, t.Questions)
		}
	}
	if v := m.Validation; v.Questions < 1 || v.Wrong < 0 || v.Wrong > v.Questions {
		return fmt.Errorf("validation.wrong is %d of %d questions", v.Wrong, v.Questions)
	}
	return nil
}

// Summary is the errors of validation and test.
func (m *babiMeasured) Summary() string {
	all := babiErrors{}
	for _, t := range m.Tests {
		all.Questions, all.Wrong = all.Questions+t.Questions, all.Wrong+t.Wrong
	}
	return fmt.Sprintf("validation error %.1f %%, test error %.1f %% of %d questions", m.Validation.percent(), all.percent(), all.Questions)
}

// babiPaper is what the paper prints of one column of table 1 and one model: average error in percent over the tasks, and how many of
// 20 fail. For the model with dynamic halting, appendix C adds every task: the best of 10 seeds, and mean and deviation over them.
type babiPaper struct {
	Average float64
	Failed  int
	Best    []float64    // task 1 to 20
	Seeds   [][2]float64 // mean, deviation
}

// babiFails is the error, in percent, above which a task has failed.
const babiFails = 5

// babiPublished is table 1 and the tables of appendix C, by experiment.
var babiPublished = map[string]babiPaper{
	"babi-10k-single-transformer": {Average: 15.2, Failed: 10},
	"babi-10k-joint-transformer":  {Average: 22.1, Failed: 12},
	"babi-1k-single-transformer":  {Average: 21.8, Failed: 5},
	"babi-1k-joint-transformer":   {Average: 26.8, Failed: 14},
	"babi-10k-single":             {Average: 0.23, Failed: 0},
	"babi-10k-joint":              {Average: 0.47, Failed: 0},
	"babi-1k-single":              {Average: 5.31, Failed: 5},
	"babi-1k-joint":               {Average: 8.50, Failed: 8},
	"babi-10k-single-adaptive": {
		Average: 0.21, Failed: 0,
		Best: []float64{0, 0, 0.4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.4, 0.6, 0, 2.8, 0},
		Seeds: [][2]float64{{0, 0}, {0.2, 0.4}, {1.8, 1.8}, {0.1, 0.1}, {0.2, 0.3}, {0.1, 0.2}, {0.3, 0.5}, {0.3, 0.2}, {0, 0}, {0.1, 0.2},
			{0, 0}, {0.2, 0.1}, {0.2, 0.5}, {1.8, 2.6}, {2.1, 3.4}, {1.9, 2.2}, {1.6, 0.8}, {0.3, 0.4}, {3.4, 4.0}, {0, 0}},
	},
	"babi-10k-joint-adaptive": {
		Average: 0.29, Failed: 0,
		Best: []float64{0, 0, 1.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.2, 0.2, 0, 3.1, 0},
		Seeds: [][2]float64{{0, 0}, {1.7, 2.6}, {4.6, 7.3}, {0.2, 0.1}, {0.8, 0.5}, {0.1, 0.2}, {1.1, 1.5}, {0.5, 1.1}, {0, 0}, {0.5, 0.4},
			{0.1, 0.1}, {0.4, 0.4}, {0.3, 0.4}, {1.3, 1.6}, {1.6, 2.8}, {0.9, 1.3}, {1.4, 3.4}, {0.7, 1.4}, {6.1, 7.3}, {0, 0}},
	},
	"babi-1k-single-adaptive": {
		Average: 4.55, Failed: 3,
		Best: []float64{0, 0, 3.7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5.8, 32.0, 0, 47.1, 2.4},
		Seeds: [][2]float64{{0.2, 0.3}, {3.2, 4.1}, {9.1, 12.7}, {0.3, 0.3}, {1.1, 1.3}, {1.2, 2.1}, {0, 0}, {0.1, 0.2}, {0.1, 0.1}, {0.7, 0.8},
			{0.4, 0.8}, {0.6, 0.9}, {0.8, 0.9}, {0.1, 0.2}, {0.3, 0.5}, {9.1, 8.1}, {43.7, 18.6}, {2.3, 3.6}, {50.2, 8.4}, {3.2, 2.5}},
	},
	"babi-1k-joint-adaptive": {
		Average: 7.78, Failed: 5,
		Best: []float64{0, 0.5, 5.4, 0, 0.5, 0.5, 3.2, 1.6, 0.2, 0.4, 0.1, 0, 0.6, 3.8, 5.9, 15.4, 42.9, 4.1, 68.2, 2.4},
		Seeds: [][2]float64{{0.1, 0.2}, {4.3, 11.6}, {14.3, 18.1}, {0.4, 0.6}, {4.3, 5.6}, {0.8, 0.4}, {4.1, 2.9}, {3.9, 4.2}, {0.3, 0.3}, {1.3, 1.6},
			{0.3, 0.9}, {0.3, 0.4}, {1.1, 0.9}, {4.7, 5.2}, {10.3, 8.6}, {34.1, 22.8}, {51.1, 12.9}, {12.8, 9.0}, {73.1, 23.9}, {2.6, 2.8}},
	},
}

// babiPonder is section 3.1, ponder times of tasks that need one, two and three supporting facts: mean and deviation over all
// positions of the test.
var babiPonder = [][2]float64{{2.3, 0.8}, {3.1, 1.1}, {3.8, 2.2}}

// babiNames is the names of the tasks, from 1.
var babiNames = []string{"single supporting fact", "two supporting facts", "three supporting facts", "two-argument relations",
	"three-argument relations", "yes/no questions", "counting", "lists and sets", "simple negation", "indefinite knowledge",
	"basic coreference", "conjunction", "compound coreference", "time reasoning", "basic deduction", "basic induction",
	"positional reasoning", "size reasoning", "path finding", "agents' motivations"}
