package paper

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/task"
)

// sequences is a table of models by tasks whose answers are sequences: tables 4, 5 and 6. A model is an experiment, named by the
// table's prefix and the row's name, and trained on every task.
type sequences struct {
	table   string // "table4"
	prefix  string // of experiments: "algorithmic"
	title   string
	preface string // what a reader should know before comparing
	rows    []sequenceRow
	columns []sequenceColumn
	sets    []sequenceSet                     // what is measured; the table has the first ones, as Shown says
	kinds   func(task.Definition) []task.Case // sets of one kind each, which show what is hard
	axis    string                            // of the figure of accuracy by length: "symbols"; "" for none
	trained int                               // longest length of training, shaded in the figure
}

// sequenceRow is a model.
type sequenceRow struct {
	name  string // in names of experiments: "both-ends"; "" is the table's own model
	title string
	told  string      // what its positions tell the model, or how else its training differs
	paper []string    // what the paper has for it, a figure a column; nil: the paper has no such row
	only  []string    // the tasks it is trained on; nil: all
	from  *Pretrained // the run whose weights training starts from; nil: random weights
}

// has tells whether the row has a cell for a task.
func (r sequenceRow) has(task string) bool { return r.only == nil || slices.Contains(r.only, task) }

// sequenceColumn is a task.
type sequenceColumn struct {
	task string // its label
}

// sequenceSet is one set of examples that a model is measured on.
type sequenceSet struct {
	name   string // "length 400"
	choice task.Selection
	forced bool // teacher forcing besides decoding
	shown  bool // in the table
	length int  // where the set stands in the figure of accuracy by length; 0: nowhere
}

// experiment is the name of a row's experiment.
func (s *sequences) experiment(r sequenceRow) string {
	if r.name == "" {
		return s.prefix
	}
	return s.prefix + "-" + r.name
}

// Table is the table of the paper.
func (s *sequences) Table() *Table {
	t := &Table{
		Name: s.table, Title: s.title, Measure: s.measure, New: func() Measured { return new(sequencesMeasured) },
		Overview: s.overview, Write: s.write,
	}
	for _, r := range s.rows {
		e := Experiment{Name: s.experiment(r), Summary: r.title, Pretrained: r.from}
		for _, c := range s.columns {
			if r.has(c.task) {
				e.Tasks = append(e.Tasks, c.task)
			}
		}
		t.Experiments = append(t.Experiments, e)
	}
	return t
}

// sequencesMeasured is what one run came to.
type sequencesMeasured struct {
	Sets []measuredSet `json:"sets"`
}

// measuredSet is one set of examples, decoded, and with teacher forcing where that was asked for.
type measuredSet struct {
	Name     string       `json:"name"`
	Examples int          `json:"examples"`
	Decoded  score.Score  `json:"decoded"`
	Forced   *score.Score `json:"forced,omitempty"`
	Cut      int          `json:"cut,omitempty"` // answers that did not end
	// FirstWrong is, of the answers that are wrong, the mean place of the first wrong token, as a share of the target's length.
	FirstWrong float64 `json:"first_wrong,omitempty"`
	Encoder    float64 `json:"encoder_ponder,omitempty"` // mean steps of a position, at adaptive depth and with teacher forcing
	Decoder    float64 `json:"decoder_ponder,omitempty"`
}

// accuracies is the paper's "0.91 (0.35)": tokens, End included, and whole sequences in parentheses.
func accuracies(s score.Score) string {
	return fmt.Sprintf("%s (%s)", decimals(s.Tokens), decimals(s.Sequences))
}

// decimals writes a share with three decimals, or as many as it takes not to be 1 if anything was wrong.
func decimals(a score.Accuracy) string {
	digits := 3
	for a.Correct < a.Total && strings.HasPrefix(fmt.Sprintf("%.*f", digits, a.Value()), "1") {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, a.Value())
}

// Validate names what cannot be.
func (m *sequencesMeasured) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	for i, s := range m.Sets {
		switch {
		case s.Name == "":
			return fmt.Errorf("sets[%d].name is empty", i)
		case s.Examples < 1 || s.Decoded.Sequences.Total != s.Examples:
			return fmt.Errorf("sets[%d].decoded has %d sequences of %d examples", i, s.Decoded.Sequences.Total, s.Examples)
		case s.Forced != nil && s.Forced.Sequences.Total != s.Examples:
			return fmt.Errorf("sets[%d].forced has %d sequences of %d examples", i, s.Forced.Sequences.Total, s.Examples)
		}
	}
	return nil
}

// Summary is the sets in a line.
func (m *sequencesMeasured) Summary() string {
	text := ""
	for i, s := range m.Sets {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s: %s", s.Name, accuracies(s.Decoded))
	}
	return text
}

// set is the set of a name, nil if it was not measured.
func (m *sequencesMeasured) set(name string) *measuredSet {
	if at := slices.IndexFunc(m.Sets, func(s measuredSet) bool { return s.Name == name }); at >= 0 {
		return &m.Sets[at]
	}
	return nil
}
