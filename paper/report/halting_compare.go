package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A haltingComparison compares a row of a file with a fixed depth.
type haltingComparison struct {
	file, title string
	depth       int // of the model compared with
	comparison
}

// compareHalting compares every row with the next fixed depth and with all deeper ones, in this order. The p-values are corrected together.
func compareHalting(files []HaltingFile) (list []haltingComparison) {
	for _, f := range files {
		for _, r := range f.rows {
			if r.plain || len(r.accuracy) == 0 {
				continue
			}
			for depth := f.next(r.steps()); depth <= f.limit; depth++ {
				list = append(list, haltingComparison{f.Name, r.title, depth, r.against(f.depth(depth))})
			}
		}
	}
	correct(list, func(c *haltingComparison) *comparison { return &c.comparison })
	return list
}

// against compares the accuracies of two rows over the seeds that both have.
func (r haltingRow) against(other haltingRow) comparison {
	var a, b []float64
	for i, seed := range r.seeds {
		if k := slices.Index(other.seeds, seed); k >= 0 {
			a, b = append(a, r.accuracy[i]), append(b, other.accuracy[k])
		}
	}
	return paired(a, b, "seeds")
}

// of returns the comparisons of a row of the file, that with the next fixed depth first.
func (f HaltingFile) of(title string, list []haltingComparison) (own []haltingComparison) {
	for _, c := range list {
		if c.file == f.Name && c.title == title {
			own = append(own, c)
		}
	}
	return own
}

// steps returns the mean steps of a row: over its seeds, and over encoder and decoder, which count alike.
func (r haltingRow) steps() float64 {
	if r.fixed > 0 {
		return float64(r.fixed)
	}
	steps := mean(r.encoder)
	if len(r.decoder) > 0 {
		steps = (steps + mean(r.decoder)) / 2
	}
	return steps
}

// depth returns the row of a fixed depth.
func (f HaltingFile) depth(steps int) haltingRow {
	return f.rows[slices.IndexFunc(f.rows, func(r haltingRow) bool { return r.plain && r.fixed == steps })]
}

// next returns the smallest fixed depth with at least as many steps, which are rounded to a hundredth.
func (f HaltingFile) next(steps float64) int {
	return max(1, min(int(math.Ceil(math.Round(100*steps)/100)), f.limit))
}

// interpolated returns the accuracy of fixed depth at a mean number of steps, on the line between the two depths around it.
func (f HaltingFile) interpolated(steps float64) float64 {
	low := max(1, min(int(steps), f.limit))
	high := min(low+1, f.limit)
	share := steps - float64(low)
	return (1-share)*mean(f.depth(low).accuracy) + share*mean(f.depth(high).accuracy)
}

// bestObjective returns the objective that is worse than the next fixed depth on no task, better on the largest number of tasks and, among
// equals, has the largest mean of interpolated differences; "" if none is better on any.
func bestObjective(files []HaltingFile, list []haltingComparison) (best string) {
	wins, largest := 0, 0.0
	for _, title := range titlesOf(files) {
		better, worse := 0, 0
		for _, f := range files {
			switch next := f.of(title, list)[0]; {
			case next.better():
				better++
			case next.worse():
				worse++
			}
		}
		if gain := meanGain(files, title); worse == 0 && better > 0 && (better > wins || better == wins && gain > largest) {
			best, wins, largest = title, better, gain
		}
	}
	return best
}

