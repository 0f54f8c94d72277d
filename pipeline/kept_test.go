package pipeline_test

import (
	"fmt"
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
		if err := m.Exit(e); err != nil {
			t.Fatal(err)
		}
		found, err := m.Score(t.Context(), []pipeline.Pair{{Source: "2026", Target: "2026"}, {Source: "31", Target: "13"}})
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
