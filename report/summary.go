package report

import "math"

// summary is what the seeds of one task came to.
type summary struct {
	task               int
	seeds              []float64 // test errors in percent, by seed
	best               float64   // test error of the seed with the lowest validation error
	bestSeed           uint64
	validation         float64 // error of that seed
	seconds, perSecond float64 // means
	standIn            string
	ponder             map[int]Ponder // of the best seed, by supporting facts
	looks              []Look         // of the best seed
	file               string         // of the best seed, without its extension
}

// summaries is one a task that has a result, in order.
func summaries(results []Result, experiment string) []summary {
	byTask := map[int]*summary{}
	lowest := map[int]float64{}
	for _, r := range results {
		if r.Experiment != experiment {
			continue
		}
		for _, t := range r.Tests {
			s := byTask[t.Task]
			if s == nil {
				s = &summary{task: t.Task}
				byTask[t.Task], lowest[t.Task] = s, math.Inf(1)
			}
			s.seeds = append(s.seeds, t.Percent())
			s.seconds, s.perSecond = s.seconds+r.Seconds, s.perSecond+r.Questions
			if r.StandIn != "" && (r.Task == t.Task || r.Task == 0 && standsFor(r.StandIn) == t.Task) {
				s.standIn = r.StandIn
			}
			if v := r.Validation.Percent(); v < lowest[t.Task] {
				lowest[t.Task] = v
				s.best, s.bestSeed, s.validation = t.Percent(), r.Seed, v
				s.file = File("", experiment, r.Task, r.Seed)
				s.looks, s.ponder = t.Looks, map[int]Ponder{}
				for _, p := range t.Ponder {
					s.ponder[p.Supports] = p
				}
			}
		}
	}
	var list []summary
	for task := 1; task <= len(tasks); task++ {
		if s := byTask[task]; s != nil {
			n := float64(len(s.seeds))
			s.seconds, s.perSecond = s.seconds/n, s.perSecond/n
			list = append(list, *s)
		}
	}
	return list
}

// standsFor is the task that a file qaN_... is of.
func standsFor(name string) (n int) {
	if len(name) < 3 || name[:2] != "qa" {
		return 0
	}
	for _, c := range name[2:] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
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
func overall(list []summary) (average float64, failed int) {
	for _, s := range list {
		average += s.best / float64(len(list))
		if s.best > fails {
			failed++
		}
	}
	return average, failed
}

// Averages is what the paper's own task-by-task tables average to: of the best seeds, and of the means over seeds.
func Averages(experiment string) (best, mean float64) {
	p := published[experiment]
	for i := range p.Best {
		best += p.Best[i] / float64(len(p.Best))
		mean += p.Seeds[i][0] / float64(len(p.Seeds))
	}
	return best, mean
}