// whichObjective says which objective to use, on which tasks, and what it costs there. Of the other tasks it has all comparisons, or their outcomes.
func whichObjective(files []HaltingFile, list []haltingComparison, all bool) string {
	best := bestObjective(files, list)
	switch {
	case !slices.ContainsFunc(list, func(c haltingComparison) bool { return c.tested() }):
		return "**Which objective of halting to use** is not tested yet: a row needs two seeds."
	case best == "":
		return "**Which objective of halting to use:** none is better than fixed depth with at least as many mean steps on any task, so train fixed depth."
	}
	var rest grouped
	var gained, others []string
	reasons, alone := "", ""
	for _, f := range files {
		own := f.of(best, list)
		if own[0].better() {
			gained = append(gained, f.Name)
			reasons, alone = reasons+f.reason(best, own), alone+f.alone(best, list)
			continue
		}
		others = append(others, f.Name)
		for _, c := range own {
			rest.add(c.comparison, fmt.Sprintf("a fixed depth of %d on %s", c.depth, f.Name), "%+.3f")
		}
	}
	text := fmt.Sprintf("**Which objective of halting to use:** %s on tasks like %s", best, and(gained))
	switch {
	case len(others) == 0:
		return text + "." + reasons + alone
	case all:
		reasons += fmt.Sprintf(" On the other tasks it is %s.", rest)
	default:
		reasons += fmt.Sprintf(" On %s it is %s.", and(others), rest.counted())
	}
	return fmt.Sprintf("%s, and fixed depth on tasks like %s.%s%s", text, and(others), reasons, alone)
}

// counted returns "worse than A; not distinguishable from fixed depth in 4 comparisons".
func (g grouped) counted() string {
	var parts []string
	if shown := (grouped{better: g.better, worse: g.worse}).String(); shown != "" {
		parts = append(parts, shown)
	}
	if len(g.equal) > 0 {
		parts = append(parts, "not distinguishable from fixed depth in "+count(len(g.equal), "comparison"))
	}
	if len(g.untested) > 0 {
		parts = append(parts, "untested in "+count(len(g.untested), "comparison"))
	}
	return strings.Join(parts, "; ")
}

// reason says how an objective compares with fixed depths on a task, in steps, accuracy and processor time of training.
func (f HaltingFile) reason(title string, own []haltingComparison) string {
	r := f.row(title)
	steps := fmt.Sprintf("%.2f mean steps", r.steps())
	if len(r.answer) > 0 {
		steps += fmt.Sprintf(" (its answering position runs %.2f steps)", mean(r.answer))
	}
	var g grouped
	var times []string
	for _, c := range own {
		g.add(c.comparison, fmt.Sprintf("a fixed depth of %d", c.depth), "%+.3f")
		seconds := mean(f.depth(c.depth).seconds)
		times = append(times, fmt.Sprintf("%.2f times that of a fixed depth of %d (%.1f s)", mean(r.seconds)/seconds, c.depth, seconds))
	}
	return fmt.Sprintf(" On %s it takes %s and is %s. Training takes %.1f s of processor time, %s.", f.Name, steps, g, mean(r.seconds), and(times))
}

// alone names the objective that the same rule gives on one task alone, or returns "" if that is the best one of all tasks.
func (f HaltingFile) alone(best string, list []haltingComparison) string {
	title := bestObjective([]HaltingFile{f}, list)
	if title == best {
		return ""
	}
	r := f.row(title)
	return fmt.Sprintf(" If only %s counted, the rule would choose %s (%s %.3f, %.2f mean steps).", f.Name, title, f.measure, mean(r.accuracy), r.steps())
}

// titlesOf returns the titles of the compared rows that every file has, in the order of the first.
func titlesOf(files []HaltingFile) (titles []string) {
	for _, r := range files[0].rows {
		if !r.plain && !slices.ContainsFunc(files, func(f HaltingFile) bool { return f.row(r.title) == nil }) {
			titles = append(titles, r.title)
		}
	}
	return titles
}

// row returns the finished row with a title, or nil.
func (f HaltingFile) row(title string) *haltingRow {
	for i, r := range f.rows {
		if r.title == title && len(r.accuracy) > 0 {
			return &f.rows[i]
		}
	}
	return nil
}

// meanGain returns the mean over the files of what an objective is better than fixed depth at equal mean steps.
func meanGain(files []HaltingFile, title string) (gain float64) {
	for _, f := range files {
		r := f.row(title)
		gain += (mean(r.accuracy) - f.interpolated(r.steps())) / float64(len(files))
	}
	return gain
}
