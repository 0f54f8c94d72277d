package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/batch"
	"universal-transformer/evaluation"
	"universal-transformer/report"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/babi"
	"universal-transformer/training"
)

// Cell is one run of a grid: where it trains, and where its result goes.
type Cell struct {
	Run     Run
	Dir     string // run directory
	Results string // folder of results
}

// Cell is the run of one task and seed below folders of runs and results.
func (g Grid) Cell(runs, results, path, standIn string, n int, seed uint64) Cell {
	r := g.Run(path, standIn, n, seed)
	file := report.File("", g.Name, n, seed)
	return Cell{Run: r, Dir: filepath.Join(runs, file[:len(file)-len(filepath.Ext(file))]), Results: results}
}

// Name says which cell of its grid it is.
func (c Cell) Name() string {
	return fmt.Sprintf("%s, %s, seed %d", c.Run.Name, c.Run.Task.Babi, c.Run.Seed)
}

// Done gives the result if there is one already.
func (c Cell) Done() (r report.Result, done bool, err error) {
	r, err = report.Read(report.File(c.Results, c.Run.Name, c.Run.Task.Babi.Task, c.Run.Seed))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	return r, err == nil, err
}

// Same tells whether a result is of this cell's configuration, wherever its data were.
func (c Cell) Same(r report.Result) bool {
	was := Base()
	if json.Unmarshal(r.Config, &was) != nil || was.Task.Babi == nil {
		return false
	}
	asked := c.Run
	asked.Model.TokensPerPosition = was.Model.TokensPerPosition
	return slices.Equal(elsewhere(asked), elsewhere(was))
}

// ErrInterrupted is what Do returns when it was told to stop: everything is saved, and doing the cell again goes on.
var ErrInterrupted = errors.New("interrupted")

// Do trains the cell's run, or goes on with it, measures the test set once, with the checkpoint that validation chose, and
// writes the result. The test set has no part in anything before that.
func (c Cell) Do(ctx context.Context, backend compute.Backend, w Watcher) (report.Result, error) {
	meter := &meter{}
	w.Progress = meter.around(w.Progress)
	trained, err := c.train(ctx, backend, w)
	if err != nil {
		return report.Result{}, err
	}
	if trained.Stopped == "interrupted" {
		return report.Result{}, ErrInterrupted
	}
	t, err := Load(c.Dir, backend)
	if err != nil {
		return report.Result{}, err
	}
	result, err := c.result(ctx, t, trained)
	if err != nil {
		return result, err
	}
	result.Questions, result.Facts = meter.rates()
	say := w.Say
	if say == nil {
		say = func(string) {}
	}
	if err := c.figures(t, say); err != nil {
		return result, err
	}
	_, err = report.Save(c.Results, result)
	return result, err
}

// train starts the run, or goes on where its directory stands.
func (c Cell) train(ctx context.Context, backend compute.Backend, w Watcher) (training.Report, error) {
	log, err := runlog.Open(c.Dir)
	if errors.Is(err, runlog.ErrNotRun) {
		return c.Run.Train(ctx, backend, c.Dir, w)
	}
	if err != nil {
		return training.Report{}, err
	}
	there, err := read(log)
	if err != nil {
		return training.Report{}, err
	}
	asked := c.Run
	asked.Model.TokensPerPosition = there.Model.TokensPerPosition
	if !slices.Equal(elsewhere(asked), elsewhere(there)) {
		return training.Report{}, fmt.Errorf("%s holds a run of another configuration: remove it, or choose another --runs", c.Dir)
	}
	return Resume(ctx, backend, c.Dir, w)
}

// elsewhere is the configuration without where its data are, not even their name: the folder and its archive hold the same.
func elsewhere(r Run) []byte {
	moved := *r.Task.Babi
	moved.Path = ""
	r.Task.Babi = &moved
	return r.here().JSON()
}

// here is the run with the names of its files alone: where they lie on one machine is nobody's business.
func (r Run) here() Run {
	named := *r.Task.Babi
	named.Path = filepath.Base(named.Path)
	if named.StandIn != "" {
		named.StandIn = filepath.Base(named.StandIn)
	}
	r.Task.Babi = &named
	return r
}

