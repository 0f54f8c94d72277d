package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A row is chosen by its name without commas, or by its beginning.
// Caught when planted: commas kept in the name.
func TestChosen(t *testing.T) {
	for list, want := range map[string]int{"": len(jobs()), "train": 5, "encode 8192 tokens, train adaptive": 2, "decode width 512": 4, "decode width 192 1 row": 2, "decode width 512 1 row beam 4": 1, "gemm": 0} {
		n := 0
		for _, j := range jobs() {
			if j.chosen(list) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q chooses %d rows, want %d", list, n, want)
		}
	}
}

// The adaptive row is timed after the run that compiles the graph of the plan, and decoding on one thread.
// Caught when planted: two runs before it, as elsewhere; two threads for all rows.
func TestArguments(t *testing.T) {
	r := runner{repeat: 3, threads: 2}
	for _, j := range jobs() {
		warmup, threads := "2", "2"
		if j.name == "train, adaptive" {
			warmup = "4"
		}
		if j.what == "decode" {
			threads = "1"
		}
		args, _ := r.arguments(j, []string{"ut", "bench", j.what})
		if want := []string{"bench", j.what, "--repeat", "3", "--warmup", warmup, "--threads", threads}; !slices.Equal(args, want) {
			t.Errorf("%s: %q, want %q", j.name, args, want)
		}
	}
}

// Rows have medians, the share of the peak and ratios of fixed times: the first engine takes 3, 1 and 2 seconds, the one compared with it 5, 6
// and 4, so 2.00 and 5.00 seconds and 2.50 times. An engine without the job has empty cells, and one that fails has "-", is not run again in
// the row, and has no ratio.
// Caught when planted: a mean for the median; the ratio of the other way round; the first time for all; ratios of what failed.
func TestRow(t *testing.T) {
	named := func(name string) func(j job) []string {
		return func(j job) []string {
			if name == "absent" && j.name == "work" {
				return nil
			}
			return []string{name}
		}
	}
	sides := []side{{"float32", -1, named("ours")}, {"bf16", -1, named("broken")}, {"int8", -1, named("absent")},
		{"peer", float32Side, named("peer")}, {"other", bfloat16Side, named("other")}}
	times := map[string][]float64{"ours": {3, 1, 2}, "peer": {5, 6, 4}, "other": {1, 1, 1}}
	turn := map[string]int{}
	m := meter{rounds: 3, measure: func(_ job, command []string) (sample, error) {
		if slices.Contains(command, "peak") {
			return sample{Seconds: 1, GFlops: 400}, nil
		}
		name := command[0]
		turn[name]++
		if name == "broken" {
			return sample{}, errors.New("no bf16 | here")
		}
		return sample{Seconds: times[name][turn[name]-1], GFlops: 100 * float64(turn[name])}, nil
	}}
	row, failures := m.row(job{name: "work"}, sides)
	if want := "| work | 2000.0 | - | | 5000.0 | 1000.0 | 0.50 | 2.50 | |\n"; row != want {
		t.Errorf("the row is\n%swant\n%s", row, want)
	}
	if turn["broken"] != 1 {
		t.Errorf("what failed ran %d times", turn["broken"])
	}
	notes := addFailures(addFailures(nil, sides, "work", failures), sides, "more", failures)
	notes = addFailures(notes, sides, "last", []string{"", "", "", "over 5m0s", ""})
	if got, want := below(notes), "\nNo time:\n\n- bf16: no bf16 | here (2 rows)\n- peer: over 5m0s (last)\n"; got != want {
		t.Errorf("below the table is %q, want %q", got, want)
	}
	if below(nil) != "" {
		t.Error("a text below a table without failures")
	}
}

// The header has a column for each cell of a row.
func TestHeader(t *testing.T) {
	sides := sides("ut", "python3", "torch.py", "ctranslate2.py")
	m := meter{rounds: 1, measure: func(job, []string) (sample, error) { return sample{Seconds: 1}, nil }}
	for _, j := range jobs() {
		row, _ := m.row(j, sides)
		for line := range strings.Lines(header(sides) + row) {
			if got, want := strings.Count(line, "|"), len(sides)+8; got != want { // work, share of peak, five ratios, the end
				t.Errorf("%q has %d bars, want %d", line, got, want)
			}
		}
	}
}

// The median of an even number is the mean of the middle two.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{8, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

// Peers get the shape of the job: CTranslate2 layers for steps and its beam, PyTorch no job with a beam.
// Caught when planted: a greedy job without --beam 1, with which CTranslate2 would take its own width.
func TestPeers(t *testing.T) {
	list := sides("ut", "python3", "torch.py", "ct.py")
	commands := func(name string) map[string]string {
		got := map[string]string{}
		for _, j := range jobs() {
			if j.name == name {
				for _, s := range list {
					got[s.name] = strings.Join(s.command(j), " ")
				}
			}
		}
		return got
	}
	greedy, beam := commands("decode, width 192, 1 row"), commands("decode, width 192, 1 row, beam 4")
	shape := "--width 192 --filter 768 --heads 4 --%s 6 --length 30 --vocabulary 5000 --batch 1"
	for got, want := range map[string]string{
		greedy["PyTorch"]:                    "python3 torch.py decode " + fmt.Sprintf(shape, "steps"),
		greedy["CTranslate2"]:                "python3 ct.py --type float32 " + fmt.Sprintf(shape, "layers") + " --beam 1",
		beam["CTranslate2, int8"]:            "python3 ct.py --type int8 " + fmt.Sprintf(shape, "layers") + " --beam 4",
		beam["PyTorch"]:                      "",
		beam["int8"]:                         "ut bench decode --backend cpu:products=int8 " + fmt.Sprintf(shape, "steps") + " --beam 4",
		commands("train, width 128")["int8"]: "",
	} {
		if got != want {
			t.Errorf("the command is %q, want %q", got, want)
		}
	}
}

// A failure is named by the last line that the command wrote, or by its status.
func TestReason(t *testing.T) {
	status := errors.New("exit status 1")
	for said, want := range map[string]string{"": "exit status 1", "a warning\nno bf16\n\n": "no bf16"} {
		if got := reason(said, status).Error(); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	if _, err := (runner{timeout: time.Minute}).once(job{}, []string{"sh", "-c", "echo not here >&2; exit 3"}); err == nil || err.Error() != "not here" {
		t.Errorf("a command that fails: %v", err)
	}
}
