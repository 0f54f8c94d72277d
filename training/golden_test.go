package training_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/universal"
)

var update = flag.Bool("update", false, "write testdata/losses.json anew: only if training is meant to change")

// Ten updates of a tiny model with everything but dropout have the losses, cross entropies and gradient norms that stand in
// testdata/losses.json, from go test ./training -run TestTenLosses -update. Whoever speeds something up must not change them.
// Caught when planted: another beta2; a warm-up of the ponder cost that is one step off; positions drawn from another stream.
func TestTenLosses(t *testing.T) {
	const file = "testdata/losses.json"
	c := config(10)
	c.LogEvery, c.EvaluateEvery = 1, 100
	m := universal.EncoderDecoder{Config: tiny()}
	m.Dropout = universal.Dropout{}
	tr := trainerOf(t, c, m, copying(c.Seed), copyingPlan)
	tr.Backend = enginetest.Portable(t)
	run(t, tr)
	keys := []string{"loss", "cross_entropy", "gradient_norm"}
	got := map[string][]float64{}
	for _, row := range metrics(t, tr) {
		if row["split"] != "training" {
			continue
		}
		for _, key := range keys {
			v, _ := row.Number(key)
			got[key] = append(got[key], v)
		}
	}
	if *update {
		data, err := json.MarshalIndent(got, "", "\t")
		if err == nil {
			err = os.WriteFile(file, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if len(got[key]) != 10 || len(want[key]) != 10 {
			t.Fatalf("%s: %d values, %d in %s", key, len(got[key]), len(want[key]), file)
		}
		for i, w := range want[key] {
			if math.Abs(got[key][i]-w) > 1e-5*math.Abs(w) {
				t.Errorf("step %d: %s is %.9g, not %.9g", i+1, key, got[key][i], w)
			}
		}
	}
}
