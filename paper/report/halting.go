package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/sweep"
)

const haltingPage = "halting.md"

const haltingIntroduction = `# Objectives of halting

Small models of %s, each trained with fixed depth and with objectives of adaptive halting. [docs/depth.md](../docs/depth.md) describes the objectives and the tasks.

- Accuracy is that of the validation examples of the task, which also chose the checkpoint, so it is slightly too high in every row. No test example is used.
- Steps are the mean over all positions of these examples. With an encoder and a decoder, they are the mean of the two stacks' means.
- *Processor time* is that of training a run, the mean over seeds. Elapsed time is not shown, because other work ran on the machine.
- *Interpolated* is the accuracy minus that of fixed depth at equal mean steps: on the line between the two fixed depths around them. It is an estimate without a test.
- A column such as *2 steps* is the accuracy minus that of this fixed depth, over the seeds that both have. Each row is compared with every fixed depth that has at least as many steps, up to a hundredth. The smallest of these is the next depth. Fixed depth runs more steps there, unless both are equal, so "worse" may be due to fewer steps. If we assume that deeper fixed models are not worse, "better" also holds at equal mean steps. Where one position answers and no sequence has ten positions, its own steps have a column. "Better" than the next depth does not say that this position needs fewer steps; compare it with the fixed depth of as many steps.
- Tests are paired t-tests over seeds, because runs with the same seed have the same validation examples and see the training data in the same order. Without two seeds in common there is no test. Holm's method corrects the p-values for all %s of this page; a difference is better or worse if p < %v.
- The objective to use is worse than the next depth on no task, better on the largest number of tasks and, among equals, has the largest mean of *interpolated* over all tasks. All tasks count, because your task may be unlike the one where the objective is better. With few seeds only large differences count, so "not distinguishable" does not mean equal.

%s

`

// halting writes the page of objectives of halting, and a sentence of it here.
func (p *page) halting(files []HaltingFile) {
	if len(files) == 0 {
		return
	}
	list := compareHalting(files)
	p.printf("%s Fewer mean steps take less time only where halted positions are left out of the computation, as in training. [Objectives of halting](%s) on %s, which docs/depth.md describes.\n\n", whichObjective(files, list, false), path.Join(p.folder, haltingPage), count(len(files), "task"))
	tests := 0
	for _, c := range list {
		if c.tested() {
			tests++
		}
	}
	details := &page{files: p.files}
	details.printf(haltingIntroduction, count(len(files), "task"), count(tests, "test"), level, whichObjective(files, list, true))
	for _, f := range files {
		details.haltingTask(f, list)
	}
	p.files[haltingPage] = details.text.Bytes()
}

// haltingTask writes the section of a task.
func (p *page) haltingTask(f HaltingFile, list []haltingComparison) {
	folder := path.Join(sweep.HaltingFolder, f.Name)
	p.printf("## %s\n\nThe sweep [%s](%s) trains all rows: %s, at most %s, with `%s`. ", f.Name, f.Name+".json", folder+".json",
		count(f.updates, "update"), count(f.limit, "step"), strings.Join(f.file.Set, "`, `"))
	p.printf("Accuracy is the %s of %s. [Results](%s), trained by %s.\n\n", f.measure, examplesOf(f.counts), folder, escape(strings.Join(f.by, "; ")))
	heads := []string{"training", "seeds", "steps"}
	for _, column := range f.stepColumns() {
		heads = append(heads, column.title)
	}
	heads = append(heads, "processor time", "accuracy", "interpolated")
	depths := f.comparedDepths(list)
	for _, depth := range depths {
		heads = append(heads, count(depth, "step"))
	}
	p.head(heads...)
	for _, r := range f.rows {
		p.row(f.cells(r, depths, list)...)
	}
	p.printf("\n")
	if slices.ContainsFunc(f.rows, func(r haltingRow) bool { return len(r.answer) > 0 }) {
		p.printf("The last position answers. With adaptive halting it runs more steps than the mean; with fixed depth it runs as many as all others.\n\n")
	}
	long := slices.DeleteFunc(slices.Clone(f.rows), func(r haltingRow) bool { return len(r.last) == 0 })
	if slices.Contains(f.file.Set, "model.pool=last") && len(long) > 0 {
		low, high := extremes(long, func(r haltingRow) float64 { return mean(r.last) })
		p.printf("The last position answers. The last tenth of the positions, to which it belongs, runs %.2f to %.2f steps with adaptive halting, by row; with fixed depth it runs as many as all others. So *interpolated* compares with models whose answering position runs fewer steps.\n\n", low, high)
	}
	p.drawHalting(f)
}

