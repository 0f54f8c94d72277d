package training_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/parallel"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// shared is config with four batches an update, weighed by their tokens.
func shared(steps int64) schedule.Config {
	c := config(steps)
	c.Accumulate, c.WeighByTokens = 4, true
	return c
}

// ragged has batches of several shapes, so that they have plans of their own.
var ragged = batch.Plan{Rows: 4, MaxSource: 5, MaxTarget: 6, Boundaries: []int{2, 5}, Window: 40}

// leader is the trainer of rank 0.
func leader(t *testing.T, m universal.EncoderDecoder) *training.Trainer {
	t.Helper()
	return trainerOf(t, shared(13), m, copying(11), ragged)
}

// together runs lead as rank 0 of n in this process, the others after its example, each in a goroutine. prepare, if not nil, changes a rank's
// trainer before, and may keep what ends its context. It gives what every rank's Run returned; a panic is an error of its rank.
func together(t *testing.T, lead *training.Trainer, n int, prepare func(rank int, tr *training.Trainer, cancel func())) ([]training.Summary, []error) {
	t.Helper()
	reports, errs := make([]training.Summary, n), make([]error, n)
	var ranks sync.WaitGroup
	for i, g := range parallel.Local(n) {
		tr := lead
		if i > 0 {
			tr = &training.Trainer{Config: lead.Config, Backend: lead.Backend, Model: lead.Model, Positions: lead.Positions}
			feedWith(t, tr, copying(tr.Config.Seed), ragged)
			tr.Validation = nil
		}
		tr.Group = g
		tr.PlanFreely()
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		if prepare != nil {
			prepare(i, tr, cancel)
		}
		ranks.Go(func() {
			defer g.Close()
			defer func() {
				if problem := recover(); problem != nil {
					errs[i] = fmt.Errorf("%v", problem)
				}
			}()
			reports[i], errs[i] = tr.Run(ctx)
		})
	}
	ranks.Wait()
	return reports, errs
}

// finishTogether is finish on n ranks, with the state that the last checkpoint keeps.
func finishTogether(t *testing.T, lead *training.Trainer, n int) (f finished, kept string) {
	t.Helper()
	trainers := make([]*training.Trainer, n)
	reports, errs := together(t, lead, n, func(rank int, tr *training.Trainer, _ func()) { trainers[rank] = tr })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	f = finished{metrics: metrics(t, lead), report: reports[0]}
	f.step, f.tensors = tensorsOf(t, lead)
	for rank := range reports {
		if reports[rank].Seconds = 0; reports[rank].Step != reports[0].Step || reports[rank].BestStep != reports[0].BestStep {
			t.Errorf("rank %d says %+v, rank 0 %+v", rank, reports[rank], reports[0])
		}
		if !reflect.DeepEqual(trainers[rank].Planned(), lead.Planned()) {
			t.Errorf("rank %d of %d plans other capacities than rank 0", rank, n)
		}
	}
	f.report.Seconds = 0
	return f, stateOf(t, lead)
}

// stateOf is what the last checkpoint says besides tensors, but for the time that training took.
func stateOf(t *testing.T, tr *training.Trainer) string {
	t.Helper()
	c, _, err := tr.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	meta := maps.Clone(c.Meta)
	delete(meta, "sha256")
	var state map[string]any
	if err := json.Unmarshal([]byte(meta["training"]), &state); err != nil {
		t.Fatal(err)
	}
	delete(state, "seconds")
	return fmt.Sprint(meta["version"], meta["step"], state)
}

// models are those whose batches have all that is random: dropout, positions, depth.
func models() map[string]universal.EncoderDecoder {
	adaptive, random := universal.EncoderDecoder{Config: tiny()}, universal.EncoderDecoder{Config: tiny()}
	random.Halting = halting.Random{MinSteps: 1, MaxSteps: 3}
	return map[string]universal.EncoderDecoder{"adaptive": adaptive, "random depth": random}
}

// Two ranks and four come to the bits of one that has all batches of an update, in weights, moments, means, metrics, and plans of capacity.
// Caught when planted: batches dealt in blocks; gradients added in the order in which ranks come; dropout from a state that goes on;
// positions drawn by rank; plans from a rank's own batches; what batches needed learned in the order of ranks; plans that validation
// changed kept from the others.
func TestRanksComeToTheSameBits(t *testing.T) {
	for name, m := range models() {
		of := func(n int) (finished, string) { return finishTogether(t, leader(t, m), n) }
		want, state := of(1)
		for _, n := range []int{2, 4} {
			got, kept := of(n)
			if err := want.equal(got); err != nil {
				t.Errorf("%s, %d ranks: %v", name, n, err)
			}
			if kept != state {
				t.Errorf("%s, %d ranks keep\n%s\nnot\n%s", name, n, kept, state)
			}
		}
	}
}

// A job that is stopped, whichever rank is told to, or dies, goes on with any number of ranks to the bits of one that was left alone.
// Caught when planted: a rank that stops one update earlier; a rank that starts from its own weights; a stream that is not moved.
func TestRanksResumeWithAnyNumber(t *testing.T) {
	m := universal.EncoderDecoder{Config: tiny()}
	want, state := finishTogether(t, leader(t, m), 1)
	for _, test := range []struct {
		ranks []int   // of each start
		stop  []int64 // after these updates
		die   bool
	}{
		{[]int{4, 2, 1}, []int64{6, 9}, false}, {[]int{1, 4}, []int64{11}, false}, {[]int{2, 4}, []int64{7}, true},
		{[]int{2, 1, 4}, []int64{5, 10}, false}, // before validations
	} {
		tr := leader(t, m)
		for i, stop := range test.stop {
			told := test.ranks[i] - 1 // the last rank
			reports, errs := stopped(t, tr, test.ranks[i], told, stop, test.die)
			for rank := range errs {
				if test.die != (errs[rank] != nil) || !test.die && (reports[rank].Stopped != "interrupted" || reports[rank].Step != stop) {
					t.Errorf("%+v: rank %d ended with %+v, %v", test, rank, reports[rank], errs[rank])
				}
			}
			tr = resumed(t, tr)
			feedWith(t, tr, copying(11), ragged)
		}
		got, kept := finishTogether(t, tr, test.ranks[len(test.ranks)-1])
		if err := want.equal(got); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		if kept != state {
			t.Errorf("%+v keeps\n%s\nnot\n%s", test, kept, state)
		}
	}
}

