package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"universal-transformer/halting"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// A DepthExit is one of the exits at which a model is evaluated.
type DepthExit struct {
	Rule    string  // "trained", or one of [DepthRules]
	Setting float64 // number of steps or threshold; 0 as trained
	halting.Exit
}

// DepthExits returns the exits of the given rules for the model: as trained, 1 to steps fixed steps, and the settings of each other rule.
// steps 0 means twice the trained limit, or as many as have weights if that is less.
func (m *Model) DepthExits(rules []string, steps int) ([]DepthExit, error) {
	deep, ok := m.trained.(universal.Deep)
	if !ok {
		return nil, fmt.Errorf("%s: a model of this kind %s, so it has no depth to vary (%s)", m.Dir(), m.fixedReading(), m.Describe())
	}
	list := []DepthExit{{Rule: "trained"}}
	add := func(rule string, settings []float64) {
		for _, s := range settings {
			e, err := NewDepthExit(rule, s)
			if err != nil {
				panic(err) // the rule and its settings are those of this file
			}
			if _, err := deep.WithExit(e.Exit); err == nil {
				list = append(list, e)
			}
		}
	}
	for _, name := range rules {
		rule, err := depthRule(name)
		if err != nil {
			return nil, err
		}
		if name == "fixed" {
			fixed, err := m.fixedExits(deep, steps)
			if err != nil {
				return nil, err
			}
			list = append(list, fixed...)
			continue
		}
		add(name, rule.Settings(deep))
	}
	return list, nil
}

// CheckExit returns the error that the model would have with an exit.
func (m *Model) CheckExit(e halting.Exit) error {
	if reflect.ValueOf(e).IsZero() {
		return nil
	}
	_, err := m.withExit(e)
	return err
}

// upTo returns 1, 2, ..., n.
func upTo(n int) (list []float64) {
	for i := 1; i <= n; i++ {
		list = append(list, float64(i))
	}
	return list
}

// fixedExits returns 1 to steps fixed steps.
func (m *Model) fixedExits(deep universal.Deep, steps int) (list []DepthExit, err error) {
	limit := steps
	if limit == 0 {
		if limit = min(2*deep.StepLimit(), halting.MaxSteps); limit == 0 {
			return nil, fmt.Errorf("%s: the number of steps is that of source tokens: choose how many fixed steps to evaluate", m.Dir())
		}
	}
	for n := 1; n <= limit; n++ {
		e := halting.Exit{Fixed: n}
		if _, err := deep.WithExit(e); err != nil && steps > 0 {
			return nil, fmt.Errorf("%s: %w", m.Dir(), err)
		} else if err != nil {
			break
		}
		list = append(list, DepthExit{"fixed", float64(n), e})
	}
	return list, nil
}

// A DepthPoint is the evaluation of a model with one exit.
type DepthPoint struct {
	Rule       string         `json:"rule"`
	Setting    float64        `json:"setting"`
	Exit       string         `json:"exit"`
	Quality    float64        `json:"quality"` // the value of the metric in question
	Metrics    []score.Metric `json:"metrics"`
	Steps      float64        `json:"steps"`         // mean steps of the positions of the stack that is read out
	Encoder    float64        `json:"encoder_steps"` // mean steps of the encoder's positions, 0 without one
	Decoder    float64        `json:"decoder_steps"`
	Readouts   float64        `json:"extra_readouts"` // of an exit rule, per position
	Operations float64        `json:"operations"`     // share that the rule adds
	Seconds    float64        `json:"seconds"`        // wall time, including compilation
}

// EvaluateAt evaluates the model with an exit. metric is the name of the metric that is the quality; "" means the first one or, for decoded
// sequences, their accuracy. Other calls meanwhile have the exit, too; afterwards that of before applies.
func (m *Model) EvaluateAt(ctx context.Context, e DepthExit, metric string, p Protocol) (point DepthPoint, found Evaluation, err error) {
	before, err := m.swapExit(e.Exit)
	if err != nil {
		return DepthPoint{}, Evaluation{}, err
	}
	defer func() { err = cmp.Or(err, m.SetExit(before)) }()
	start := time.Now()
	p.CountSteps = true
	if found, err = m.Evaluate(ctx, p); err != nil {
		return DepthPoint{}, found, err
	}
	point = DepthPoint{
		Rule: e.Rule, Setting: e.Setting, Exit: e.String(), Metrics: found.Metrics, Encoder: found.Encoder.Average(), Decoder: found.Decoder.Average(),
		Seconds: time.Since(start).Seconds(), Steps: cmp.Or(found.Decoder, found.Encoder).Average(),
	}
	if found.Readouts != nil {
		point.Readouts, point.Operations = found.Readouts.Extra, found.Readouts.Operations
	}
	point.Quality, err = m.quality(found.Metrics, metric)
	return point, found, err
}

// quality returns the value of the metric that EvaluateAt takes.
func (m *Model) quality(found []score.Metric, name string) (float64, error) {
	chosen, err := depthMetric(found, name)
	if math.IsNaN(chosen.Value) {
		err = fmt.Errorf("%s: %s has no value: evaluate more examples", m.Dir(), chosen.Name)
	}
	return chosen.Value, err
}

// DepthMetric returns the name of the metric that EvaluateAt takes, or an error if there is none with the name.
func DepthMetric(found []score.Metric, name string) (string, error) {
	metric, err := depthMetric(found, name)
	return metric.Name, err
}

// depthMetric returns the metric with a name, or the one that measures best what a task is about.
func depthMetric(found []score.Metric, name string) (score.Metric, error) {
	var names []string
	for _, m := range found {
		if m.Name == name || name == "" && m.Name == "sequence accuracy" {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if name == "" && len(found) > 0 {
		return found[0], nil
	}
	return score.Metric{}, fmt.Errorf("metric %q is unknown: choose from %s", name, strings.Join(names, ", "))
}

// readoutCost returns what the exit rule costs, with the operations for the example of median length.
func (m *Model) readoutCost(e *evaluation.Evaluator, row evaluation.Row, examples []task.Example) (*evaluation.Readouts, error) {
	steps := cmp.Or(row.Decoder, row.Encoder).Average() // the model may have no decoder
	cost := &evaluation.Readouts{Extra: max(0, steps-1)}
	if len(examples) == 0 {
		return cost, nil
	}
	without := m.exit
	without.Rule = nil
	plain, err := m.trained.(universal.Deep).WithExit(without)
	if err != nil {
		return nil, err
	}
	length := func(e task.Example) int { return len(e.Source) + len(e.Target) }
	sorted := slices.SortedFunc(slices.Values(examples), func(a, b task.Example) int { return cmp.Compare(length(a), length(b)) })
	ruled, err := e.Operations(sorted[len(sorted)/2])
	if err != nil {
		return nil, err
	}
	base := *e
	base.Model = plain
	operations, err := base.Operations(sorted[len(sorted)/2])
	if operations > 0 {
		cost.Operations = ruled/operations - 1
	}
	return cost, err
}
