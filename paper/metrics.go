package paper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// metricTable is a table of models by tasks that are measured by named metrics: tables 2 and 3. A model is an experiment, named by the
// table's prefix and the row's name, and trained on every task.
type metricTable struct {
	table   string // "table2"
	prefix  string // of experiments: "agreement"
	name    string // in the overview: "LAMBADA"
	title   string
	preface string // what a reader should know before comparing
	needs   []Need
	rows    []metricRow
	columns []metricColumn
	cases   func(task.Task) ([]task.Case, error) // what is measured
	kinds   func(task.Task) []task.Case          // parts of the test, easy to hard, of which ponder times are measured
}

// metricRow is a model.
type metricRow struct {
	name  string // in names of experiments: "lstm"; "" is the table's own model
	title string
	paper map[string][]string // the paper's figures, by the columns that have them, one a figure
	only  string              // the one task that it is trained on; "": all
}

// has says whether the model is trained on a task.
func (r metricRow) has(task string) bool { return r.only == "" || r.only == task }

// rowsOf is the models that are trained on a task.
func (t *metricTable) rowsOf(task string) (rows []metricRow) {
	for _, r := range t.rows {
		if r.has(task) {
			rows = append(rows, r)
		}
	}
	return rows
}

// metricColumn is a task, and a table of figures on the page.
type metricColumn struct {
	task      string // its label: "natural-text"
	title     string
	note      string // what to know of its figures
	figures   []figure
	baselines []baseline // what needs no model
	compared  string     // the metric of the last figure's set by which models are compared, the more the better
}

// figure is a column of the page: a metric of a set, and others in parentheses behind it.
type figure struct {
	title   string
	set     string   // "test"
	metrics []string // "3 attractors", "3 balanced"
	key     string   // in names of baselines: "3"
}

// baseline is a row of the page that comes with the data.
type baseline struct {
	title  string
	metric func(figure) string
}

// experiment is the name of a row's experiment.
func (t *metricTable) experiment(r metricRow) string {
	if r.name == "" {
		return t.prefix
	}
	return t.prefix + "-" + r.name
}

// Table is the table of the paper.
func (t *metricTable) Table() *Table {
	table := &Table{
		Name: t.table, Title: t.title, Needs: t.needs, Measure: t.measure, New: func() Measured { return new(metricsMeasured) },
		Overview: t.overview, Write: t.write,
	}
	for _, r := range t.rows {
		e := Experiment{Name: t.experiment(r), Summary: r.title}
		for _, c := range t.columns {
			if r.has(c.task) {
				e.Tasks = append(e.Tasks, c.task)
			}
		}
		table.Experiments = append(table.Experiments, e)
	}
	return table
}

// metricsMeasured is what one run came to.
type metricsMeasured struct {
	Sets  []metricSet  `json:"sets"`
	Kinds []ponderTime `json:"kinds,omitempty"` // at adaptive depth
}

// ponderTime is the steps of positions in examples of a kind: mean and standard deviation.
type ponderTime struct {
	Name     string  `json:"name"`
	Examples int     `json:"examples"`
	Encoder  float64 `json:"encoder_ponder,omitempty"`
	Decoder  float64 `json:"decoder_ponder,omitempty"`

	Deviation float64 `json:"ponder_deviation,omitempty"`
}

// metricSet is what was measured of a set of examples.
type metricSet struct {
	Name     string         `json:"name"` // "test"
	Examples int            `json:"examples"`
	Method   string         `json:"method"`
	Metrics  []score.Metric `json:"metrics"`
	Notes    []string       `json:"notes,omitempty"`
	Encoder  float64        `json:"encoder_ponder,omitempty"` // mean steps of a position, at adaptive depth
	Decoder  float64        `json:"decoder_ponder,omitempty"`

	Deviation float64   `json:"ponder_deviation,omitempty"` // over positions
	Tenths    []float64 `json:"ponder_tenths,omitempty"`    // mean steps of the first tenth of the positions of every sequence, of the second, ...
}

// Validate names what cannot be.
func (m *metricsMeasured) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	for i, s := range m.Sets {
		switch {
		case s.Name == "":
			return fmt.Errorf("sets[%d].name is empty", i)
		case s.Examples < 1:
			return fmt.Errorf("sets[%d].examples is %d", i, s.Examples)
		case len(s.Metrics) == 0:
			return fmt.Errorf("sets[%d].metrics are missing", i)
		case len(s.Tenths) != 0 && len(s.Tenths) != 10:
			return fmt.Errorf("sets[%d].ponder_tenths has %d numbers: it must have 10", i, len(s.Tenths))
		}
	}
	for i, k := range m.Kinds {
		if k.Name == "" || k.Examples < 1 || !(k.Encoder >= 0 && k.Decoder >= 0) {
			return fmt.Errorf("kinds[%d] is %+v: a name, examples and ponder times are needed", i, k)
		}
	}
	return nil
}

// Summary is the first metric of every set.
func (m *metricsMeasured) Summary() string {
	var texts []string
	for _, s := range m.Sets {
		texts = append(texts, fmt.Sprintf("%s: %s %s", s.Name, s.Metrics[0].Name, s.Metrics[0]))
	}
	return strings.Join(texts, ", ")
}

// metric is one of a set; false if it was not measured.
func (m *metricsMeasured) metric(set, name string) (score.Metric, bool) {
	for _, s := range m.Sets {
		if s.Name != set {
			continue
		}
		if at := slices.IndexFunc(s.Metrics, func(m score.Metric) bool { return m.Name == name }); at >= 0 {
			return s.Metrics[at], true
		}
	}
	return score.Metric{}, false
}

// measure measures all sets of the task by the task's own measure.
func (t *metricTable) measure(ctx context.Context, m *pipeline.Model, _ Cell, log func(string)) (Measured, error) {
	opened, err := m.Run.OpenTask()
	if err != nil {
		return nil, err
	}
	cases, err := t.cases(opened)
	if err != nil {
		return nil, err
	}
	by, found := m.Run.Task.Value.Measure(m.Vocabularies), &metricsMeasured{}
	for _, c := range cases {
		log(fmt.Sprintf("measuring %s, %s", c.Name, count(len(c.Examples), "example")))
		var row evaluation.Row
		if row, err = m.Evaluator().Measure(ctx, by, c.Examples); err != nil {
			return nil, err
		}
		set := metricSet{
			Name: c.Name, Examples: row.Examples, Method: row.Method, Metrics: row.Metrics, Notes: row.Notes, Encoder: row.Encoder.Mean, Decoder: row.Decoder.Mean,
		}
		if s := onlyStack(row); s.Mean > 0 {
			set.Deviation, set.Tenths = s.Deviation, s.Tenths[:]
		}
		found.Sets = append(found.Sets, set)
	}
	if first := found.Sets[0]; t.kinds == nil || first.Encoder+first.Decoder == 0 {
		return found, nil
	}
	for _, c := range t.kinds(opened) {
		log(fmt.Sprintf("measuring ponder times, %s, %s", c.Name, count(len(c.Examples), "example")))
		row, err := m.Evaluator().Measure(ctx, by, c.Examples)
		if err != nil {
			return nil, err
		}
		found.Kinds = append(found.Kinds, ponderTime{c.Name, row.Examples, row.Encoder.Mean, row.Decoder.Mean, onlyStack(row).Deviation})
	}
	return found, nil
}

// onlyStack is the steps of the encoder or the decoder: the models of these tables have one of them.
func onlyStack(row evaluation.Row) evaluation.Steps {
	if row.Encoder.Mean > 0 {
		return row.Encoder
	}
	return row.Decoder
}
