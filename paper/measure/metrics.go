package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/agreement"
	"universal-transformer/task/lambada"
)

// Metrics is the measurement of one run of table 2 or 3: named metrics of test sets.
type Metrics struct {
	Sets  []MetricSet  `json:"sets"`
	Kinds []PonderTime `json:"kinds,omitempty"` // of models with dynamic halting
}

// MetricSet is the measurement of one set of examples.
type MetricSet struct {
	Name     string         `json:"name"` // "test"
	Examples int            `json:"examples"`
	Method   string         `json:"method"`
	Metrics  []score.Metric `json:"metrics"`
	Notes    []string       `json:"notes,omitempty"`
	Encoder  float64        `json:"encoder_ponder,omitempty"` // mean steps per position of models with dynamic halting
	Decoder  float64        `json:"decoder_ponder,omitempty"`

	Deviation float64   `json:"ponder_deviation,omitempty"` // over positions
	Tenths    []float64 `json:"ponder_tenths,omitempty"`    // mean steps by tenths of the positions of a sequence
}

// PonderTime holds mean and standard deviation of the steps per position in examples of one kind.
type PonderTime struct {
	Name     string  `json:"name"`
	Examples int     `json:"examples"`
	Encoder  float64 `json:"encoder_ponder,omitempty"`
	Decoder  float64 `json:"decoder_ponder,omitempty"`

	Deviation float64 `json:"ponder_deviation,omitempty"`
}

// Validate returns an error that names the first invalid field.
func (m *Metrics) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	var names []string
	for _, s := range m.Sets {
		names = append(names, s.Name)
	}
	if err := checkNames(names); err != nil {
		return err
	}
	for i, s := range m.Sets {
		switch {
		case s.Examples < 1:
			return fmt.Errorf("sets[%d].examples is %d", i, s.Examples)
		case len(s.Metrics) == 0:
			return fmt.Errorf("sets[%d].metrics are missing", i)
		case len(s.Tenths) != 0 && len(s.Tenths) != 10:
			return fmt.Errorf("sets[%d].ponder_tenths has %d numbers: it must have 10", i, len(s.Tenths))
		case !(s.Encoder >= 0 && s.Decoder >= 0 && s.Deviation >= 0):
			return fmt.Errorf("sets[%d] has the ponder times %v and %v ± %v: they cannot be negative", i, s.Encoder, s.Decoder, s.Deviation)
		}
		if err := cmp.Or(checkMetrics(s.Metrics), checkPonder(s.Encoder+s.Decoder, s.Deviation, s.Tenths, s.spread())); err != nil {
			return fmt.Errorf("sets[%d]: %w", i, err)
		}
	}
	return m.validateKinds()
}

// validateKinds checks the ponder times of kinds, which divide the examples of the set "test".
func (m *Metrics) validateKinds() error {
	examples, spread := 0, slices.ContainsFunc(m.Sets, MetricSet.spread)
	for i, k := range m.Kinds {
		if k.Name == "" || k.Examples < 1 || !(k.Encoder >= 0 && k.Decoder >= 0) {
			return fmt.Errorf("kinds[%d] is %+v: a name, examples and ponder times are needed", i, k)
		}
		if err := checkPonder(k.Encoder+k.Decoder, k.Deviation, nil, spread); err != nil {
			return fmt.Errorf("kinds[%d]: %w", i, err)
		}
		examples += k.Examples
	}
	for i, s := range m.Sets {
		if s.Name != "test" || s.Examples != examples || !spread { // some examples have no kind
			continue
		}
		if err := checkKinds(s.Encoder+s.Decoder, s.Deviation, m.Kinds); err != nil {
			return fmt.Errorf("sets[%d]: %w", i, err)
		}
	}
	return nil
}

// spread reports whether the set has the deviation of ponder times, which earlier versions did not measure.
func (s MetricSet) spread() bool { return s.Deviation != 0 || s.Tenths != nil }

