package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// deep is a model whose steps are limited; it can run at most possible fixed steps.
type deep struct {
	universal.Model
	adaptive        bool
	limit, possible int
}

var errTooDeep = errors.New("too deep")

func (d deep) Adaptive() bool         { return d.adaptive }
func (d deep) StepLimit() int         { return d.limit }
func (d deep) SelectsPositions() bool { return d.adaptive }
func (d deep) WithExit(e halting.Exit) (universal.Deep, error) {
	if e.Fixed > d.possible || e.Steps > d.possible {
		return nil, errTooDeep
	}
	return d, nil
}

// emptyRun is a run directory without a checkpoint.
func emptyRun(t *testing.T) *runlog.Run {
	t.Helper()
	log, err := runlog.Create(t.TempDir()+"/run", map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// Fixed steps go up to the number that is asked for, or to twice the limit, to 1000 or to what the model can run.
func TestFixedExits(t *testing.T) {
	log := emptyRun(t)
	for _, c := range []struct {
		limit, possible, steps int
		last                   int
		fails                  string
	}{
		{3, 100, 0, 6, ""}, {3, 5, 0, 5, ""}, {3, 100, 2, 2, ""}, {3, 100, 1, 1, ""}, {3, 100, 9, 9, ""}, {3, 5, 5, 5, ""}, {3, 5, 6, 0, "too deep"},
		{499, 5000, 0, 998, ""}, {500, 5000, 0, 1000, ""}, {501, 5000, 0, 1000, ""}, {1, 100, 0, 2, ""}, {0, 100, 4, 4, ""},
		{0, 100, 0, 0, "the number of steps is that of source tokens: choose how many fixed steps to evaluate"},
	} {
		m := &Model{trained: deep{limit: c.limit, possible: c.possible}, log: log}
		list, err := m.DepthExits([]string{"fixed"}, c.steps)
		refused(t, c, err, c.fails)
		if err != nil {
			if list != nil || !strings.HasPrefix(err.Error(), log.Dir()+": ") {
				t.Errorf("%+v: %d exits, %v", c, len(list), err)
			}
			continue
		}
		if len(list) != c.last+1 || !slices.Equal(list[:1], []DepthExit{{Rule: "trained"}}) {
			t.Fatalf("%+v: %d exits after %+v", c, len(list)-1, list[0])
		}
		for i, e := range list[1:] {
			if e.Rule != "fixed" || e.Setting != float64(i+1) || e.Exit != (halting.Exit{Fixed: i + 1}) {
				t.Errorf("%+v: exit %d is %+v", c, i+1, e)
			}
		}
	}
}

// The settings of the other rules. A limit below the trained one exists for adaptive models alone.
func TestSettingsOfRules(t *testing.T) {
	log := emptyRun(t)
	for _, c := range []struct {
		rule     string
		model    deep
		settings []float64
		exit     func(float64) halting.Exit
	}{
		{"limit", deep{adaptive: true, limit: 4, possible: 9}, []float64{1, 2, 3}, func(s float64) halting.Exit { return halting.Exit{Steps: int(s)} }},
		{"limit", deep{adaptive: true, limit: 4, possible: 2}, []float64{1, 2}, func(s float64) halting.Exit { return halting.Exit{Steps: int(s)} }},
		{"limit", deep{limit: 4, possible: 9}, nil, nil},
		{"threshold", deep{}, []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}, func(s float64) halting.Exit { return halting.Exit{Threshold: s} }},
		{"confidence", deep{}, []float64{0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999}, func(s float64) halting.Exit { return halting.Exit{Rule: halting.Confidence{Least: s}} }},
		{"unchanged", deep{}, []float64{1, 2, 3}, func(s float64) halting.Exit { return halting.Exit{Rule: halting.Unchanged{Steps: int(s)}} }},
		{"divergence", deep{}, []float64{3, 1, 0.3, 0.1, 0.03, 0.01, 0.001}, func(s float64) halting.Exit { return halting.Exit{Rule: halting.Divergence{Below: s}} }},
	} {
		list, err := (&Model{trained: c.model, log: log}).DepthExits([]string{c.rule}, 0)
		want := []DepthExit{{Rule: "trained"}}
		for _, s := range c.settings {
			want = append(want, DepthExit{c.rule, s, c.exit(s)})
		}
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("%s of %+v: %+v, %v", c.rule, c.model, list, err)
		}
	}
}

