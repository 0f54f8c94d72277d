package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// captions writes a small Multi30k in its original case, with a pair of numbers on every line, and returns its folder.
func captions(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for part, n := range map[string]int{"train": 300, "val": 20, "test_2016_flickr": 40} {
		var source, target strings.Builder
		for i := range n {
			fmt.Fprintf(&source, "A %s dog, number %d.\n", strings.Repeat("red ", i%4), i%7)
			fmt.Fprintf(&target, "Ein %s Hund, Nummer %d.\n", strings.Repeat("roter ", i%4), i%7)
		}
		for side, text := range map[string]string{"en": source.String(), "de": target.String()} {
			file := filepath.Join(root, "raw", part+"."+side)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// The test of two runs has the figures that ut decode, with the beam and the length penalties of the results, and ut bleu --paired give for
// the same sentences. ut table report shows it. What does not agree with the results is refused: another checkpoint, configuration, data,
// BLEU. Caught when planted: rows exchanged; another length penalty; greedy decoding; the validation sentences; BLEU, sentences, checkpoint
// or configuration not compared.
func TestTablePaired(t *testing.T) {
	data, runs := captions(t), filepath.Join(t.TempDir(), "runs")
	args := []string{"table", "run", "7", "--rows", "translation,translation-transformer", "--columns", "multi30k-raw", "--multi30k", data, "--seeds", "2-2", "--runs", runs, "--backend", "cpu:threads=1"}
	for _, s := range []string{"task.tokenizer_size=290", "model.width=16", "model.embedding_width=0", "model.heads=4", "model.transition.filter=16", "model.halting.fixed.steps=1", "training.steps=100",
		"training.evaluate_every=50", "training.batch.tokens=512", "training.batch.boundaries=[32]", "training.schedule.cosine.peak=0.02", "training.schedule.cosine.warmup=5", "training.decoded=10"} {
		args = append(args, "--set", s)
	}
	succeeds(t, args...)
	results := filepath.Join(runs, "results")
	pair := []string{"table", "paired", "translation-transformer", "multi30k-raw", "--seeds", "2-2", "--runs", runs, "--backend", "cpu:threads=1"}
	line := succeeds(t, pair...)
	file := filepath.Join(results, "paired", "translation-transformer-multi30k-raw-seed2.json")
	var found struct {
		Row, Set         string
		Sentences        int
		BLEU, Difference float64
		P                float64
		Baseline         float64 `json:"baseline_bleu"`
		Samples          int
		SamplesSeed      int            `json:"samples_seed"`
		MeasuredBy       map[string]any `json:"measured_by"`
	}
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(data, "raw", "test_2016_flickr.en"))
	if err != nil {
		t.Fatal(err)
	}
	translations := map[string]string{}
	for _, row := range []string{"translation", "translation-transformer"} {
		r := utReading(t, string(source), "decode", filepath.Join(runs, row, "multi30k-raw-seed2"), "--beam", "4", "--alpha", fmt.Sprint(lengthPenalty(t, results, row)), "--backend", "cpu:threads=1")
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
		translations[row] = write(t, row, r.stdout)
	}
	var want struct {
		Baseline, System struct{ Score float64 }
		P                float64
	}
	compared := succeeds(t, "bleu", translations["translation"], filepath.Join(data, "raw", "test_2016_flickr.de"), "--paired", translations["translation-transformer"], "--json")
	if err := json.Unmarshal([]byte(compared), &want); err != nil || want.System.Score == want.Baseline.Score || want.P == 1 {
		t.Fatalf("%s, %v", compared, err)
	}
	if found.Row != "translation" || found.Set != "test_2016_flickr" || found.Sentences != 40 || found.BLEU != want.System.Score || found.Baseline != want.Baseline.Score ||
		found.Difference != want.System.Score-want.Baseline.Score || found.P != want.P || found.Samples != 1000 || found.SamplesSeed != 12345 ||
		!strings.HasSuffix(fmt.Sprint(found.MeasuredBy["backend"]), "threads=1") || found.MeasuredBy["version"] == nil {
		t.Errorf("%s\nwant %s", content, compared)
	}
	if want := fmt.Sprintf("translation %.2f, translation-transformer %.2f BLEU, difference %+.2f, p = %.4f (%s)\n", found.BLEU, found.Baseline, found.Difference, found.P, file); !strings.HasSuffix(line, want) {
		t.Errorf("%q does not end in %q", line, want)
	}

	page := filepath.Join(t.TempDir(), "page.md")
	asRecipes(t, results)
	succeeds(t, "table", "report", "--results", results, "--out", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), fmt.Sprintf("translation %.2f against translation-transformer %.2f (seed 2, p ", found.BLEU, found.Baseline)) {
		t.Errorf("the page does not show it (%v): %s", err, text)
	}
	result := filepath.Join(results, "translation-transformer", "multi30k-raw-seed2.json")
	before, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, says string }{
		{fmt.Sprintf(`"bleu": %v,`, found.Baseline), `"bleu": 99,`, "bleu is 99, but the note"},
		{fmt.Sprintf(`"bleu": %v,`, found.Baseline), fmt.Sprintf(`"bleu": %v,`, found.Baseline+1e-6), fmt.Sprintf("its result has %v, 40 sentences", found.Baseline+1e-6)},
		{`"sentences": 40`, `"sentences": 41`, "41 sentences, measured by 0."},
		{`"name": "test_2016_flickr"`, `"name": "other"`, "has no set test_2016_flickr"},
		{`"best_step": \d+`, `"best_step": 1`, "its result that of update 1"},
		{`"warmup": 5`, `"warmup": 6`, "has another configuration than the result of translation-transformer/multi30k-raw-seed2"},
	} {
		changed := regexp.MustCompile(c.old).ReplaceAll(before, []byte(c.new))
		if bytes.Equal(changed, before) {
			t.Fatalf("%q is not in %s", c.old, before)
		}
		if err := os.WriteFile(result, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := ut(t, pair...); r.code != 1 || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%+v, want %q", r, c.says)
		}
	}
	if err := os.WriteFile(result, before, 0o644); err != nil {
		t.Fatal(err)
	}
	replace(t, file, `"sentences": 40`, `"sentences": 39`)
	checkFailure(t, ut(t, "table", "report", "--results", results, "--out", page), 1, "paired/translation-transformer-multi30k-raw-seed2.json: translation/multi30k-raw-seed2 has")

	checkFailure(t, ut(t, append(pair, "--data", "nowhere")...), 1, "the data are missing", "name them with --data")
	if err := os.Rename(data, data+"-moved"); err != nil {
		t.Fatal(err)
	}
	if again := succeeds(t, append(pair, "--data", data+"-moved")...); again != line {
		t.Errorf("with moved data: %q, before %q", again, line)
	}
	if err := os.Rename(filepath.Join(runs, "translation"), filepath.Join(runs, "moved")); err != nil {
		t.Fatal(err)
	}
	checkFailure(t, ut(t, pair...), 1, "multi30k-raw-seed2 is not a run directory")
}

// lengthPenalty is that of the test sets in a result.
func lengthPenalty(t *testing.T, results, row string) float64 {
	t.Helper()
	var r struct {
		Measured struct{ Sets []struct{ Alpha float64 } }
	}
	data, err := os.ReadFile(filepath.Join(results, row, "multi30k-raw-seed2.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || len(r.Measured.Sets) != 2 {
		t.Fatalf("%s, %v", data, err)
	}
	return r.Measured.Sets[1].Alpha
}