// Summary returns the first metric of every set.
func (m *Metrics) Summary() string {
	var texts []string
	for _, s := range m.Sets {
		texts = append(texts, fmt.Sprintf("%s: %s %s", s.Name, s.Metrics[0].Name, s.Metrics[0]))
	}
	return strings.Join(texts, ", ")
}

// Metric returns a metric of a set. ok is false if it was not measured.
func (m *Metrics) Metric(set, name string) (metric score.Metric, ok bool) {
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

// agreementCases returns the test set of table 2, and its rows by the number of attractors, for ponder times.
func agreementCases(opened task.Task) (sets, kinds []task.Case, err error) {
	examples, err := opened.HeldOut(task.TestSeed, task.Selection{})
	if t, ok := opened.(*agreement.Task); ok {
		kinds = t.ByAttractors()
	}
	return []task.Case{{Name: "test", Examples: examples}}, kinds, err
}

// lambadaCases returns the sets of table 3, and its test passages by the number of occurrences of the answer in the context.
func lambadaCases(opened task.Task) (sets, kinds []task.Case, err error) {
	t, ok := opened.(*lambada.Task)
	if !ok {
		return nil, nil, fmt.Errorf("the task is %s, which is not part of table 3", opened.Name())
	}
	return t.Cases(), t.ByOccurrence(), nil
}

// cases measures sets of examples with the task's measure and, for models with dynamic halting, the ponder times of kinds of examples.
func cases(list func(task.Task) (sets, kinds []task.Case, err error)) Func {
	return func(ctx context.Context, m *pipeline.Model, _ sweep.Cell, log func(string)) (sweep.Measured, error) {
		opened, err := m.Run.OpenTask()
		if err != nil {
			return nil, err
		}
		sets, kinds, err := list(opened)
		if err != nil {
			return nil, err
		}
		by, measured := m.Run.Task.Value.Measure(m.Vocabularies), &Metrics{}
		for _, c := range sets {
			log(fmt.Sprintf("measuring %s, %s", c.Name, quantity.Regular(len(c.Examples), "examples")))
			row, err := m.Evaluator().Measure(ctx, by, c.Examples)
			if err != nil {
				return nil, err
			}
			measured.Sets = append(measured.Sets, metricSet(c.Name, row))
		}
		cached, err := cachedSets(ctx, m, sets, log)
		if err != nil {
			return nil, err
		}
		measured.Sets = append(measured.Sets, cached...)
		if first := measured.Sets[0]; first.Encoder+first.Decoder == 0 {
			return measured, nil
		}
		for _, c := range kinds {
			log(fmt.Sprintf("measuring ponder times, %s, %s", c.Name, quantity.Regular(len(c.Examples), "examples")))
			row, err := m.Evaluator().Measure(ctx, by, c.Examples)
			if err != nil {
				return nil, err
			}
			measured.Kinds = append(measured.Kinds, PonderTime{c.Name, row.Count, row.Encoder.Average(), row.Decoder.Average(), onlyStack(row).Deviation})
		}
		return measured, nil
	}
}

func metricSet(name string, row evaluation.Row) MetricSet {
	set := MetricSet{
		Name: name, Examples: row.Count, Method: row.Method, Metrics: row.Metrics, Notes: row.Notes, Encoder: row.Encoder.Average(), Decoder: row.Decoder.Average(),
	}
	s := onlyStack(row)
	set.Deviation = s.Deviation
	for _, tenth := range s.Tenths {
		if tenth == nil { // sequences are too short for tenths
			set.Tenths = nil
			break
		}
		set.Tenths = append(set.Tenths, *tenth)
	}
	return set
}

// onlyStack returns the steps of the encoder or the decoder; the models of these tables have only one of them. Fixed depth has none.
func onlyStack(row evaluation.Row) evaluation.Steps {
	if s := cmp.Or(row.Encoder, row.Decoder); s != nil {
		return *s
	}
	return evaluation.Steps{}
}
