package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
)

// A pendingRun is a run without a result, with its expected processor time in seconds; 0 if it is not known.
type pendingRun struct {
	name    string
	seconds float64
}

type pendingRuns []pendingRun

// pending returns the cells without a result. Cells with errors are left out: their errors are reported when they are run.
func (f *tableFlags) pending(cells []sweep.Cell) (list pendingRuns) {
	results, err := sweep.ReadAll(f.results)
	if err != nil {
		results = nil // reported with the cell
	}
	for _, c := range cells {
		if _, _, done, err := c.Done(); !done && err == nil {
			list = append(list, pendingRun{c.Name(), expected(c.Recipe, results) * shareOfUpdates(c)})
		}
	}
	return list
}

// shareOfUpdates returns the number of updates of a cell, relative to its recipe's.
func shareOfUpdates(c sweep.Cell) float64 {
	recipe, err := recipes.Named(c.Recipe)
	if err != nil || recipe.Run().Training.Steps == 0 {
		return 1
	}
	return float64(c.Run.Training.Steps) / float64(recipe.Run().Training.Steps)
}

// changed lists the cells whose result has another configuration: they are not run.
func (f *tableFlags) changed(cells []sweep.Cell) (names []string) {
	for _, c := range cells {
		if r, _, done, err := c.Done(); done && err == nil && c.Changed(r) {
			names = append(names, c.Name())
		}
	}
	return names
}

// damaged reports the results that cannot be read and the runs that cannot be continued, as running the cells does.
func (f *tableFlags) damaged(c *cobra.Command, cells []sweep.Cell) error {
	watch := newCellWatch(c.OutOrStdout(), c.ErrOrStderr(), len(cells))
	var first error
	for _, cell := range cells {
		r, _, done, err := cell.Done()
		if done && cell.Changed(r) {
			continue // reported as such
		}
		if err == nil {
			err = cell.Problem()
		}
		if err != nil {
			watch.finished(sweep.Outcome{Cell: cell, Err: err})
			first = cmp.Or(first, fmt.Errorf("%s: %w", cell.Name(), err))
		}
	}
	return watch.failures(first)
}

// estimate describes the time of the runs, so many at a time: "runs without a result: 3, about 2h0m of processor time, 1h0m with 2 in parallel".
// It returns "" if there are no runs.
func (list pendingRuns) estimate(jobs int) string {
	total, unknown := 0.0, 0
	for _, r := range list {
		total += r.seconds
		if r.seconds == 0 {
			unknown++
		}
	}
	if len(list) == 0 {
		return ""
	}
	text := fmt.Sprintf("runs without a result: %d", len(list))
	if unknown < len(list) {
		text += fmt.Sprintf(", about %s of processor time", short(duration(total)))
		if jobs = min(jobs, len(list)); jobs > 1 {
			text += fmt.Sprintf(", %s with %d in parallel", short(duration(total/float64(jobs))), jobs)
		}
	}
	switch {
	case unknown == len(list):
		text += "; their times are unknown"
	case unknown > 0:
		text += fmt.Sprintf("; the time of %d of them is unknown", unknown)
	}
	return text
}

// print lists the runs with their times.
func (list pendingRuns) print(w io.Writer) {
	for _, r := range list {
		text := "unknown"
		if r.seconds > 0 {
			text = "about " + short(duration(r.seconds))
		}
		fmt.Fprintf(w, "%s\t%s\n", r.name, text)
	}
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

var expectedTime = regexp.MustCompile(`([0-9.]+) (second|minute|hour)s? of processor time`)

// expected returns the processor time of a recipe's training in seconds: that of results without changed fields (Set empty), or the time in the
// catalogue, or 0 if unknown.
func expected(recipe string, results []sweep.Result) float64 {
	var own []sweep.Header
	for _, r := range results {
		if r.Recipe == recipe && len(r.Set) == 0 {
			own = append(own, r.Header)
		}
	}
	if len(own) > 0 {
		return sweep.ProcessorSeconds(own)
	}
	known, err := recipes.Named(recipe)
	if err != nil {
		return 0
	}
	match := expectedTime.FindStringSubmatch(known.Expect)
	if match == nil {
		return 0
	}
	amount, err := strconv.ParseFloat(match[1], 64)
	if err != nil {
		return 0
	}
	return amount * map[string]float64{"second": 1, "minute": 60, "hour": 3600}[match[2]]
}
