package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/internal/plot"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

var depthHelp = `depth evaluates one or more runs at many depths, as ut eval does: as trained, with 1, 2, 3, ...
fixed steps, also more than in training, and along the settings of each exit rule. It prints a table
of the task's metric against the mean number of steps. --svg draws it: a curve for each rule, and a
circle for the model as it was trained. Several runs appear in one plot; each is first tried on one
example, so that mistakes are found before any is measured. With --svg - the plot is on the standard
output, and the table on the standard error.

--rules chooses among these, and one that does not apply to a model is an error:
` + depthRulesHelp() + `
The mean number of steps is that of the positions of the decoder or, without one, of the encoder. A
rule reads the state out after each step, which costs time; the table has the extra readouts per
position. Graphs have a fixed shape, so that rules and thresholds only show how many steps are
needed. Fixed steps and a lower limit save time, too.

Ctrl-C ends it after printing what has been measured.

With --json: an array with an object for each run, with the fields
  version, run, experiment, checkpoint, task, examples, lengths, method
          as in ut eval
  metric  the name of the metric in question
  points  an array of objects: rule ("trained" or one of the above), setting (steps or threshold),
          exit, quality (the metric's value), metrics (as in ut eval), steps, encoder_steps and
          decoder_steps (means per position), extra_readouts, operations (the share that a rule adds
          to those of a pass of all steps) and seconds`

// depthRulesHelp returns a line for each of pipeline.DepthRules.
func depthRulesHelp() (text string) {
	for _, r := range pipeline.DepthRules {
		line := fmt.Sprintf("--%s, %s", ruleFlag(r), r.Measure)
		switch r.Name {
		case "fixed":
			line = "every position runs 1 to --steps steps, in encoder and decoder"
		case "limit", "threshold":
			line = "adaptive models: " + line
		}
		text += fmt.Sprintf("  %-11s %s\n", r.Name, line)
	}
	return text
}

// depthFlags holds the flags of ut depth.
type depthFlags struct {
	pipeline.Protocol
	rules       []string
	steps       int
	metric, svg string
	backend     string
	asJSON      bool

	measured func() // called after each point; may be nil
}

// depthRun is the JSON of one run.
type depthRun struct {
	Version    string                `json:"version"`
	Run        string                `json:"run"`
	Experiment string                `json:"experiment"`
	Checkpoint int64                 `json:"checkpoint"`
	Task       string                `json:"task"`
	Examples   int                   `json:"examples"`
	Lengths    string                `json:"lengths"`
	Method     string                `json:"method"`
	Metric     string                `json:"metric"`
	Points     []pipeline.DepthPoint `json:"points"`
}

func newDepth() *cobra.Command {
	var f depthFlags
	c := &cobra.Command{
		Use:   "depth RUN...",
		Short: "Evaluate trained models at many depths, and compare exit rules",
		Long:  depthHelp,
		Example: `  ut depth runs/reverse
  ut depth runs/reverse runs/reverse-adaptive --svg depth.svg
  ut depth runs/multi30k --rules fixed,confidence --steps 8 --count 500
  ut depth runs/text --metric "bits per token" --json`,
		Args: atLeast("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return err
			}
			return f.run(c, args)
		},
	}
	c.Flags().StringSliceVar(&f.rules, "rules", pipeline.DepthRuleNames(), "`rules` to evaluate, separated by commas")
	c.Flags().IntVar(&f.steps, "steps", 0, "evaluate 1 to `N` fixed steps (default twice the trained limit)")
	c.Flags().StringVar(&f.metric, "metric", "", "`name` of the metric; default the task's first, for sequences their accuracy")
	c.Flags().StringVar(&f.svg, "svg", "", "draw the curves to this `file`, - for the standard output")
	standardFlag(c, "svg")
	c.Flags().IntVar(&f.Selection.Length, "length", 0, "sources of exactly `N` tokens")
	c.Flags().IntVar(&f.Selection.Mix, "mix", 0, "sources of 1 to `N` tokens, every length equally often")
	c.Flags().IntVar(&f.Selection.Count, "count", 200, "number of examples; 0 for all")
	c.Flags().StringVar(&f.File, "data", "", "evaluate on the examples in this `file` instead")
	c.Flags().BoolVar(&f.TeacherForced, "teacher-forced", false, "predict every token from the true tokens before it")
	jsonFlag(c, &f.asJSON)
	backendFlag(c, &f.backend)
	return c
}

// check rejects values that no model supports.
func (f *depthFlags) check(c *cobra.Command, dirs []string) error {
	for _, rule := range f.rules {
		if !slices.Contains(pipeline.DepthRuleNames(), rule) {
			return usagef("--rules: %q is unknown: choose from %s", rule, strings.Join(pipeline.DepthRuleNames(), ", "))
		}
	}
	for _, name := range []string{"length", "mix"} {
		if f.File != "" && c.Flags().Changed(name) {
			return usagef("--%s and --data are both given: the lengths of a file are fixed", name)
		}
	}
	if err := cmp.Or(between(c, "steps", 1000), atLeastOne(c, "length"), atLeastOne(c, "mix")); err != nil {
		return err
	}
	if err := f.Selection.Validate(); err != nil {
		return usagef("--%w", err)
	}
	if f.svg == standard && f.asJSON {
		return usagef("--svg - and --json are both given: only one of them can be written to the standard output")
	}
	keep := append(keptRuns(nil, dirs...), keptData(f.File, "which the command reads")...)
	return checkOutput("svg", f.svg, keep...)
}