// stopped runs n ranks, of which one is interrupted, or dies, after an update.
func stopped(t *testing.T, lead *training.Trainer, n, which int, after int64, die bool) ([]training.Summary, []error) {
	t.Helper()
	return together(t, lead, n, func(rank int, tr *training.Trainer, cancel func()) {
		if rank != which {
			return
		}
		tr.OnProgress = func(p training.Progress) {
			if die && p.Step == after {
				panic("killed")
			}
			if p.Step == after || p.Step == after-1 && n > 1 { // several agree in the next update
				cancel()
			}
		}
	})
}

// What goes wrong on one rank ends Run on all with one error, which names the rank where it is not rank 0.
// Caught when planted: a checksum of rank 0 for every rank; an error that only its rank knows (the others then wait for ever).
func TestOneRanksErrorIsEverybodys(t *testing.T) {
	broken := func(i int64) task.Example {
		if i == 30 {
			return task.Example{Source: tokens(nil, 0)}
		}
		return copying(11)(i)
	}
	for name, test := range map[string]struct {
		ranks   int
		prepare func(rank int, tr *training.Trainer, cancel func())
		want    string
	}{
		"three ranks for four batches": {3, nil, "training.accumulate is 4, and there are 3 ranks: it must be a multiple of 3,"},
		"a stream that fails": {4, func(rank int, tr *training.Trainer, _ func()) {
			if rank == 2 {
				feedWith(t, tr, broken, ragged)
			}
		}, "update 1: rank 2: batch: example 30 has an empty target"},
		"other data": {2, func(rank int, tr *training.Trainer, _ func()) {
			if rank == 1 {
				stream, err := batch.NewStream(copying(12), ragged, tr.Config.Seed)
				if err != nil {
					t.Error(err)
				}
				tr.Stream = stream
			}
		}, "update 1: the training data of rank 1 differ from those of rank 0"},
		"another computation": {2, func(rank int, tr *training.Trainer, _ func()) {
			if rank == 1 {
				tr.Config.Objective.LabelSmoothing = 0.2
			}
		}, "update 1: the gradients of rank 1 for the same batch differ from those of rank 0: all need the same build"},
		"other parameters": {4, func(rank int, tr *training.Trainer, _ func()) {
			if rank == 3 {
				tr.OnProgress = func(p training.Progress) {
					if p.Step == 2 {
						v := tr.Store.GetVariable("/readout/weight")
						tensors.MustMutableFlatData(v.MustValue(), func(flat []float32) { flat[7] += 1e-3 })
					}
				}
			}
		}, "update 3: the parameters of rank 3 differ from those of rank 0"},
		"training that comes apart": {2, func(_ int, tr *training.Trainer, _ func()) {
			tr.Config.Schedule = spike{7, 1e30}
		}, "training stopped at update 8: the loss is NaN; the checkpoint of update 5 is kept: continue from it with a lower learning rate, training.schedule.rate="},
		"a directory that cannot be written": {2, func(rank int, tr *training.Trainer, _ func()) {
			if rank == 0 {
				tr.Log, _ = runlog.Open(tr.Log.Dir())
			}
		}, "the run is open for reading"},
	} {
		_, errs := together(t, leader(t, universal.EncoderDecoder{Config: tiny()}), test.ranks, test.prepare)
		for rank, err := range errs {
			var agreed *parallel.RankError
			if !errors.As(err, &agreed) || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || err.Error() != errs[0].Error() {
				t.Errorf("%s: rank %d: %v, want %q", name, rank, err, test.want)
			}
		}
	}
}

// Rank 0 reports the CPU time of the other ranks, not its own.
func TestRanksAddTheirTime(t *testing.T) {
	lead := leader(t, universal.EncoderDecoder{Config: tiny()})
	lead.Config.Steps = 2
	_, errs := together(t, lead, 4, func(rank int, tr *training.Trainer, _ func()) {
		tr.CPU = func() float64 { return []float64{1, 20, 300, 4000}[rank] }
		tr.OnProgress = func(p training.Progress) {
			if rank == 0 && (p.Ranks != 4 || p.OthersCPU != 4320) {
				t.Errorf("%d ranks, of which the others used %v seconds, want 4 and 4320", p.Ranks, p.OthersCPU)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// severalDevices is a backend that says it has two.
type severalDevices struct{ compute.Backend }

func (severalDevices) NumDevices() int { return 2 }

// Ranks whose backends split rows over several devices are refused: their sums are not in one place.
func TestRanksHaveOneDevice(t *testing.T) {
	lead := leader(t, universal.EncoderDecoder{Config: tiny()})
	lead.Backend = severalDevices{lead.Backend}
	if _, errs := together(t, lead, 2, nil); errs[0] == nil || !strings.Contains(errs[0].Error(), "2 ranks with 2 devices each") || errs[1] == nil {
		t.Errorf("%v", errs)
	}
}