// The quality is the metric that is named, or else the accuracy of sequences, or else the first one.
func TestDepthMetric(t *testing.T) {
	of := func(names ...string) (list []score.Metric) {
		for i, name := range names {
			list = append(list, score.Metric{Name: name, Value: float64(i)})
		}
		return list
	}
	m := &Model{log: emptyRun(t)}
	for _, c := range []struct {
		found      []score.Metric
		name, want string
		fails      string
	}{
		{of("a", "sequence accuracy", "b"), "", "sequence accuracy", ""}, {of("a", "sequence accuracy", "b"), "b", "b", ""}, {of("a", "sequence accuracy"), "a", "a", ""},
		{of("a", "b"), "", "a", ""}, {of("a"), "", "a", ""}, {of("a"), "sequence accuracy", "", `metric "sequence accuracy" is unknown: choose from a`},
		{of("a", "b"), "c", "", `metric "c" is unknown: choose from a, b`}, {nil, "", "", `metric "" is unknown`},
	} {
		got, err := depthMetric(c.found, c.name)
		refused(t, c, err, c.fails)
		if name, err := DepthMetric(c.found, c.name); got.Name != c.want || name != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q and %q, %v", c, got.Name, name, err)
		}
		quality, err := m.quality(c.found, c.name)
		refused(t, c, err, c.fails)
		if quality != got.Value {
			t.Errorf("%+v: quality %v, want %v", c, quality, got.Value)
		}
	}
	if _, err := m.quality([]score.Metric{{Name: "a", Value: math.NaN()}}, ""); err == nil || err.Error() != m.Dir()+": a has no value: evaluate more examples" {
		t.Error(err)
	}
}

// uncounted is a backend whose executables do not report their cost.
type uncounted struct{ compute.Backend }

func (b uncounted) Builder(name string) compute.Builder {
	return uncountedBuilder{b.Backend.Builder(name)}
}

type uncountedBuilder struct{ compute.Builder }

func (b uncountedBuilder) Compile() (compute.Executable, error) {
	executable, err := b.Builder.Compile()
	return struct{ compute.Executable }{executable}, err
}

// What a rule costs: a readout for each step but the last, and the operations that it adds to those of the example of median length, which are
// those of the same model without the rule.
func TestReadoutCost(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	example := func(source, target int) task.Example {
		return task.Example{Source: slices.Repeat([]vocab.ID{3}, source), Target: slices.Repeat([]vocab.ID{4}, target)}
	}
	middle := example(12, 2)
	examples := []task.Example{example(3, 14), middle, example(1, 1), example(5, 5)} // 17, 14, 2 and 10 tokens
	operations := func(e halting.Exit) float64 {
		t.Helper()
		if err := m.SetExit(e); err != nil {
			t.Fatal(err)
		}
		n, err := m.Evaluator().Operations(middle)
		if err != nil || n <= 0 {
			t.Fatalf("%v operations, %v", n, err)
		}
		return n
	}
	plain, ruled := operations(halting.Exit{Steps: 2}), operations(halting.Exit{Steps: 2, Rule: halting.Confidence{Least: 0.5}})
	if ruled <= plain {
		t.Fatalf("%v operations with the rule, %v without", ruled, plain)
	}
	steps := func(n float64) *evaluation.Steps { return &evaluation.Steps{Mean: n} }
	for _, c := range []struct {
		row      evaluation.Row
		examples []task.Example
		want     evaluation.Readouts
	}{
		{evaluation.Row{Encoder: steps(7), Decoder: steps(2.5)}, examples, evaluation.Readouts{Extra: 1.5, Operations: ruled/plain - 1}},
		{evaluation.Row{Encoder: steps(1.5)}, examples[:2], evaluation.Readouts{Extra: 0.5}}, {evaluation.Row{Decoder: steps(0.5)}, nil, evaluation.Readouts{}},
		{evaluation.Row{Decoder: steps(3)}, nil, evaluation.Readouts{Extra: 2}},
	} {
		got, err := m.readoutCost(m.Evaluator(), c.row, c.examples)
		if err != nil {
			t.Fatal(err)
		}
		if got.Extra != c.want.Extra || len(c.examples) != 2 && math.Abs(got.Operations-c.want.Operations) > 1e-12 || len(c.examples) == 2 && got.Operations <= 0 {
			t.Errorf("%+v: %+v, want %+v", c.row, *got, c.want)
		}
	}
	e := m.Evaluator()
	e.Backend = uncounted{e.Backend}
	if got, err := m.readoutCost(e, evaluation.Row{Decoder: steps(3)}, examples); err != nil || *got != (evaluation.Readouts{Extra: 2}) {
		t.Errorf("on a backend that counts no operations: %+v, %v", got, err)
	}
	if s := fmt.Sprint(upTo(3), upTo(0)); s != "[1 2 3] []" {
		t.Error(s)
	}
}
