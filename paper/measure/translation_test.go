package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/bleu"
	"universal-transformer/decoding"
	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task/translation"
)

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
		Table: paper.Table7(), Rows: []string{"translation"}, Seeds: []uint64{1}, Data: map[string]string{"multi30k": filepath.Dir(data), "news": filepath.Join(root, "none")},
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
	r, outcomes := runner()
	var log []string
	r.Log = func(line string) { log = append(log, line) }
	if err := r.Run(t.Context(), cells[:1]); err != nil {
		t.Fatal(err)
	}
	outcome := outcomes["translation/multi30k-seed1"]
	result, m := outcome.Result, outcome.Measured.(*Translation)
	if len(m.Sets) != 3 || m.Set("test_2017_mscoco") != nil || !strings.Contains(strings.Join(log, "\n"), "test_2017_mscoco is not measured") || result.ChosenBy != sweep.ByMeasure {
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
	chosen := m.Set("val")
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
		if got := m.Set(set); got.Sentences != n || got.Alpha != chosen.Alpha || got.BLEU != e.Metrics[0].Value || got.ChrF != e.Metrics[1].Value || got.Method != e.Method {
			t.Errorf("%s: %+v, but %+v", set, got, e)
		}
	}
	if d := model.Run.Task.Value.(translation.Translation); d.BLEU != bleu.Whitespace || m.Set("val").ChrF == m.Set("test_2017_flickr").ChrF {
		t.Errorf("%+v, %+v", d, m)
	}
}
