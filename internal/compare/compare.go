// Package compare compares runs: their configurations, curves, scores on the same examples, and answers. It writes a page or a text.
package compare

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/curves"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// Options determine what is compared.
type Options struct {
	Protocol pipeline.Protocol // the examples that the runs answer; a Count of 0 is all of them
	WholeSet bool              // tasks whose measure needs all examples, such as BLEU, ignore the Count
	Examples int               // number of examples to show
	Curves   bool              // do not load the models: no scores and no answers
	Begin    func(run string)  // called before a run is evaluated; may be nil
	Advise   func(error) error // adds what to do to the error of an evaluation; may be nil
}

// A Run is one of the runs that are compared.
type Run struct {
	Name       string // short, unique among the runs
	Info       pipeline.Info
	Rows       []curves.Row
	Estimated  bool // the times of Rows are in proportion to the steps, because the run has no events
	Evaluation *pipeline.Evaluation
	Problem    string // why there is no evaluation; "" if there is one, or none was asked for
	Unloaded   bool   // there is none because the model cannot be loaded

	sources, targets, answers []string // of the examples, as text
	losses                    []loss   // of the examples, if the task is measured by probabilities
	measure                   measure
}

// A Difference is a field of the configuration that is not the same in all runs.
type Difference struct {
	Field  string
	Values []string // JSON, one per run; "" if the run's configuration does not have the field
}

// A Comparison is the result.
type Comparison struct {
	Version     string
	Runs        []Run
	Differences []Difference
	Pairs       []Pair // every two runs that answered the same examples
	Examples    []Example
	Problems    []string // of reading the runs: what is damaged, and what is used instead
	Notes       []string
}

// Of compares the runs in directories. What cannot be read of a run, apart from its configuration, is left out and
// named in Problems.
func Of(ctx context.Context, backend compute.Backend, dirs []string, o Options) (*Comparison, error) {
	c := &Comparison{Version: runlog.Version()}
	if err := c.read(dirs); err != nil || o.Curves {
		return c, err
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		if o.Begin != nil {
			o.Begin(r.Name)
		}
		notes, err := r.evaluate(ctx, backend, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if o.Advise != nil {
				err = o.Advise(err)
			}
			r.Problem = printable(err.Error())
			c.forgetProblems(r.Problem)
		}
		for _, note := range notes {
			c.addProblem(note)
		}
	}
	c.compareScores()
	c.Examples = c.examples(o.Examples)
	return c, nil
}

// read reads the runs without their models.
func (c *Comparison) read(dirs []string) error {
	names := ShortNames(dirs)
	var fields [][]experiment.Explanation
	for i, dir := range dirs {
		r := Run{Name: names[i]}
		var err error
		if r.Info, err = pipeline.ReadInfo(dir); err != nil {
			return err
		}
		c.readRows(&r)
		config, err := pipeline.ReadRun(dir)
		if err != nil {
			return err
		}
		fields = append(fields, slices.DeleteFunc(config.Explain(), func(e experiment.Explanation) bool { return strings.Contains(e.Field, "[].") })) // fields of any element
		c.Runs = append(c.Runs, r)
	}
	c.Differences = differences(fields)
	return nil
}

// readRows reads the rows of a run, and adds to the problems why some are missing, or else what Info says.
func (c *Comparison) readRows(r *Run) {
	var err error
	switch r.Rows, err = curves.Read(r.Info.Run); {
	case errors.Is(err, runlog.ErrDamaged):
		c.addProblem(err.Error() + "; the figures before that line are used")
	case err != nil:
		c.addProblem(err.Error() + "; these figures are missing")
	case r.Info.Problem != "":
		c.addProblem(r.Info.Problem)
	}
	r.estimateTimes()
}

// addProblem adds what was wrong when a run was read, unless it is part of a problem that is already there.
func (c *Comparison) addProblem(text string) {
	text = printable(text)
	if !slices.ContainsFunc(c.Problems, func(known string) bool { return strings.Contains(known, text) }) {
		c.forgetProblems(text)
		c.Problems = append(c.Problems, text)
	}
}

// forgetProblems removes the problems that are part of a longer text.
func (c *Comparison) forgetProblems(text string) {
	c.Problems = slices.DeleteFunc(c.Problems, func(known string) bool { return strings.Contains(text, known) })
}

// ShortNames returns the last elements of directories, or the directories where two would be equal, without control characters.
func ShortNames(dirs []string) []string {
	count := map[string]int{}
	for _, dir := range dirs {
		count[filepath.Base(dir)]++
	}
	names := make([]string, len(dirs))
	for i, dir := range dirs {
		if names[i] = filepath.Base(dir); count[names[i]] > 1 || names[i] == "." || names[i] == ".." {
			names[i] = dir
		}
		names[i] = printable(names[i])
	}
	return names
}

// estimateTimes gives the rows of a run without events times in proportion to their steps.
func (r *Run) estimateTimes() {
	if slices.ContainsFunc(r.Rows, func(row curves.Row) bool { return row.Seconds != nil }) || r.Info.Step == 0 {
		return
	}
	r.Estimated = true
	for i := range r.Rows {
		seconds := r.Info.Seconds * float64(r.Rows[i].Step) / float64(r.Info.Step)
		r.Rows[i].Seconds = &seconds
	}
}

// differences returns the fields whose values are not the same in all configurations, in the order of the configurations. The name of a run is
// none of them.
func differences(configurations [][]experiment.Explanation) (list []Difference) {
	at := map[string]int{}
	var all []Difference
	for i, fields := range configurations {
		for _, f := range fields {
			k, known := at[f.Field]
			if !known {
				k = len(all)
				at[f.Field] = k
				all = append(all, Difference{f.Field, make([]string, len(configurations))})
			}
			all[k].Values[i] = f.Value
		}
	}
	for _, d := range all {
		if d.Field != "name" && slices.ContainsFunc(d.Values, func(v string) bool { return v != d.Values[0] }) {
			list = append(list, d)
		}
	}
	return list
}

// Metric returns the figure of a run with a name as text, with its 95 % interval; "" if it has none.
func (r Run) Metric(name string) string {
	if r.Evaluation == nil {
		return ""
	}
	for _, m := range r.Evaluation.Metrics {
		if m.Name != name {
			continue
		}
		if m.Accuracy.Total > 0 {
			low, high := m.Accuracy.Interval95()
			return fmt.Sprintf("%.4f (%.4f..%.4f)", m.Value, low, high)
		}
		if low, high, ok := r.measure.interval(r); ok && name == r.measure.name {
			return fmt.Sprintf("%.4g (%.4g..%.4g)", m.Value, low, high)
		}
		return m.String()
	}
	return ""
}

// metricNames returns the names of all figures of all runs, in order.
func (c *Comparison) metricNames() (names []string) {
	for _, r := range c.Runs {
		if r.Evaluation == nil {
			continue
		}
		for _, m := range r.Evaluation.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}
