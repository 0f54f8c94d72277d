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
