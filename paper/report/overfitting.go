package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// overfits reports whether a run went on to fit its training data while validation became worse: after the lowest validation cross entropy, training
// fell, and validation rose by more than a tenth. A rise to the cross entropy that label smoothing asks for is none.
func overfits(c *sweep.Curve, smoothing float64) bool {
	const risen = 1.1
	last := len(c.Updates) - 1
	lowest := slices.Index(c.Validation, slices.Min(c.Validation))
	return c.TrainingNats[last] < c.TrainingNats[lowest] && c.Validation[last] > risen*max(c.Validation[lowest], -math.Log(1-smoothing))
}

// smoothing returns the label smoothing of a run, 0 if its configuration cannot be read.
func (r run) smoothing() float64 {
	trained, err := experiment.Decode(r.Config)
	if err != nil {
		return 0
	}
	smoothing, _ := trained.Fields()["training.label_smoothing"].(float64)
	return smoothing
}

// trained returns the runs of a task, or of a joint model, that recorded a curve of training. Models of one task that were trained on a stand-in
// are left out.
func (b book) trained(family, column string) []run {
	return slices.DeleteFunc(withCurve(b.of(family, column)), func(r run) bool {
		return r.Curve.TrainingNats == nil || column != "joint" && r.measured.(*measure.Babi).StandIn != ""
	})
}

// A fitting counts the runs of a row by how their training ended, and has means over them, in nats.
type fitting struct {
	overfit, perfect, neither int     // perfect: all validation answers were right at the end
	training, lowest, end     float64 // training at the end, the lowest validation, validation at the end
}

func (f fitting) of() int { return f.overfit + f.perfect + f.neither }

// fitting judges the runs of a row that recorded a curve of training.
func (b book) fitting(family string) (f fitting) {
	var runs []run
	for _, c := range paper.Table1().Columns {
		runs = append(runs, b.trained(family, c.Name)...)
	}
	var training, lowest, end []float64
	for _, r := range runs {
		switch {
		case r.Stopped == "accuracy" || r.Stopped == "perfect":
			f.perfect++
		case overfits(r.Curve, r.smoothing()):
			f.overfit++
		default:
			f.neither++
		}
		last := len(r.Curve.Updates) - 1
		training, lowest, end = append(training, r.Curve.TrainingNats[last]), append(lowest, slices.Min(r.Curve.Validation)), append(end, r.Curve.Validation[last])
	}
	f.training, f.lowest, f.end = mean(training), mean(lowest), mean(end)
	return f
}