// run evaluates every run and writes what has been measured, also after an error. If there are several, all are checked first.
func (f *depthFlags) run(c *cobra.Command, dirs []string) error {
	if len(dirs) > 1 {
		if err := f.checkRuns(c, dirs); err != nil {
			return err
		}
	}
	var list []depthRun
	for _, dir := range dirs {
		var lock sync.Mutex // an interrupt may not wait for the evaluation
		saved := depthRun{Version: runlog.Version(), Run: dir}
		err := usingModel(c, dir, f.backend, func(m *pipeline.Model) error {
			return f.measure(c, m, func(update func(*depthRun)) {
				lock.Lock()
				defer lock.Unlock()
				update(&saved)
			})
		})
		lock.Lock()
		one := saved
		one.Points = slices.Clone(saved.Points)
		lock.Unlock()
		if len(one.Points) > 0 {
			list = append(list, one)
		}
		if err != nil {
			return errors.Join(withDataHint(err), f.write(c, list))
		}
	}
	return f.write(c, list)
}

// measure evaluates a run at all exits and saves each point.
func (f *depthFlags) measure(c *cobra.Command, m *pipeline.Model, save func(update func(*depthRun))) error {
	exits, err := f.exits(c, m)
	if err != nil {
		return err
	}
	var line *progress.Progress
	defer func() {
		if line != nil {
			line.Done()
		}
	}()
	for i, e := range exits {
		p := f.Protocol
		if i == 0 {
			p.Log = func(text string) { c.PrintErrln(text) }
		}
		p.Progress = func(done, total int) {
			if line == nil {
				line = progress.New(c.ErrOrStderr(), int64(total*len(exits)), "example")
			}
			line.Update(int64(i*total + done))
		}
		point, found, err := m.EvaluateAt(c.Context(), e, f.metric, p)
		if err != nil {
			return err
		}
		metric, err := pipeline.DepthMetric(found.Metrics, f.metric)
		if err != nil {
			return err
		}
		save(func(one *depthRun) {
			one.Experiment, one.Checkpoint, one.Task, one.Examples, one.Lengths, one.Method = m.Run.Name, m.Step, found.Task, found.Row.Count, found.Lengths, found.Method
			one.Metric, one.Points = metric, append(one.Points, point)
		})
		if f.measured != nil {
			f.measured()
		}
	}
	return nil
}

// write prints the table or JSON, and writes the plot.
func (f *depthFlags) write(c *cobra.Command, list []depthRun) error {
	if len(list) == 0 {
		return nil
	}
	if f.svg != "" {
		if err := writeOutput(c, f.svg, depthPlot(list)); err != nil {
			return err
		}
	}
	if f.asJSON {
		return writeJSON(c.OutOrStdout(), list)
	}
	var text bytes.Buffer
	for _, one := range list {
		fmt.Fprintf(&text, "%s, checkpoint of update %d\n%s, %s, %s, %s\n", one.Run, one.Checkpoint, one.Task, one.Lengths, quantity.Regular(one.Examples, "examples"), one.Method)
		table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
		fmt.Fprintf(table, "exit\t%s\tsteps\tencoder\tdecoder\textra readouts\tseconds\n", one.Metric)
		for _, p := range one.Points {
			readouts := "-"
			if p.Readouts > 0 || p.Operations > 0 {
				readouts = fmt.Sprintf("%.2f", p.Readouts)
			}
			fmt.Fprintf(table, "%s\t%.4g\t%.2f\t%s\t%s\t%s\t%.1f\n", cmp.Or(p.Exit, "as trained"), p.Quality, p.Steps, meanSteps(p.Encoder), meanSteps(p.Decoder), readouts, p.Seconds)
		}
		_ = table.Flush() // writes to a buffer do not fail
	}
	_, err := besides(c, f.svg).Write(text.Bytes())
	return err
}

// meanSteps formats a mean; a stack that the model does not have has none.
func meanSteps(n float64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", n)
}

// depthPlot draws quality against mean steps: a curve for each run and rule, and a circle for each run as it was trained.
func depthPlot(list []depthRun) []byte {
	lines := plot.Lines{Title: list[0].Metric + " against depth", XLabel: "mean steps per position", YLabel: list[0].Metric, LogY: strings.HasPrefix(list[0].Metric, "perplexity")}
	for _, one := range list {
		for _, rule := range append([]string{"trained"}, pipeline.DepthRuleNames()...) {
			series := plot.Series{Name: one.Run + ": " + ruleLegend(rule), Dots: true}
			if rule == "trained" {
				series.Marked = 1
			}
			for _, p := range one.Points {
				if p.Rule == rule {
					series.Points = append(series.Points, plot.Point{X: p.Steps, Y: p.Quality})
				}
			}
			slices.SortStableFunc(series.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
			if len(series.Points) > 0 {
				lines.Series = append(lines.Series, series)
			}
		}
	}
	return lines.SVG()
}
