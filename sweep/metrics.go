package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// Protocol determines on which examples models are measured by the measure of their task: of a user's sweep, and of a [Cell] without Measure.
type Protocol struct {
	task.Selection
	File          string `json:"file,omitempty"`           // examples of this file, in the task's format, instead
	TeacherForced bool   `json:"teacher_forced,omitempty"` // predict every token from the true tokens before it, instead of decoding
}

func (p Protocol) validate() error {
	if err := p.Selection.Validate(); err != nil {
		return fmt.Errorf("measure.%w", err)
	}
	if p.File != "" && p.Selection != (task.Selection{}) {
		return errors.New("measure.file is given with other examples: choose one")
	}
	return nil
}

// pipeline returns the protocol in the form of [pipeline.Model.Evaluate].
func (p Protocol) pipeline() pipeline.Protocol {
	return pipeline.Protocol{Selection: p.Selection, File: p.File, TeacherForced: p.TeacherForced}
}

// place names the field of a sweep's file that chooses the examples.
func (p Protocol) place() string {
	switch {
	case p.File != "":
		return "measure.file: "
	case p.Length > 0 || p.Mix > 0 || p.Hard: // the error begins with the name
		return "measure."
	}
	return "measure: "
}

// measure measures a model with [pipeline.Model.Evaluate].
func (p Protocol) measure(ctx context.Context, m *pipeline.Model, _ Cell, log func(string)) (Measured, error) {
	protocol := p.pipeline()
	protocol.Log = log
	found, err := m.Evaluate(ctx, protocol)
	if err != nil {
		return nil, err
	}
	all := &Metrics{Examples: found.Row.Count, Lengths: found.Lengths, Measure: &p, Encoder: found.Encoder, Decoder: found.Decoder}
	if p.Validation {
		all.Lengths = "validation, " + all.Lengths
	}
	if p.File != "" {
		all.FileDigest = task.DigestExamples(found.Examples)
	}
	for _, metric := range found.Metrics {
		if !math.IsNaN(metric.Value) && !math.IsInf(metric.Value, 0) {
			all.Metrics = append(all.Metrics, metricOf(metric))
		}
	}
	return all, nil
}

// Metrics holds the measurements of a user's sweep: the metrics of the task, the main one first.
type Metrics struct {
	Examples int      `json:"examples"`
	Lengths  string   `json:"lengths"` // which examples: "length 40", "validation, lengths 60..100", "of test.tsv"
	Metrics  []Metric `json:"metrics"`

	Measure    *Protocol `json:"measure,omitempty"`     // nil in results of earlier versions
	FileDigest string    `json:"file_digest,omitempty"` // of the examples of Measure.File

	// Steps of positions; nil for a stack that does not exist or is not adaptive, and in results of earlier versions.
	Encoder *pipeline.PonderTime `json:"encoder_steps,omitempty"`
	Decoder *pipeline.PonderTime `json:"decoder_steps,omitempty"`
}

// Metric is one figure. For a share, Correct and Total are its counts; for other figures both are 0.
type Metric struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Correct int     `json:"correct,omitempty"`
	Total   int     `json:"total,omitempty"`
}

func metricOf(m score.Metric) Metric {
	return Metric{Name: m.Name, Value: m.Value, Correct: m.Accuracy.Correct, Total: m.Accuracy.Total}
}

// figures returns the metrics and the mean steps of adaptive stacks.
func (m *Metrics) figures() []Metric {
	list := slices.Clip(m.Metrics)
	if m.Encoder != nil {
		list = append(list, Metric{Name: "encoder steps", Value: m.Encoder.Mean})
	}
	if m.Decoder != nil {
		list = append(list, Metric{Name: "decoder steps", Value: m.Decoder.Mean})
	}
	return list
}

// Validate returns an error that names the first invalid field.
func (m *Metrics) Validate() error {
	if m.Examples < 1 {
		return fmt.Errorf("examples is %d: it must be positive", m.Examples)
	}
	if len(m.Metrics) == 0 {
		return errors.New("metrics is empty: a measurement has at least one finite figure")
	}
	for i, metric := range m.Metrics {
		switch share := score.Share("", score.Accuracy{Correct: metric.Correct, Total: metric.Total}); {
		case metric.Name == "":
			return fmt.Errorf("metrics[%d].name is empty", i)
		case metric.Correct < 0 || metric.Correct > metric.Total:
			return fmt.Errorf("metrics[%d].correct is %d of %d", i, metric.Correct, metric.Total)
		case metric.Total > 0 && math.Abs(share.Value-metric.Value) > 1e-9:
			return fmt.Errorf("metrics[%d].value is %v, but %d of %d are correct", i, metric.Value, metric.Correct, metric.Total)
		}
	}
	return cmp.Or(validSteps("encoder_steps", m.Encoder), validSteps("decoder_steps", m.Decoder))
}

// validSteps returns an error if a position would have less than one step, or a sequence no tenth with positions.
func validSteps(name string, s *pipeline.PonderTime) error {
	if s == nil {
		return nil
	}
	if !(s.Mean >= 1) || math.IsInf(s.Mean, 0) || !(s.Deviation >= 0) {
		return fmt.Errorf("%s: mean is %v and deviation %v: a position has at least one step", name, s.Mean, s.Deviation)
	}
	tenths := 0
	for i, tenth := range s.Tenths {
		if tenth == nil {
			continue
		}
		if tenths++; !(*tenth >= 1) || math.IsInf(*tenth, 0) {
			return fmt.Errorf("%s.tenths[%d] is %v: a position has at least one step", name, i, *tenth)
		}
	}
	if tenths == 0 {
		return fmt.Errorf("%s.tenths: none has a value", name)
	}
	return nil
}

// Summary returns the metrics in one line.
func (m *Metrics) Summary() string {
	var list []string
	for _, metric := range m.Metrics {
		list = append(list, fmt.Sprintf("%s %.4g", metric.Name, metric.Value))
	}
	return strings.Join(list, ", ")
}
