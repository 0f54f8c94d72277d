package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// overfittingSettings are the settings of table 1 whose curves of training are compared with those of validation.
var overfittingSettings = []struct{ name, title string }{
	{"10k-single", "10k, single"}, {"1k-single", "1k, single"}, {"1k-single-renamed", "1k, single, words exchanged"},
}

// overfits reports whether a run went on to fit its training data while validation became worse: after the lowest validation cross entropy, training
// fell, and validation rose by more than a tenth.
func overfits(c *sweep.Curve) bool {
	const risen = 1.1
	last := len(c.Updates) - 1
	lowest := slices.Index(c.Validation, slices.Min(c.Validation))
	return c.TrainingNats[last] < c.TrainingNats[lowest] && c.Validation[last] > risen*c.Validation[lowest]
}

// trained returns, for each task of a row, the run that recorded a curve of training, and of several the one with the lowest validation cross
// entropy.
func (b book) trained(family string) (list []run) {
	t := paper.Table1()
	for _, c := range t.Columns {
		runs := slices.DeleteFunc(withCurve(b.of(family, c.Name)), func(r run) bool { return r.Curve.TrainingNats == nil })
		if len(runs) > 0 {
			list = append(list, slices.MinFunc(runs, func(x, y run) int { return cmp.Compare(x.Validation, y.Validation) }))
		}
	}
	return list
}

// overfitTasks returns the number of tasks of a row in which the run of trained overfits, that in which it does not but ends at perfect validation,
// and that of all with curves.
func (b book) overfitTasks(family string) (overfit, perfect, of int) {
	for _, r := range b.trained(family) {
		switch {
		case overfits(r.Curve):
			overfit++
		case r.Stopped == "accuracy":
			perfect++
		}
		of++
	}
	return overfit, perfect, of
}

// overfittingRow returns the number of tasks in which a row overfits, and means over the tasks; nil without curves.
func (b book) overfittingRow(family string) []string {
	runs := b.trained(family)
	if len(runs) == 0 {
		return nil
	}
	var training, lowest, end []float64
	perfect := 0
	for _, r := range runs {
		if r.Stopped == "accuracy" {
			perfect++
		}
		last := len(r.Curve.Updates) - 1
		training, lowest, end = append(training, r.Curve.TrainingNats[last]), append(lowest, slices.Min(r.Curve.Validation)), append(end, r.Curve.Validation[last])
	}
	overfit, _, of := b.overfitTasks(family)
	return []string{fmt.Sprintf("%d of %d tasks", overfit, of), fmt.Sprint(perfect), fmt.Sprintf("%.3f", mean(training)), fmt.Sprintf("%.3f", mean(lowest)), fmt.Sprintf("%.3f", mean(end))}
}

