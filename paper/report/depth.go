package report

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
)

const depthIntroduction = `## Depth

Trained models, evaluated with other numbers of steps than in training and with exit rules, which end a position by what the model would answer after each step. The models are small and were trained for minutes: the curves show what depth does to them, not how good a model can be. *reverse-fixed* is a model of fixed depth for the task reverse, *reverse-adaptive* one with dynamic halting, and so on. [All points and figures](%s).

`

const depthClaim = `Section 2.1 of the paper says that the transition "can be applied any number of times", so that depth is variable. These models can be run at any depth, but %s of %s of fixed depth answers better with any larger number of steps than in training (one run of each, without a test). `

// depth writes the section on depth, and its page.
func (p *page) depth(files []DepthFile) {
	if len(files) == 0 {
		return
	}
	p.printf(depthIntroduction, path.Join(p.folder, "depth.md"))
	fixed, gains := 0, 0
	for _, f := range files {
		for _, r := range f.Runs {
			if len(r.rule("limit")) == 0 {
				fixed++
				gains += r.gains()
			}
		}
	}
	gaining := "none"
	if gains > 0 {
		gaining = fmt.Sprint(gains)
	}
	p.printf(depthClaim+"%s\n\n", gaining, count(fixed, "model"), bestRules(files))
	details := &page{files: p.files}
	details.printf("# Depth\n\nAll points of [RESULTS.md](../RESULTS.md), section depth. Steps are means over positions; those of a model with an encoder and a decoder are the mean of the two stacks' means. The rules of confidence, of unchanged answers and of divergence end positions of the stack that is read out; those of an encoder before a decoder run as many steps as trained. A rule needs the extra readouts; in graphs of a fixed shape all of them are computed. The examples are held out, those that an evaluation takes.\n\n")
	for _, f := range files {
		for _, r := range f.Runs {
			details.printf("- %s\n", escape(r.sentence()))
		}
	}
	details.printf("\n")
	details.compareRules(files)
	for _, f := range files {
		details.depthFile(f)
	}
	p.files["depth.md"] = details.text.Bytes()
}

// depthFile writes the figure and the points of a file.
func (p *page) depthFile(f DepthFile) {
	p.printf("## %s\n\n", f.Name)
	lines := plot.Lines{Title: f.Runs[0].Metric + " against depth: " + f.Name, XLabel: "mean steps per position", YLabel: f.Runs[0].Metric, LogY: f.Runs[0].falling()}
	for _, r := range f.Runs {
		if r.bothStacks() {
			lines.XLabel = "mean steps of encoder and decoder"
		}
		for _, rule := range depthRules {
			s := plot.Series{Name: r.Run + ": " + rule, Dots: true}
			for _, q := range r.rule(rule) {
				s.Points = append(s.Points, plot.Point{X: q.depth(), Y: q.Quality})
			}
			if rule == "trained" {
				s.Marked = 1
			}
			if len(s.Points) > 0 {
				lines.Series = append(lines.Series, s)
			}
		}
	}
	p.draw("depth-"+f.Name+".svg", lines.Title, lines.SVG())
	for _, r := range f.Runs {
		p.printf("%s: %s, %s, %s; configuration %s, %s, measured by %s\n\n", escape(r.Run), escape(r.Task), count(r.Examples, "example"), escape(r.Method),
			escape(r.Experiment), count(int(r.Checkpoint), "update"), escape(r.Version))
		stepHeads := []string{"steps"}
		if r.bothStacks() {
			stepHeads = []string{"encoder steps", "decoder steps"}
		}
		p.head(slices.Concat([]string{"exit", r.Metric}, stepHeads, []string{"extra readouts", "operations of the rule"})...)
		for _, q := range r.Points {
			readouts, operations := "-", "-"
			if q.Operations > 0 {
				readouts, operations = fmt.Sprintf("%.2f", q.Readouts), fmt.Sprintf("+%.1f %%", 100*q.Operations)
			}
			steps := []string{fmt.Sprintf("%.2f", q.Steps)}
			if r.bothStacks() {
				steps = []string{fmt.Sprintf("%.2f", q.Encoder), fmt.Sprintf("%.2f", q.Decoder)}
			}
			p.row(slices.Concat([]string{cmp.Or(q.Exit, "as trained"), quality(q.Quality)}, steps, []string{readouts, operations})...)
		}
		p.printf("\n")
	}
}

// quality formats a metric.
func quality(v float64) string { return fmt.Sprintf("%.4g", v) }

// falling reports whether smaller values of the metric are better.
func (r depthRun) falling() bool { return strings.HasPrefix(r.Metric, "perplexity") }

// bothStacks reports whether the model has an encoder and a decoder.
func (r depthRun) bothStacks() bool { return r.Points[0].Encoder > 0 && r.Points[0].Decoder > 0 }

// depth returns the mean number of steps of a position, over both stacks if the model has two.
func (q depthPoint) depth() float64 {
	if q.Encoder > 0 && q.Decoder > 0 {
		return (q.Encoder + q.Decoder) / 2
	}
	return q.Steps
}

// rule returns the points of a rule by rising steps.
func (r depthRun) rule(name string) (list []depthPoint) {
	for _, q := range r.Points {
		if q.Rule == name {
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b depthPoint) int { return cmp.Compare(a.depth(), b.depth()) })
	return list
}

// fixed returns the quality with a number of fixed steps, and whether it was measured.
func (r depthRun) fixed(steps float64) (float64, bool) {
	for _, q := range r.rule("fixed") {
		if q.Setting == steps {
			return q.Quality, true
		}
	}
	return 0, false
}

// gains returns 1 if a larger number of fixed steps than that of training is better, and otherwise 0.
func (r depthRun) gains() int {
	for _, q := range r.rule("fixed") {
		better := q.Quality > r.Points[0].Quality
		if r.falling() {
			better = q.Quality < r.Points[0].Quality
		}
		if q.Setting > r.Points[0].Steps && better {
			return 1
		}
	}
	return 0
}

// sentence describes the curve of a run.
func (r depthRun) sentence() string {
	own := r.Points[0]
	steps := math.Round(own.Steps)
	if limits := r.rule("limit"); len(limits) > 0 {
		text := fmt.Sprintf("%s, adaptive: %s %s with %.2f steps on average", r.Run, r.Metric, quality(own.Quality), own.Steps)
		for _, q := range limits {
			text += fmt.Sprintf("; %s in at most %.0f", quality(q.Quality), q.Setting)
		}
		if q, ok := r.fixed(steps); ok {
			text += fmt.Sprintf("; %s if the state after %.0f fixed steps is the answer, without the weighted mean", quality(q), steps)
		}
		return text + "."
	}
	text := fmt.Sprintf("%s, %.0f steps: %s %s", r.Run, steps, r.Metric, quality(own.Quality))
	var others []string
	for _, n := range []float64{1, steps - 1, steps + 1, 2 * steps} {
		if q, ok := r.fixed(n); ok {
			others = append(others, fmt.Sprintf("%s with %.0f", quality(q), n))
		}
	}
	return text + "; " + and(others) + "."
}