// result measures what was trained.
func (c Cell) result(ctx context.Context, t *Trained, trained training.Report) (report.Result, error) {
	opened, err := babi.OpenTask(*c.Run.Task.Babi)
	if err != nil {
		return report.Result{}, err
	}
	config, err := json.Marshal(t.Run.here())
	if err != nil {
		return report.Result{}, err
	}
	r := report.Result{
		Version: runlog.Version(), Experiment: c.Run.Name, Model: t.Describe(), Task: c.Run.Task.Babi.Task, Seed: c.Run.Seed,
		Data: opened.Name(), StandIn: c.Run.Task.Babi.StandIn, TrainedOn: opened.TrainedOn(), Parameters: trained.Parameters,
		Step: trained.Step, BestStep: t.Step, Stopped: trained.Stopped, Seconds: trained.Seconds, Threads: runtime.GOMAXPROCS(0), Config: config,
	}
	if r.StandIn != "" {
		r.StandIn = filepath.Base(r.StandIn)
	}
	validation := opened.Validation()
	_, answers, err := t.classify(ctx, opened.Coding().Examples(validation))
	if err != nil {
		return r, err
	}
	r.Validation = report.Errors{Questions: len(validation), Wrong: wrong(answers)}
	test := opened.Test()
	if _, answers, err = t.classify(ctx, opened.Coding().Examples(test)); err != nil {
		return r, err
	}
	shares, err := t.evaluator().LastAttention(ctx, t.Model, opened.Coding().Examples(test))
	if err != nil {
		return r, err
	}
	r.Tests = tests(test, answers, shares, t.adaptive())
	return r, nil
}

func (t *Trained) evaluator() evaluation.Evaluator {
	return evaluation.Evaluator{Backend: t.Backend, Store: t.Store, Plan: batch.Plan{Tokens: evaluationTokens, TokensPerPosition: t.Run.Model.TokensPerPosition}}
}

// classify answers examples with the trained model.
func (t *Trained) classify(ctx context.Context, examples []task.Example) (evaluation.Row, []evaluation.Answer, error) {
	return t.evaluator().Classify(ctx, t.Model, examples, t.Words.Target)
}

// adaptive tells whether the model chooses its depth.
func (t *Trained) adaptive() bool {
	h := t.Run.Model.Halting
	return h.Fixed == nil && h.Length == nil
}

func wrong(answers []evaluation.Answer) (n int) {
	for _, a := range answers {
		if !a.Right {
			n++
		}
	}
	return n
}

// tests counts the answers task by task, sums up where questions looked, and, for a model that chooses its depth, ponder times by
// supporting facts.
func tests(questions []babi.Question, answers []evaluation.Answer, shares [][][]float64, adaptive bool) []report.Test {
	byTask, ponder := map[int]*report.Test{}, map[int]map[int]*report.Ponder{}
	for i, q := range questions {
		if byTask[q.Task] == nil {
			byTask[q.Task], ponder[q.Task] = &report.Test{Task: q.Task}, map[int]*report.Ponder{}
		}
		byTask[q.Task].Questions++
		if !answers[i].Right {
			byTask[q.Task].Wrong++
		}
		byTask[q.Task].Looks = look(byTask[q.Task].Looks, q, shares[i], answers[i].Updates)
		if !adaptive {
			continue
		}
		if ponder[q.Task][len(q.Supports)] == nil {
			ponder[q.Task][len(q.Supports)] = &report.Ponder{Supports: len(q.Supports)}
		}
		ponder[q.Task][len(q.Supports)].Add(answers[i].Updates)
	}
	var list []report.Test
	for _, n := range slices.Sorted(maps.Keys(byTask)) {
		for _, supports := range slices.Sorted(maps.Keys(ponder[n])) {
			byTask[n].Ponder = append(byTask[n].Ponder, *ponder[n][supports])
		}
		for step := range byTask[n].Looks {
			l := &byTask[n].Looks[step]
			l.Share, l.Uniform = l.Share/float64(l.Stories), l.Uniform/float64(l.Stories)
		}
		list = append(list, *byTask[n])
	}
	return list
}

// look adds one question's attention on its supporting facts to the sums of every step that the question ran.
func look(sums []report.Look, q babi.Question, shares [][]float64, updates []int) []report.Look {
	positions := len(q.Facts) + 1
	for step := range min(updates[positions-1], len(shares)) {
		if step == len(sums) {
			sums = append(sums, report.Look{})
		}
		sums[step].Stories++
		for _, fact := range slices.Compact(slices.Sorted(slices.Values(q.Supports))) {
			sums[step].Share += shares[step][fact]
			sums[step].Uniform += 1 / float64(positions)
		}
	}
	return sums
}

// meter measures how fast training goes, leaving out the first updates, which build graphs.
type meter struct {
	updates                   int
	questions, facts, seconds float64
}

const warming = 50

func (m *meter) around(next func(training.Progress)) func(training.Progress) {
	return func(p training.Progress) {
		if m.updates++; m.updates > warming && p.TokensPerSecond > 0 {
			m.questions += p.Tally.Sequences
			m.facts += p.Tally.EncoderPositions
			m.seconds += p.Tally.Tokens / p.TokensPerSecond
		}
		if next != nil {
			next(p)
		}
	}
}

func (m *meter) rates() (questions, facts float64) {
	if m.seconds == 0 {
		return 0, 0
	}
	return m.questions / m.seconds, m.facts / m.seconds
}
