package pipeline_test

import (
	"fmt"
	"slices"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
)

// An exit applies to scores also after the same text was scored without it, and no longer once it is removed. The result of a request
// that is repeated is the same to the last bit. Caught when planted: graphs that are kept after the exit has changed.
func TestExitOfKeptScores(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	score := func(e halting.Exit) string {
		t.Helper()
		if err := m.SetExit(e); err != nil {
			t.Fatal(err)
		}
		found, err := m.Score(t.Context(), []pipeline.Pair{{Source: "2026", Target: "2026"}, {Source: "31", Target: "13"}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found)
	}
	trained, early := score(halting.Exit{}), score(halting.Exit{Fixed: 1})
	if trained == early {
		t.Error("an exit after one step changes nothing")
	}
	for range 2 {
		if again := score(halting.Exit{}); again != trained {
			t.Errorf("%s, at first %s", again, trained)
		}
	}
}

// A text has the same result alone and in a request of many. Caught when planted: batches of a single row.
func TestClassesAloneAndTogether(t *testing.T) {
	m, err := pipeline.Load("../models/babi", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	first := ""
	for _, n := range []int{1, 2, 3, 9, 40} {
		found, err := m.ClassifyAll(t.Context(), slices.Repeat([]string{"Mary went to the kitchen. John went home. Where is Mary?"}, n), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if got := fmt.Sprint(f.Classes); first == "" {
				first = got
			} else if got != first {
				t.Fatalf("in a request of %d texts: %.60s, alone %.60s", n, got, first)
			}
		}
	}
}
