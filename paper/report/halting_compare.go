package report

import (
	"fmt"
	"math"
	"slices"
)

// A haltingComparison compares a row of a file with a fixed depth.
type haltingComparison struct {
	file, title string
	depth       int  // of the model compared with
	deepest     bool // it is compared because it is the deepest, and not the next depth
	comparison
}

// compareHalting compares every row with the next fixed depth and, if that is not the deepest, with that one. The p-values are corrected together.
func compareHalting(files []HaltingFile) (list []haltingComparison) {
	for _, f := range files {
		for _, r := range f.rows {
			if r.plain || len(r.accuracy) == 0 {
				continue
			}
			next := f.next(r.steps())
			list = append(list, haltingComparison{f.Name, r.title, next, false, welch(r.accuracy, f.depth(next).accuracy)})
			if next < f.limit {
				list = append(list, haltingComparison{f.Name, r.title, f.limit, true, welch(r.accuracy, f.depth(f.limit).accuracy)})
			}
		}
	}
	correct(list, func(c *haltingComparison) *comparison { return &c.comparison })
	return list
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

// bestObjective returns the objective that is worse than the next fixed depth on no task, better on the largest number of tasks and, among equals, has
// the largest mean of interpolated differences; "" if none is better on any.
func bestObjective(files []HaltingFile, list []haltingComparison) (best string) {
	most, largest := 0, 0.0
	for _, title := range titlesOf(files) {
		better, worse := 0, 0
		for _, c := range list {
			if c.title == title && !c.deepest && c.better() {
				better++
			} else if c.title == title && !c.deepest && c.worse() {
				worse++
			}
		}
		if gain := meanGain(files, title); worse == 0 && better > 0 && (better > most || better == most && gain > largest) {
			best, most, largest = title, better, gain
		}
	}
	return best
}

// whichObjective says which objective to use and on which tasks, with all comparisons of it, or with those alone in which it is better or worse.
func whichObjective(files []HaltingFile, list []haltingComparison, all bool) string {
	best := bestObjective(files, list)
	switch {
	case !slices.ContainsFunc(list, func(c haltingComparison) bool { return c.tested() }):
		return "**Which objective of halting to use** is not tested yet: a row needs two seeds."
	case best == "":
		return "**Which objective of halting to use:** none is better than fixed depth with at least as many mean steps on any task, so train fixed depth."
	}
	var g grouped
	var gained, others []string
	for _, c := range list {
		if c.title != best {
			continue
		}
		g.add(c.comparison, fmt.Sprintf("a fixed depth of %d on %s", c.depth, c.file), "%+.3f")
		if c.deepest {
			continue
		}
		if !c.better() {
			others = append(others, c.file)
			continue
		}
		f := files[slices.IndexFunc(files, func(f HaltingFile) bool { return f.Name == c.file })]
		gained = append(gained, fmt.Sprintf("%s (%.2f mean steps)", c.file, f.row(best).steps()))
	}
	text := fmt.Sprintf("**Which objective of halting to use:** %s on tasks like %s", best, and(gained))
	if len(others) > 0 {
		text += fmt.Sprintf(", and fixed depth on tasks like %s", and(others))
	}
	if all {
		return fmt.Sprintf("%s. The objective is %s.", text, g)
	}
	shown := grouped{better: g.better, worse: g.worse}
	return fmt.Sprintf("%s. The objective is %s; it is not distinguishable from fixed depth in %s.", text, shown, count(len(g.equal)+len(g.untested), "other comparison"))
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
