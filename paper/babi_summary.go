package paper

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// babiSummary is what the seeds of one task came to.
type babiSummary struct {
	task             int
	seeds            []float64 // test errors in percent, by seed
	best             float64   // test error of the seed with the lowest validation error
	seconds          float64   // mean over seeds
	examples         float64   // a second, mean over seeds
	standIn          string    // "" if the task was trained on its own file
	standInQuestions int
	ponder           map[int]ponderTimes // of the best seed, by supporting facts
	attention        []attentionShare    // of the best seed
	result           Header              // of the best seed
}

// of gives an experiment's results.
func of(results []Result, experiment string) (list []Result) {
	for _, r := range results {
		if r.Experiment == experiment {
			list = append(list, r)
		}
	}
	return list
}

// summaries is one a task that has a result, in order.
func summaries(results []Result, experiment string) (list []babiSummary) {
	byTask := make([]*babiSummary, len(babiNames)+1)
	lowest := make([]float64, len(babiNames)+1)
	for _, r := range of(results, experiment) {
		m := r.Measured.(*babiMeasured)
		for _, t := range m.Tests {
			s := byTask[t.Task]
			if s == nil {
				s = &babiSummary{task: t.Task}
				byTask[t.Task], lowest[t.Task] = s, math.Inf(1)
			}
			s.seeds = append(s.seeds, t.percent())
			s.seconds, s.examples = s.seconds+r.Seconds, s.examples+r.ExamplesPerSecond
			if m.StandIn != "" && standsFor(m.StandIn) == t.Task {
				s.standIn, s.standInQuestions = m.StandIn, m.StandInQuestions
			}
			if v := m.Validation.percent(); v < lowest[t.Task] {
				lowest[t.Task] = v
				s.choose(r.Header, t)
			}
		}
	}
	for _, s := range byTask {
		if s != nil {
			n := float64(len(s.seeds))
			s.seconds, s.examples = s.seconds/n, s.examples/n
			list = append(list, *s)
		}
	}
	return list
}

// choose makes a seed the best one.
func (s *babiSummary) choose(h Header, t babiTest) {
	s.best, s.result, s.attention, s.ponder = t.percent(), h, t.Attention, map[int]ponderTimes{}
	for _, p := range t.PonderTimes {
		s.ponder[p.SupportingFacts] = p
	}
}

// all is the ponder times of all positions.
func (s babiSummary) all() (sum ponderTimes) {
	for _, p := range s.ponder {
		sum = sum.plus(p)
	}
	return sum
}

// standsFor is the task that a file qaN_... is of.
func standsFor(file string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(file, "qa"), "_")
	n, _ := strconv.Atoi(number)
	return n
}

// standIn gives the task that was trained on another file than its own, if there is one.
func standIn(list []babiSummary) (s babiSummary, ok bool) {
	at := slices.IndexFunc(list, func(s babiSummary) bool { return s.standIn != "" })
	if at < 0 {
		return s, false
	}
	return list[at], true
}

// missingTasks is the tasks without a result.
func missingTasks(list []babiSummary) (missing []int) {
	for n := range babiNames {
		if !slices.ContainsFunc(list, func(s babiSummary) bool { return s.task == n+1 }) {
			missing = append(missing, n+1)
		}
	}
	return missing
}

// moments is mean and sample deviation; the deviation of one number is not known.
func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, math.NaN()
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(deviation)
}

// overall is the average of the best errors, and how many of the tasks fail.
func overall(list []babiSummary) (average float64, failed int) {
	for _, s := range list {
		average += s.best / float64(len(list))
		if s.best > babiFails {
			failed++
		}
	}
	return average, failed
}

// onSameTasks is the average of what the paper's best seeds come to on the tasks of a list; ok is false where it does not print them.
func (p babiPaper) onSameTasks(list []babiSummary) (average float64, ok bool) {
	if p.Best == nil {
		return 0, false
	}
	for _, s := range list {
		average += p.Best[s.task-1] / float64(len(list))
	}
	return average, true
}
