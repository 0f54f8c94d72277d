package report

import (
	"fmt"
	"slices"

	"universal-transformer/paper"
)

// babiAverage holds averages over the tasks that were trained on their own files.
type babiAverage struct {
	tasks           int
	best, overSeeds float64 // test error in percent: of the best seeds, and of the means over seeds
	low, high       float64 // test error of the seeds with the fewest and the most test errors among those with the lowest validation error
	failed          []int
}

// averageBabi returns the averages of a row. Tasks that were trained on a stand-in do not count.
func averageBabi(list []babiTask) (a babiAverage) {
	list = ownFiles(list)
	a.tasks = len(list)
	for _, s := range list {
		a.best += s.best / float64(len(list))
		a.low += slices.Min(s.equals) / float64(len(list))
		a.high += slices.Max(s.equals) / float64(len(list))
		a.overSeeds += mean(s.seeds) / float64(len(list))
		if s.best > paper.BabiFails {
			a.failed = append(a.failed, s.task)
		}
	}
	return a
}

// reaches reports whether neither the error nor the number of failed tasks is above the paper's.
func (a babiAverage) reaches(said paper.Babi) bool {
	return a.best <= said.Average && len(a.failed) <= said.Failed
}

// seedAverages returns the average error over the tasks of each seed, in order; nothing if the tasks have different numbers of seeds.
func seedAverages(list []babiTask) []float64 {
	if len(list) == 0 || slices.ContainsFunc(list, func(s babiTask) bool { return len(s.seeds) != len(list[0].seeds) }) {
		return nil
	}
	averages := make([]float64, len(list[0].seeds))
	for _, s := range list {
		for i, percent := range s.seeds {
			averages[i] += percent / float64(len(list))
		}
	}
	return averages
}

// babiCells returns the paper's figures, our best, the range of what seeds with the same validation errors would give, and our mean over seeds with
// its deviation and the number of seeds, with the mark of a row that was not trained like the others.
func (p *page) babiCells(t paper.Table, r paper.Row) [4]string {
	said, list := paper.PublishedBabi(r.Family), p.book.babiTasks(t, r)
	cells := [4]string{fmt.Sprintf("%.2f (%d/20)", said.Average, said.Failed), "not run", "", ""}
	if len(said.Seeds) > 0 {
		var means []float64
		for _, s := range said.Seeds {
			means = append(means, s[0])
		}
		cells[0] += halvesUp(", mean over seeds %.2f", mean(means))
	}
	a := averageBabi(list)
	if a.tasks == 0 {
		return cells
	}
	cells[1] = halvesUp("%.2f", a.best) + fmt.Sprintf(" (%d/%d)", len(a.failed), a.tasks)
	if low, high := halvesUp("%.2f", a.low), halvesUp("%.2f", a.high); low != high {
		cells[2] = low + " to " + high
	}
	cells[3] = halvesUp("%.2f", a.overSeeds)
	if averages := seedAverages(ownFiles(list)); len(averages) > 1 {
		cells[3] = spread("%.2f", averages)
	}
	cells[3] += ", " + babiSeeds(ownFiles(list))
	if len(r.Unequal) > 0 {
		cells[1], cells[3] = cells[1]+exception, cells[3]+exception
	}
	if lacks := babiLacks(list); len(lacks) > 0 && len(lacks) <= 2 {
		cells[3] += ", without " + numbered(lacks)
	}
	return cells
}
