package report

import (
	"testing"

	"universal-transformer/sweep"
)

// sized is a run with a number of parameters, processor seconds (0: not recorded) and seconds by the clock.
func sized(parameters int, cpu, clock float64) run {
	h := sweep.Header{Parameters: parameters, Seconds: clock}
	h.TrainedBy.CPUSeconds = cpu
	return run{Result: sweep.Result{Header: h}}
}

// Processor times come first, since those of the clock include waiting; how many runs they are of is said. One processor time of three runs
// does not speak for them. Caught when planted: clock times among them; a single processor time of three runs; bf16 for all runs of which
// one has it.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		runs                []run
		parameters, minutes string
	}{
		{[]run{sized(121_499, 0, 60)}, "121", "~1.0"},
		{[]run{sized(121_500, 120, 60), sized(1_301_700, 360, 60), sized(200_000, 0, 6000)}, "122 to 1,302", "4.0 (2 of 3 runs)"},
		{[]run{sized(900, 120, 60), sized(900, 360, 60)}, "1", "4.0"},
		{[]run{sized(900, 822, 822), sized(900, 0, 120), sized(900, 0, 132)}, "1", "~6.0"},
		{[]run{sized(900, 0, 6612)}, "1", "~110"},
		{[]run{sized(900, 13.2, 0)}, "1", "0.22"},
		{[]run{sized(900, 0, 0)}, "1", "not recorded"},
	} {
		if p, m := parameters(c.runs), minutes(c.runs); p != c.parameters || m != c.minutes {
			t.Errorf("got %s, %s; want %s, %s", p, m, c.parameters, c.minutes)
		}
	}
	bf16, exact := sized(900, 0, 0), sized(900, 0, 0)
	bf16.TrainedBy.Backend, exact.TrainedBy.Backend = "cpu:avx512,products=bf16,threads=1", "cpu:avx512,threads=1"
	for want, runs := range map[string][]run{"": {exact}, ", bf16": {bf16, bf16}, ", bf16 in 1 of 2 runs": {bf16, exact}} {
		if got := precision(runs); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Times of updates are compared on the same processor and backend only, by updates made; records without the processor's model may be of several, and
// are compared within a build. Caught when planted: runs of all processors together; seconds of a run instead of an update; processors of unknown
// models taken for one.
func TestUpdateRatios(t *testing.T) {
	timed := func(cpu string, seconds float64, updates int64) run {
		r := sized(900, seconds, 0)
		r.TrainedBy.CPU, r.TrainedBy.Backend, r.TrainedBy.Updates = cpu, "cpu:threads=1", updates
		return r
	}
	const a, b, c = "A, family 6, model 1", "B, family 6, model 2", "C, family 6, model 3"
	own := []run{timed(a, 600, 100), timed(a, 1000, 100), timed(b, 50, 100), timed("", 1, 100)}
	others := []run{timed(a, 400, 200), timed(c, 1, 100), timed("", 9, 100), timed(a, 0, 100)}
	if got := updateRatios(own, others); len(got) != 1 || got[0] != 4 {
		t.Errorf("ratios are %v, want 4", got)
	}
	if got := updateRatios(own[2:], others); len(got) != 0 {
		t.Errorf("ratios of different processors: %v", got)
	}
	unknown := func(commit string, seconds float64) run {
		r := timed("AMD EPYC", seconds, 100)
		r.TrainedBy.Commit = commit
		return r
	}
	if got := updateRatios([]run{unknown("b223bc2", 6), unknown("01af341", 20)}, []run{unknown("b223bc2", 4), unknown("ec7c71c", 1)}); len(got) != 1 || got[0] != 1.5 {
		t.Errorf("ratios of processors of unknown models are %v, want 1.5", got)
	}
}
