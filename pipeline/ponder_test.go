package pipeline_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// The ponder time of decoded answers is the mean of what the traces of the same sources show, for greedy decoding.
// Caught when planted: padding counted; the steps of the reference in place of those of the answer.
func TestPonderOfDecodedAnswers(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Mix: 4, Count: 9}})
	if err != nil {
		t.Fatal(err)
	}
	var sums, counts [2]float64
	for _, example := range e.Examples {
		source, _ := m.Vocabularies.Text(example)
		trace, err := m.Trace(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		for i, updates := range [][]float64{trace.Encoder.Updates, trace.Decoder.Updates} {
			for _, n := range updates {
				sums[i], counts[i] = sums[i]+n, counts[i]+1
			}
		}
	}
	if encoder, decoder := sums[0]/counts[0], sums[1]/counts[1]; math.Abs(e.Encoder.Mean-encoder) > 1e-9 || math.Abs(e.Decoder.Mean-decoder) > 1e-9 || encoder < 1 {
		t.Errorf("steps %v and %v, the traces have %v and %v", e.Encoder, e.Decoder, encoder, decoder)
	}
	data, err := json.Marshal(e.Row)
	if err != nil || !strings.Contains(string(data), "null") { // sources of four digits leave tenths empty
		t.Errorf("%s, %v", data, err)
	}
	dir, _ := briefly(t) // of fixed depth
	fixed, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer fixed.Close()
	if e, err := fixed.Evaluate(t.Context(), pipeline.Protocol{}); err != nil || e.Encoder != nil || e.Decoder != nil {
		t.Errorf("%+v, %v", e.Row, err)
	}
}
