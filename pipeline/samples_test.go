package pipeline_test

import (
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// Samples are inputs that the model reads as they are, as many as were asked for.
// Caught when planted: samples of unreadable inputs alone.
func TestSamples(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int{1, 5} {
		list := m.Samples(n)
		if len(list) != n {
			t.Errorf("%d samples, want %d", len(list), n)
		}
		for _, line := range list {
			if answers, err := m.Decode(t.Context(), []string{line}, pipeline.DecodeOptions{}); line == "" || err != nil || answers[0].Err != nil || len(answers[0].Unknown) > 0 {
				t.Errorf("%q: %+v, %v", line, answers, err)
			}
		}
	}
}
