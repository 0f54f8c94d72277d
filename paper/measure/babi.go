package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"universal-transformer/task/babi"
)

// Babi is the measurement of one run on bAbI.
type Babi struct {
	StandIn           string     `json:"stand_in"` // file that replaced the distribution's training file; "" for none
	StandInQuestions  int        `json:"stand_in_questions,omitempty"`
	TrainingQuestions int        `json:"training_questions"`
	Validation        Errors     `json:"validation"` // of the selected checkpoint
	Tests             []BabiTest `json:"tests"`      // one, or one per task if all were trained jointly
}

// Errors counts wrong answers.
type Errors struct {
	Questions int `json:"questions"`
	Wrong     int `json:"wrong"`
}

func (e *Errors) count(a answered) {
	if !a.correct {
		e.Wrong++
	}
}

// Percent returns the percentage of wrong answers.
func (e Errors) Percent() float64 {
	if e.Questions == 0 {
		return math.NaN()
	}
	return 100 * float64(e.Wrong) / float64(e.Questions)
}

// BabiTest is the measurement of one task's test set.
type BabiTest struct {
	Task int `json:"task"`
	Errors
	PonderTimes []PonderTimes    `json:"ponder_times"` // of models with dynamic halting
	Attention   []AttentionShare `json:"attention"`    // step by step
}

// AttentionShare is the share of the question's attention on its supporting facts in one step: the mean over heads, and over the stories
// whose question ran that step. Uniform is the share under uniform attention.
type AttentionShare struct {
	Stories int     `json:"stories"`
	Share   float64 `json:"share"`
	Uniform float64 `json:"uniform"`
}

func (a *AttentionShare) divide() {
	a.Share, a.Uniform = a.Share/float64(a.Stories), a.Uniform/float64(a.Stories)
}

// PonderTimes is a histogram over all positions of the stories whose question has a given number of supporting facts.
type PonderTimes struct {
	SupportingFacts int   `json:"supporting_facts"`
	Stories         int   `json:"stories"`
	Positions       []int `json:"positions"` // number that ran for 1 step, 2 steps, ...
}

// add counts a story, given the number of steps of each of its positions.
func (p *PonderTimes) add(steps []int) {
	p.Stories++
	for _, n := range steps {
		for len(p.Positions) < n {
			p.Positions = append(p.Positions, 0)
		}
		p.Positions[n-1]++
	}
}

// Plus returns the sum of two histograms.
func (p PonderTimes) Plus(q PonderTimes) PonderTimes {
	sum := PonderTimes{SupportingFacts: p.SupportingFacts, Stories: p.Stories + q.Stories, Positions: make([]int, max(len(p.Positions), len(q.Positions)))}
	for _, positions := range [][]int{p.Positions, q.Positions} {
		for i, n := range positions {
			sum.Positions[i] += n
		}
	}
	return sum
}

// Moments returns the number of positions, and the mean and standard deviation of their steps.
func (p PonderTimes) Moments() (n int, mean, deviation float64) {
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

// Mode returns the most frequent number of steps, and the share of positions that ran for it.
func (p PonderTimes) Mode() (steps int, share float64) {
	total, largest := 0, 0
	for i, count := range p.Positions {
		total += count
		if count > largest {
			steps, largest = i+1, count
		}
	}
	if total == 0 {
		return 0, 0
	}
	return steps, float64(largest) / float64(total)
}

// Validate returns an error that names the first invalid field.
func (m *Babi) Validate() error {
	switch {
	case len(m.Tests) == 0:
		return errors.New("tests are missing")
	case (m.StandIn == "") != (m.StandInQuestions == 0) || m.StandInQuestions < 0:
		return fmt.Errorf("stand_in is %q with %d stand_in_questions", m.StandIn, m.StandInQuestions)
	case m.TrainingQuestions < 1:
		return fmt.Errorf("training_questions is %d", m.TrainingQuestions)
	}
	last := 0
	for i, t := range m.Tests {
		if t.Task <= last || t.Task > babi.Tasks {
			return fmt.Errorf("tests[%d].task is %d: tasks are 1 to %d, each once and in order", i, t.Task, babi.Tasks)
		}
		last = t.Task
		if err := t.Errors.validate(fmt.Sprintf("tests[%d]", i)); err != nil {
			return err
		}
		if err := t.validate(); err != nil {
			return fmt.Errorf("tests[%d].%w", i, err)
		}
	}
	return m.Validation.validate("validation")
}

// validate checks ponder times and attention: both cover every question, and a question that runs a step has run those before.
func (t BabiTest) validate() error {
	stories := 0
	for _, p := range t.PonderTimes {
		stories += p.Stories
		if len(p.Positions) == 0 || slices.Min(p.Positions) < 0 {
			return fmt.Errorf("ponder_times has the positions %v: counts are needed, and cannot be negative", p.Positions)
		}
	}
	if stories != t.Questions && t.PonderTimes != nil {
		return fmt.Errorf("ponder_times has %d stories of %d questions", stories, t.Questions)
	}
	for step, a := range t.Attention {
		if step == 0 && a.Stories != t.Questions || a.Stories < 1 || step > 0 && a.Stories > t.Attention[step-1].Stories {
			return fmt.Errorf("attention has %d stories in step %d of %d questions", a.Stories, step+1, t.Questions)
		}
		if !(a.Share >= 0 && a.Share <= 1+1e-6 && a.Uniform >= 0 && a.Uniform <= 1) {
			return fmt.Errorf("attention is %+v in step %d: it is a share", a, step+1)
		}
	}
	return nil
}

func (e Errors) validate(field string) error {
	if e.Questions < 1 || e.Wrong < 0 || e.Wrong > e.Questions {
		return fmt.Errorf("%s.wrong is %d of %d questions", field, e.Wrong, e.Questions)
	}
	return nil
}

// Summary returns the validation and test errors.
func (m *Babi) Summary() string {
	all := Errors{}
	for _, t := range m.Tests {
		all.Questions, all.Wrong = all.Questions+t.Questions, all.Wrong+t.Wrong
	}
	return fmt.Sprintf("validation error %.1f %%, test error %.1f %% of %d questions", m.Validation.Percent(), all.Percent(), all.Questions)
}
