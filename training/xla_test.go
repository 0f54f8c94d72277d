//go:build xla

package training_test

import (
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// xlaBackend opens XLA's plugin for processors. Without it the test is skipped.
func xlaBackend(t *testing.T) compute.Backend {
	t.Helper()
	if len(engine.Plugins()) == 0 {
		t.Skip("there is no plugin of XLA: docs/accelerators.md")
	}
	backend, err := engine.New("xla:cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	return backend
}

// An update on XLA is one call of one graph.
func TestUpdateIsOneCallOnXLA(t *testing.T) {
	backend := xlaBackend(t)
	updatesInOneGraph(t, universal.Dropout{}, 0.9, func(tr *training.Trainer) {
		tr.Backend = backend
		run(t, tr)
	})
}
