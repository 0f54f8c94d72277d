package training_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/score"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// The mean of the weights is what a plain loop over the weights of all updates gives, mean = keep mean + (1 - keep) weights with keep =
// min(average, (s-1) / (s+9)); validation is of the mean; and the weights themselves go their way as if there were none. Caught when
// planted: a mean of the weights before the update, a constant keep, a mean biased to zero in the first updates, validation of the weights,
// answers decoded with them, means that stay exchanged after validation.
func TestMeansOfWeights(t *testing.T) {
	const average, steps = 0.5, 20
	c := config(steps)
	c.LogEvery, c.EvaluateEvery, c.CheckpointEvery, c.Keep, c.Average = 1, 1, 1, steps, 0
	plain := trainer(t, c)
	run(t, plain)
	c.Average = average
	averaging := trainer(t, c)
	var decodedWith []float32 // the entries of a weight when answers were last decoded
	averaging.Decoded = func(_ context.Context, store *model.Store) ([]score.Metric, error) {
		decodedWith = tensors.MustCopyFlatData[float32](store.GetVariable(universal.Path("readout.weight")).MustValue())
		return []score.Metric{score.Figure("BLEU", 1)}, nil
	}
	run(t, averaging)

	want := map[string][]float64{}
	for s := 1.0; s <= steps; s++ {
		keep := min(average, (s-1)/(s+9)) // 0 in the first update: the mean forgets that it began as zero
		checkpoint, err := plain.Log.Load(int64(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range training.Parameters(checkpoint.Tensors) {
			if want[tensor.Name] == nil {
				want[tensor.Name] = make([]float64, len(tensor.Data)/4)
			}
			for i, w := range floats(tensor) {
				want[tensor.Name][i] = keep*want[tensor.Name][i] + (1-keep)*float64(w)
			}
		}
		sameMeans(t, averaging, int64(s), want)
	}
	last, _, err := averaging.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	differ, seen := false, 0
	for _, tensor := range training.Parameters(last.Tensors) {
		seen++
		if tensor.Name == "readout.weight" && !slices.Equal(floats(tensor), decodedWith) {
			t.Errorf("answers were not decoded with the means")
		}
		for i, w := range floats(tensor) {
			differ = differ || math.Abs(want[tensor.Name][i]-float64(weights(plain)[tensor.Name][i])) > 1e-4
			if d := math.Abs(float64(w) - want[tensor.Name][i]); d > 1e-6 {
				t.Fatalf("%s[%d]: the mean is %v, want %v", tensor.Name, i, w, want[tensor.Name][i])
			}
		}
	}
	if seen != len(want) || !differ {
		t.Errorf("%d means of %d parameters, apart from the weights: %v", seen, len(want), differ)
	}
	for name, w := range weights(plain) {
		for i, got := range weights(averaging)[name] {
			if got != w[i] {
				t.Fatalf("%s[%d]: %v in the training that averages, %v in the one that does not", name, i, got, w[i])
			}
		}
	}

	// A training that begins with the means and learns nothing validates as the one that kept the means.
	start, _, err := plain.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	means := map[string]safetensors.Tensor{}
	for _, tensor := range training.Parameters(last.Tensors) {
		means[tensor.Name] = tensor
	}
	for i, tensor := range start.Tensors {
		if mean, ok := means[tensor.Name]; ok {
			start.Tensors[i].Data = mean.Data
		}
	}
	c.Average, c.Steps, c.Schedule = 0, steps+1, schedule.Constant{LearningRate: 1e-30}
	still := trainer(t, c)
	still.From = start
	run(t, still)
	got, expected, without := validated(t, averaging), validated(t, still), validated(t, plain)
	if math.Abs(got-expected) > 1e-6*expected || math.Abs(got-without) < 1e-4 {
		t.Errorf("validation gives %v nats, want %v as with the means; with the weights %v", got, expected, without)
	}
}

// sameMeans compares the means in the checkpoint of a step with those expected.
func sameMeans(t *testing.T, tr *training.Trainer, step int64, want map[string][]float64) {
	t.Helper()
	c, err := tr.Log.Load(step)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range training.Parameters(c.Tensors) {
		for i, w := range floats(tensor) {
			if d := math.Abs(float64(w) - want[tensor.Name][i]); d > 1e-6 {
				t.Fatalf("step %d, %s[%d]: the mean is %v, want %v", step, tensor.Name, i, w, want[tensor.Name][i])
			}
		}
	}
}

// validated is the cross entropy of the last validation, nats a token.
func validated(t *testing.T, tr *training.Trainer) (nats float64) {
	t.Helper()
	for _, row := range metrics(t, tr) {
		if row["split"] == "validation" {
			nats, _ = row.Number("cross_entropy")
		}
	}
	return nats
}

func floats(t safetensors.Tensor) (values []float32) {
	for i := 0; i < len(t.Data); i += 4 {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(t.Data[i:])))
	}
	return values
}
