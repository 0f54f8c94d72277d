//go:build unix

package main

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"universal-transformer/internal/safetensors"
)

// What a program said and how it ended decides the class.
// Caught when planted: each case left out of fault, refusal or judge.
func TestClasses(t *testing.T) {
	s := &scene{world: &world{}}
	for _, test := range []struct {
		r    result
		same bool
		want class
	}{
		{result{code: 1, stderr: "ut: run/config.json: damaged\n"}, false, refused},
		{result{code: 1, stderr: "resuming\nut: run/config.json: damaged\n"}, false, refused},
		{result{code: 1, stderr: "ut: something is wrong\n"}, false, unclear},
		{result{code: 1, stderr: "ut: one\nut: run/config.json: damaged\n"}, false, unclear},
		{result{code: 1, stderr: "run/config.json: damaged\n"}, false, unclear},
		{result{code: 1}, false, unclear},
		{result{code: 1, stderr: "ut: run/config.json: strconv.Atoi: no\n"}, false, stack},
		{result{code: 2, stderr: "panic: run/config.json\n\ngoroutine 1 [running]:\n"}, false, stack},
		{result{code: -1, signal: syscall.SIGSEGV}, false, death},
		{result{code: -1, signal: syscall.SIGKILL, hung: true}, false, hang},
		{result{}, true, harmless},
		{result{stderr: "run/config.json: it was edited\n"}, false, reported},
		{result{stderr: "all is well\n"}, false, silent},
	} {
		if got := s.judge(test.r, "config.json", test.same); got != test.want {
			t.Errorf("%+v, same %v: %s, want %s", test.r, test.same, got, test.want)
		}
	}
}

// one is a run with a checkpoint.
func one(t *testing.T, step string, weight float64) contents {
	t.Helper()
	x, err := safetensors.New("w", []int{1}, []float64{weight})
	if err != nil {
		t.Fatal(err)
	}
	data, err := safetensors.Encode(&safetensors.File{Tensors: []safetensors.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	return contents{"config.json": []byte("{}"), "metrics.jsonl": []byte("a\nb\n"), "checkpoints/step-" + step + ".safetensors": data, "lock": []byte("1")}
}

// Other weights, another newest checkpoint and other files are differences; what is only read and was damaged is none.
func TestDifferences(t *testing.T) {
	want := one(t, "000000020", 1)
	for name, test := range map[string]struct {
		got        contents
		damaged    string
		difference string
	}{
		"same":    {one(t, "000000020", 1), "", ""},
		"weight":  {one(t, "000000020", 2), "", "step-000000020.safetensors: w"},
		"step":    {one(t, "000000010", 1), "", "newest"},
		"config":  {changed(want, "config.json", "[]"), "", "config.json"},
		"damaged": {changed(want, "config.json", "[]"), "config.json", ""},
		"metrics": {changed(want, "metrics.jsonl", "a\n"), "metrics.jsonl", "metrics.jsonl"},
	} {
		if got := want.differs(test.got, test.damaged); (got == "") != (test.difference == "") || !strings.Contains(got, test.difference) {
			t.Errorf("%s: %q, want %q", name, got, test.difference)
		}
	}
}

func changed(c contents, name, content string) contents {
	c = maps.Clone(c)
	c[name] = []byte(content)
	return c
}

// What is gone or changed is lost, unless it was set aside; locks do not count.
// Caught when planted: files that are set aside counted as lost, lines of metrics that are not looked for.
func TestLosses(t *testing.T) {
	const name = "checkpoints/step-000000020.safetensors"
	before := one(t, "000000020", 1)
	gone := maps.Clone(before)
	delete(gone, name)
	if got := before.missing(changed(before, "lock", "2")); len(got) > 0 {
		t.Errorf("a lock: %q", got)
	}
	if got := before.missing(gone); len(got) != 1 || got[0] != name {
		t.Errorf("gone: %q", got)
	}
	if got := before.missing(changed(gone, name+".damaged", string(before[name]))); len(got) > 0 {
		t.Errorf("set aside: %q", got)
	}
	aside := result{stderr: name + ": damaged: it is set aside\n"}
	if got := lostFiles(before, gone, name, aside); len(got) != 1 {
		t.Errorf("said to be set aside, and gone: %q", got)
	}
	if got := lostFiles(before, changed(before, "metrics.jsonl", "b\n"), "best.json", result{}); len(got) != 1 {
		t.Errorf("a line gone: %q", got)
	}
	if got := lostFiles(before, gone, name, result{code: 1}); len(got) != 1 {
		t.Errorf("refused, and gone: %q", got)
	}
}

// A damage changes what it says and nothing else, and the same seed does the same.
func TestDamages(t *testing.T) {
	data := []byte(`{"step": 35, "loss": 2.5}`)
	for name, d := range map[string]damage{"flip": flip, "cut": cut, "edit": edit} {
		a, where := d(rand.New(rand.NewPCG(1, 2)), data)
		b, _ := d(rand.New(rand.NewPCG(1, 2)), data)
		different := 0
		for i := range a {
			if a[i] != data[i] {
				different++
			}
		}
		if !bytes.Equal(a, b) || where == "" || name == "cut" && (len(a) >= len(data) || different > 0) || name != "cut" && (len(a) != len(data) || different != 1) {
			t.Errorf("%s: %q, then %q", name, a, b)
		}
	}
}

// Counts are by kind and command; one failure is one.
func TestTally(t *testing.T) {
	var out bytes.Buffer
	tally := newTally(&out)
	tally.add(trial{name: "flip 1: best.json"}, []outcome{{"eval", reported, ""}, {"resume", recovered, ""}})
	tally.add(trial{name: "flip 2: config.json"}, []outcome{{"eval", refused, ""}, {"resume", loss, "metrics"}})
	tally.print()
	failed := tally.end(time.Second)
	want := "LOSS  flip 2: config.json, resume: metrics\nflip: eval    1 refused, 1 reported\nflip: resume  1 recovered, 1 LOSS\n3 passed, 1 failed, in 1s\n"
	if out.String() != want || failed != 1 {
		t.Errorf("%d failed, %q, want %q", failed, &out, want)
	}
}
