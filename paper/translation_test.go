package paper

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/bleu"
	"universal-transformer/decoding"
	"universal-transformer/pipeline"
	"universal-transformer/task/translation"
)

// translated is a result of table 7.
func translated(experiment, label string, seed uint64, score float64) Result {
	set := func(name string, score float64) translatedSet {
		return translatedSet{Name: name, Sentences: 1000, Alpha: 0.8, BLEU: score, ChrF: 55, Notes: []string{"BLEU|tok:none = 40.0"}, Seconds: 8}
	}
	return Result{
		Header:   Header{Version: "0.3.0+abc", Experiment: experiment, Task: label, Seed: seed, Parameters: 2_595_840, Step: 8000, Seconds: 3600, Threads: 1},
		Measured: &translationMeasured{Sets: []translatedSet{set("val", 99), set("test_2016_flickr", score), set("newstest2014", score)}},
		Config:   []byte("{}"),
	}
}

// The page has mean and deviation of all seeds on the test, never the validation set's figure, the paper's rows with what they cost, and
// what is missing. 40, 41 and 42 have mean 41 and deviation 1.
func TestTranslationPage(t *testing.T) {
	results := []Result{
		translated("translation", "multi30k", 1, 40), translated("translation", "multi30k", 2, 41), translated("translation", "multi30k", 3, 42),
		translated("translation-tiny", "multi30k", 1, 20), translated("translation", "news", 1, 5.5),
	}
	text := string(Render(results, t.TempDir(), ".").Bytes())
	for _, want := range []string{
		"| UT base | 28.9 | needs an accelerator |", "| Weighted Transformer base | 28.4 | needs an accelerator |", "`ut train translate_wmt14`",
		"| Universal Transformer: 6 steps, width 192 | 41.00 ± 1.00 of 3 seeds | missing | missing |",
		"| Transformer, the smallest published: 4 layers, width 128 | 20.00 | missing | missing |",
		"| Transformer with the same number of parameters: 6 layers, width 76 | missing | missing | missing |",
		"beam 5 | 41.02 |", "| Universal Transformer: 6 steps, width 192 | 5.50 |",
		"| translation | multi30k | 2 | 2,595,840 | 8,000 | 60 | 1 | val | 0.8 | BLEU tok:none = 40.0 | 55.0 | 125.0 | 0.3.0+abc |",
		"multi30k, test_2016_flickr: Universal Transformer: 6 steps, width 192 41.00 ± 1.00 of 3 seeds", "news, newstest2014: Universal Transformer",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "| Transformer, the smallest published"); n != 1 {
		t.Errorf("the smallest published Transformer is in %d tables, want that of Multi30k only", n)
	}
	for want, m := range map[string]translationMeasured{
		"sets are missing": {}, "sets[0].name": {Sets: []translatedSet{{Sentences: 1}}}, "sets[0].sentences": {Sets: []translatedSet{{Name: "a"}}},
		"sets[0].bleu is NaN": {Sets: []translatedSet{{Name: "a", Sentences: 1, BLEU: math.NaN()}}}, "sets[0].chrf": {Sets: []translatedSet{{Name: "a", Sentences: 1, ChrF: 101}}},
	} {
		if err := m.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A cell of Multi30k, from the files to the result: every set that is there is measured as ut eval measures it with the same beam, whose length
// penalty has the best BLEU of the validation sentences; a set that is not there is left out with a line, and so is data that is not.
func TestTranslationCell(t *testing.T) {
	root := t.TempDir()
	data := filepath.Join(root, "multi30k", "tok")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{"train": 300, "val": 20, "test_2016_flickr": 20, "test_2017_flickr": 10}
	for part, n := range lines {
		var source, target strings.Builder
		for i := range n {
			fmt.Fprintf(&source, "a %s %d\n", strings.Repeat("red ", i%4), i%7)
			fmt.Fprintf(&target, "ein %s %d .\n", strings.Repeat("rot ", i%4), i%7)
		}
		for side, text := range map[string]string{"en": source.String(), "de": target.String()} {
			if err := os.WriteFile(filepath.Join(data, part+".lc.norm.tok."+side), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	request := Request{
		Name: "translation", Seeds: []uint64{1}, Data: Data{"multi30k": filepath.Dir(data), "news": filepath.Join(root, "none")},
		Runs: filepath.Join(root, "runs"), Results: filepath.Join(root, "results"),
		Set: []string{
			"task.tokenizer_size=280", "model.width=16", "model.embedding_width=0", "model.heads=4", "model.transition.filter=16", "model.halting.fixed.steps=1", "training.steps=60", "training.evaluate_every=30",
			"training.batch.tokens=512", "training.batch.boundaries=[32]", "training.schedule.cosine.peak=0.02", "training.schedule.cosine.warmup=5", "training.decoded=10",
		},
	}
	cells, leftOut, err := request.Cells()
	if err != nil || len(cells) != 2 || len(leftOut) != 1 || !strings.Contains(leftOut[0].Error(), filepath.Join(root, "none")) {
		t.Fatalf("%d cells, %v, %v", len(cells), leftOut, err)
	}
	r, outcomes := runner(1)
	var log []string
	r.Log = func(line string) { log = append(log, line) }
	if err := r.Run(t.Context(), cells[:1]); err != nil {
		t.Fatal(err)
	}
	result := outcomes["translation/multi30k-seed1"].Result
	m := result.Measured.(*translationMeasured)
	if len(m.Sets) != 3 || m.set("test_2017_mscoco") != nil || !strings.Contains(strings.Join(log, "\n"), "test_2017_mscoco is not measured") || result.ChosenBy != byMeasure {
		t.Fatalf("%+v, %q", m, log)
	}
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	model, err := pipeline.Load(cells[0].Dir(), b)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	measure := func(set string, alpha float64) pipeline.Evaluation {
		file := filepath.Join(data, set+".lc.norm.tok.")
		e, err := model.Evaluate(t.Context(), pipeline.Protocol{File: file + "en," + file + "de", Beam: decoding.Beam{Width: 4, Alpha: alpha}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	chosen := m.set("val")
	for _, alpha := range []float64{0.6, 0.8, 1, 1.2} {
		e := measure("val", alpha)
		if better := e.Metrics[0].Value > chosen.BLEU; better || alpha < chosen.Alpha && e.Metrics[0].Value == chosen.BLEU {
			t.Errorf("length penalty %v has %v BLEU, %v was chosen: %v", alpha, e.Metrics[0].Value, chosen.Alpha, chosen.BLEU)
		}
	}
	for set, n := range lines {
		if set == "train" {
			continue
		}
		e := measure(set, chosen.Alpha)
		if got := m.set(set); got.Sentences != n || got.Alpha != chosen.Alpha || got.BLEU != e.Metrics[0].Value || got.ChrF != e.Metrics[1].Value || got.Method != e.Method {
			t.Errorf("%s: %+v, but %+v", set, got, e)
		}
	}
	if d := model.Run.Task.Value.(translation.Translation); d.BLEU != bleu.Whitespace || m.set("val").ChrF == m.set("test_2017_flickr").ChrF {
		t.Errorf("%+v, %+v", d, m)
	}
}
