package pipeline

import (
	"slices"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// A loaded model holds its parameters once, and nothing of the state of training; what it exports is what the checkpoint has.
// Caught when planted: a checkpoint that stays in memory; parameters in another order.
func TestLoadedModelHoldsParametersOnce(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	log, err := runlog.Open("testdata/copier")
	if err != nil {
		t.Fatal(err)
	}
	best, err := log.Best()
	if err != nil {
		t.Fatal(err)
	}
	want := training.Parameters(best.Tensors)
	if len(best.Tensors) <= len(want) {
		t.Fatalf("the checkpoint has %d tensors, %d parameters: this shows little", len(best.Tensors), len(want))
	}
	got, err := m.parameters()
	if err != nil || len(got) != len(want) || len(m.checkpoint.Tensors) != len(want) {
		t.Fatalf("%d parameters, want %d: %v", len(got), len(want), err)
	}
	for i, p := range got {
		if p.Name != want[i].Name || p.DType != want[i].DType || !slices.Equal(p.Shape, want[i].Shape) || string(p.Data) != string(want[i].Data) {
			t.Errorf("parameter %d is %s of %v, want %s of %v, or has other values", i, p.Name, p.Shape, want[i].Name, want[i].Shape)
		}
		if kept := m.checkpoint.Tensors[i]; kept.Data != nil {
			t.Errorf("%s stays in memory twice", kept.Name)
		}
	}
}