// overfitting compares training with validation, in a table and in a figure for each setting. It writes nothing if no run recorded a curve of
// training.
func (p *page) overfitting() {
	var rows [][]string
	for _, s := range paper.BabiSettings {
		for _, m := range paper.BabiModels {
			if f := p.book.fitting("babi-" + s.Name + m.Suffix); f.of() > 0 {
				rows = append(rows, []string{s.Title, m.Title, fmt.Sprint(f.of()), fmt.Sprint(f.overfit), fmt.Sprint(f.perfect), fmt.Sprint(f.neither),
					fmt.Sprintf("%.3f", f.training), fmt.Sprintf("%.3f", f.lowest), fmt.Sprintf("%.3f", f.end)})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.printf("## Overfitting (section 3.1)\n\nAll runs that recorded a curve of training, without those of task 3 on other files; earlier versions recorded none. "+
		"A run overfits if, after its lowest validation cross entropy, training falls, by however little, and validation rises by more than a tenth. A rise to 0.105 nats does not count, because a label smoothing of 0.1 asks for it. Errors may still fall, and the checkpoint is chosen by them. A run that ended because all its validation answers were right did not overfit. "+
		"Cross entropies are means over the runs, in nats. That of training is of the current weights, with dropout and, in its settings, exchanged words; that of validation is of the mean of weights, where one is kept: in %s of the current weights. The figures show one run of each task, that of the lowest seed with such a curve. %s\n\n", and(withoutAverage()), lowestNote)
	p.head("setting", "model", "runs", "overfit", "ended at perfect validation", "neither", "training at the end", "validation, lowest", "validation at the end")
	for _, row := range rows {
		p.row(row...)
	}
	p.printf("\n")
	for _, s := range paper.BabiSettings {
		if m := p.trainingCurves(s.Name, s.Title); len(m.Panels) > 0 {
			p.draw("table1-overfitting-"+s.Name+".svg", m.Title, m.SVG())
		}
	}
	p.errorsInTraining()
}

// withoutAverage returns the titles of the settings whose recipes keep no mean of the weights.
func withoutAverage() (titles []string) {
	for _, s := range paper.BabiSettings {
		row, _ := paper.Table1().Row("babi-" + s.Name)
		if average, _ := recipes.MustRun(row.Family + "/" + row.Columns[0]).Fields()["training.average"].(float64); average == 0 {
			titles = append(titles, plain(s.Title))
		}
	}
	return titles
}

// withErrors returns the runs whose curves have the errors of training and validation.
func withErrors(runs []run) []run {
	return slices.DeleteFunc(runs, func(r run) bool { return r.Curve.TrainingErrors == nil || r.Curve.ValidationErrors == nil })
}

// errorsInTraining compares the errors of training with those of validation, as overfitting does for cross entropies. It writes nothing if no run
// recorded them.
func (p *page) errorsInTraining() {
	var rows [][]string
	for _, s := range paper.BabiSettings {
		for _, m := range paper.BabiModels {
			var training, lowest, end []float64
			for _, c := range paper.Table1().Columns {
				for _, r := range withErrors(p.book.trained("babi-"+s.Name+m.Suffix, c.Name)) {
					wrong, last := r.Curve.ValidationErrors, len(r.Curve.Updates)-1
					training, lowest, end = append(training, 100*r.Curve.TrainingErrors[last]), append(lowest, 100*slices.Min(wrong)), append(end, 100*wrong[last])
				}
			}
			if n := len(end); n > 0 {
				rows = append(rows, []string{s.Title, m.Title, fmt.Sprint(n), fmt.Sprintf("%.2f", mean(training)), fmt.Sprintf("%.2f", mean(lowest)), fmt.Sprintf("%.2f", mean(end))})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.printf("The same in wrong answers, in percent, of the runs whose results have them; those of earlier versions do not. Training answers are those of the current weights, with dropout, so that their errors may be above those of validation. The lowest validation error of a run is one of many, and so too low.\n\n")
	p.head("setting", "model", "runs", "training at the end", "validation, lowest", "validation at the end")
	for _, row := range rows {
		p.row(row...)
	}
	p.printf("\n")
	for _, s := range paper.BabiSettings {
		if m := p.errorCurves(s.Name, s.Title); len(m.Panels) > 0 {
			p.draw("table1-errors-"+s.Name+".svg", m.Title, m.SVG())
		}
	}
}

// trainingCurves draws the cross entropies of training and validation of the Transformer and of the Universal Transformer, task by task.
func (p *page) trainingCurves(setting, title string) plot.Multiples {
	m := plot.Multiples{Title: "Training and validation cross entropy over updates: " + title}
	p.addPanels(&m, setting, plot.Lines{LogY: true, Floor: lowestNats}, func(runs []run) []run { return runs },
		func(c *sweep.Curve) (training, validation []float64) { return c.TrainingNats, c.Validation })
	return m
}

// errorCurves draws their errors, in percent, of the runs that recorded them.
func (p *page) errorCurves(setting, title string) plot.Multiples {
	m := plot.Multiples{Title: "Wrong answers in training and validation over updates, %: " + title}
	percent := func(shares []float64) (out []float64) {
		for _, v := range shares {
			out = append(out, 100*v)
		}
		return out
	}
	p.addPanels(&m, setting, plot.Lines{}, withErrors,
		func(c *sweep.Curve) (training, validation []float64) {
			return percent(c.TrainingErrors), percent(c.ValidationErrors)
		})
	return m
}

// addPanels adds a panel of each task to a figure, with training and validation of the Transformer and of the Universal Transformer: of those runs
// that are kept, the one with the lowest seed.
func (p *page) addPanels(m *plot.Multiples, setting string, empty plot.Lines, kept func([]run) []run, of func(*sweep.Curve) (training, validation []float64)) {
	panels := map[string]*plot.Lines{}
	for _, model := range paper.BabiModels[:2] {
		for _, c := range paper.Table1().Columns {
			runs := kept(p.book.trained("babi-"+setting+model.Suffix, c.Name))
			if len(runs) == 0 {
				continue
			}
			r := runs[0]
			if panels[r.column] == nil {
				panel := empty
				panels[r.column] = &panel
			}
			trainingValues, validationValues := of(r.Curve)
			training, validation := curvePoints(r.Curve, trainingValues), curvePoints(r.Curve, validationValues)
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
}

// curvePoints returns the points of values over updates.
func curvePoints(c *sweep.Curve, values []float64) (points []plot.Point) {
	for i, v := range values {
		points = append(points, plot.Point{X: float64(c.Updates[i]), Y: v})
	}
	return points
}

// judgeOverfitting reproduces the claim if all Transformers with curves of training and validation overfit, and contradicts it if fewer than half do,
// of those that did not end at perfect validation, where training ended. Settings with words exchanged, which the paper does not have, are only
// listed.
func judgeOverfitting(b book) judgement {
	var curves, ours []string
	var all fitting
	for _, s := range paper.BabiSettings {
		if f := b.fitting("babi-" + s.Name + "-transformer"); f.of() > 0 {
			own := b.fitting("babi-" + s.Name)
			curves = append(curves, fmt.Sprintf("%d of %d of %s (UT %d of %d)", f.overfit, f.overfit+f.neither, plain(s.Title), own.overfit, own.overfit+own.neither))
			if !paper.ExchangesWords(s.Name) {
				all.overfit, all.perfect, all.neither = all.overfit+f.overfit, all.perfect+f.perfect, all.neither+f.neither
			}
			if text := b.besideUT("babi-" + s.Name); text != "" {
				ours = append(ours, plain(s.Title)+" "+text)
			}
		}
	}
	judged := all.overfit + all.neither
	switch {
	case all.of() == 0:
		return judgement{verdict: NotRun, why: "no curves of training and validation of a Transformer"}
	case judged == 0:
		return judgement{verdict: NotComparable, why: "every run ended at perfect validation"}
	}
	j := judgement{ours: "runs that overfit, without those that ended at perfect validation: " + strings.Join(curves, ", ") + "; test errors " + strings.Join(ours, ", "), verdict: NotReproduced,
		brief: fmt.Sprintf("%d of %d runs end at perfect validation; of the others, %d overfit", all.perfect, all.of(), all.overfit),
		why:   fmt.Sprintf("settings with words exchanged are not judged; after its lowest validation cross entropy, training falls and validation cross entropy rises by more than a tenth, and above what label smoothing asks for; %d of %d runs ended at perfect validation, where training ended", all.perfect, all.of())}
	switch {
	case all.overfit == judged:
		j.verdict = Reproduced
	case 2*all.overfit < judged:
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
	return halvesUp("%.2f %%", ofOther.best) + halvesUp(" (UT %.2f)", a.best) + fmt.Sprintf(" over %d", a.tasks)
}