// overfitting compares training with validation, in a table and in a figure for each setting. It writes nothing if no run recorded a curve of
// training.
func (p *page) overfitting() {
	var rows [][]string
	for _, s := range overfittingSettings {
		for _, m := range paper.BabiModels {
			if row := p.book.overfittingRow("babi-" + s.name + m.Suffix); row != nil {
				rows = append(rows, append([]string{s.title, m.Title}, row...))
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.printf("## Overfitting (section 3.1)\n\nOf each task the run that recorded a curve of training, and of several the one with the lowest validation cross entropy; the other runs, often with a lower one, cannot be judged. A run overfits if, after its lowest validation, training falls and validation " +
		"rises by more than a tenth. Runs that end at perfect validation end before they could overfit. Means over the tasks, in nats; training has dropout. Runs of earlier versions have no curve of training.\n\n")
	p.head("setting", "model", "overfits in", "ended at perfect validation", "training at the end", "validation, lowest", "validation at the end")
	for _, row := range rows {
		p.row(row...)
	}
	p.printf("\n")
	for _, s := range overfittingSettings {
		if m := p.trainingCurves(s.name, s.title); len(m.Panels) > 0 {
			p.draw("table1-overfitting-"+s.name+".svg", m.Title, m.SVG())
		}
	}
}

// trainingCurves draws training and validation of the Transformer and of the Universal Transformer, task by task.
func (p *page) trainingCurves(setting, title string) plot.Multiples {
	m := plot.Multiples{Title: "Training and validation cross entropy over updates: " + title}
	panels := map[string]*plot.Lines{}
	for _, model := range paper.BabiModels[:2] {
		for _, r := range p.book.trained("babi-" + setting + model.Suffix) {
			if panels[r.column] == nil {
				panels[r.column] = &plot.Lines{LogY: true}
			}
			training, validation := curvePoints(r.Curve, r.Curve.TrainingNats), curvePoints(r.Curve, r.Curve.Validation)
			panels[r.column].Series = append(panels[r.column].Series,
				plot.Series{Name: model.Title + ", training", Points: training}, plot.Series{Name: model.Title + ", validation", Points: validation})
		}
	}
	for _, c := range paper.Table1().Columns {
		panel := panels[c.Name]
		if panel == nil {
			continue
		}
		panel.Title = columnTitle(c)
		m.Panels = append(m.Panels, *panel)
		for _, s := range panel.Series {
			if !slices.Contains(m.Names, s.Name) {
				m.Names = append(m.Names, s.Name)
			}
		}
	}
	return m
}

// curvePoints returns the points of cross entropies over updates.
func curvePoints(c *sweep.Curve, nats []float64) (points []plot.Point) {
	for i, v := range nats {
		points = append(points, plot.Point{X: float64(c.Updates[i]), Y: max(v, lowestNats)})
	}
	return points
}

// judgeOverfitting reproduces the claim if the Transformer overfits in all tasks with curves of training and validation, and contradicts it if it
// does not in most.
func judgeOverfitting(b book) judgement {
	var curves, ours []string
	overfit, perfect, of := 0, 0, 0
	for _, s := range overfittingSettings {
		if n, ended, total := b.overfitTasks("babi-" + s.name + "-transformer"); total > 0 {
			curves = append(curves, fmt.Sprintf("%d of %d tasks of %s", n, total, plain(s.title)))
			overfit, perfect, of = overfit+n, perfect+ended, of+total
		}
		if text := b.besideUT("babi-" + s.name); text != "" {
			ours = append(ours, plain(s.title)+" "+text)
		}
	}
	if of == 0 {
		return judgement{verdict: NotRun, why: "no curves of training and validation of a Transformer"}
	}
	j := judgement{ours: "overfits in " + strings.Join(curves, ", ") + "; test errors " + strings.Join(ours, ", "), verdict: NotReproduced,
		brief: fmt.Sprintf("overfits in %d of %d models", overfit, of),
		why:   fmt.Sprintf("after its lowest validation cross entropy, training falls and validation rises by more than a tenth; of the other %d runs, %d ended at perfect validation", of-overfit, perfect)}
	switch {
	case overfit == of:
		j.verdict = Reproduced
	case 2*overfit < of:
		j.verdict = Contradicted
	}
	return j
}

// besideUT compares the average errors of the Transformer and of the Universal Transformer over the tasks that both have: "20.1 % (UT 20.9) over
// 19". It returns "" if there are none.
func (b book) besideUT(setting string) string {
	var own, other []babiTask
	universal := b.babiRow(setting)
	for _, s := range b.babiRow(setting + "-transformer") {
		if at := slices.IndexFunc(universal, func(u babiTask) bool { return u.task == s.task }); at >= 0 {
			own, other = append(own, universal[at]), append(other, s)
		}
	}
	if len(own) == 0 {
		return ""
	}
	a, ofOther := averageBabi(own), averageBabi(other)
	return fmt.Sprintf("%.2f %% (UT %.2f) over %d", ofOther.best, a.best, a.tasks)
}
