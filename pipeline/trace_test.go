package pipeline_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/universal"
)

// A trace drops nothing out: that of a model with dropout is that of the same model without.
// Caught when planted: dropout left on.
func TestTraceDropsNothing(t *testing.T) {
	r := brief(t, pairs())
	with := r.Model.Value.(experiment.EncoderDecoder)
	with.Dropout = universal.Dropout{Embedding: 0.5, Attention: 0.5, Transition: 0.5, Residual: 0.5}
	r.Model.Value = with
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	dropping, err := m.Trace(t.Context(), "123")
	if err != nil {
		t.Fatal(err)
	}
	without := with
	without.Dropout = universal.Dropout{}
	m.ReplaceGraph(without.Build(m.Vocabularies, m.Run.Seed))
	m.Close()
	plain, err := m.Trace(t.Context(), "123")
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Encoder.Attention) == 0 || !reflect.DeepEqual(plain, dropping) {
		t.Errorf("the traces differ:\n%+v\n%+v", plain.Encoder, dropping.Encoder)
	}
}