// stepColumn is a column of mean steps that some rows of a file have.
type stepColumn struct {
	title string
	of    func(haltingRow) []float64
}

// stepColumns returns the columns of steps that the file has beside that of all positions.
func (f HaltingFile) stepColumns() (list []stepColumn) {
	encoder := stepColumn{"encoder", func(r haltingRow) []float64 { return r.encoder }}
	decoder := stepColumn{"decoder", func(r haltingRow) []float64 { return r.decoder }}
	answer := stepColumn{"answering position", func(r haltingRow) []float64 { return r.answer }}
	has := func(c stepColumn) bool {
		return slices.ContainsFunc(f.rows, func(r haltingRow) bool { return len(c.of(r)) > 0 })
	}
	if has(decoder) {
		list = append(list, encoder, decoder)
	}
	if has(answer) {
		list = append(list, answer)
	}
	return list
}

// comparedDepths returns the fixed depths with which rows of the file are compared, by rising depth.
func (f HaltingFile) comparedDepths(list []haltingComparison) (depths []int) {
	for _, c := range list {
		if c.file == f.Name {
			depths = appendNew(depths, c.depth)
		}
	}
	slices.Sort(depths)
	return depths
}

// cells returns the row of the table of a task, with comparisons with fixed depths.
func (f HaltingFile) cells(r haltingRow, depths []int, list []haltingComparison) []string {
	cells := make([]string, 3, 7)
	if len(r.accuracy) == 0 {
		cells[0], cells[1] = r.name, "not finished"
		return append(cells, make([]string, len(f.stepColumns())+3+len(depths))...)
	}
	cells[0], cells[1], cells[2] = r.title, fmt.Sprint(len(r.accuracy)), fmt.Sprintf("%.2f", r.steps())
	for _, column := range f.stepColumns() {
		steps := fmt.Sprintf("%.2f", r.steps())
		if r.fixed == 0 {
			steps = fmt.Sprintf("%.2f", mean(column.of(r)))
		}
		cells = append(cells, steps)
	}
	cells = append(cells, fmt.Sprintf("%.1f s", mean(r.seconds)), spread("%.3f", r.accuracy))
	if r.plain {
		return append(cells, make([]string, 1+len(depths))...)
	}
	cells = append(cells, comparison{difference: mean(r.accuracy) - f.interpolated(r.steps())}.gap("%+.3f"))
	outcomes := make([]string, len(depths))
	for _, c := range f.of(r.title, list) {
		outcomes[slices.Index(depths, c.depth)] = c.outcome()
	}
	return append(cells, outcomes...)
}

// outcome returns "+0.068, p = 0.002, better".
func (c haltingComparison) outcome() string {
	if c.test == noTest {
		return c.gap("%+.3f") + ", " + c.evidence()
	}
	return fmt.Sprintf("%s, %s, %s", c.gap("%+.3f"), probability(c.p), c.word())
}

// examplesOf returns "1,981 validation examples".
func examplesOf(counts []int) string {
	low, high := slices.Min(counts), slices.Max(counts)
	if low != high {
		return fmt.Sprintf("%s to %s", thousands(low), count(high, "validation example"))
	}
	return count(high, "validation example")
}

// drawHalting draws accuracy against mean steps.
func (p *page) drawHalting(f HaltingFile) {
	title := f.measure + " against mean steps: " + f.Name
	lines := plot.Lines{Title: title, XLabel: "mean steps per position", YLabel: f.measure, Shapes: true, Series: []plot.Series{{Name: "fixed depth", Dots: true}}}
	for _, r := range f.rows {
		if len(r.accuracy) == 0 {
			continue
		}
		m, deviation := moments(r.accuracy)
		point := plot.Point{X: r.steps(), Y: m, Deviation: deviation}
		if r.plain {
			lines.Series[0].Points = append(lines.Series[0].Points, point)
		} else {
			lines.Series = append(lines.Series, plot.Series{Name: r.title, Points: []plot.Point{point}, Dots: true})
		}
	}
	slices.SortFunc(lines.Series[0].Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	p.draw("halting-"+f.Name+".svg", title, lines.SVG())
	p.printf("Bars are standard deviations over seeds. The line joins the fixed depths; *interpolated* is the vertical distance from it.\n\n")
}
