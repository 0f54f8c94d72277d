package recipes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// An edit of a published result sets fields, whose names are paths: "measured.sets.0.name". The value gone deletes a field or an element.
type edit struct {
	set  map[string]any
	says string // part of the error
}

type deletion struct{}

var gone deletion

// peers are the recipes by whose results the edits below are judged, besides those of the edited recipe.
var peers = []string{
	"algorithmic-adam-lstm/copy", "translation/news", "translation-transformer/news", "agreement/natural-text", "agreement-lstm/natural-text",
	"lambada-lstm/novels-words", "lambada-transformer/novels-words", "lambada-lstm/novels-pretrained", "lambada-lstm/reading", "lambada-transformer/reading",
	"babi-10k-single/task02", "babi-10k-single-transformer/task02",
}

// edits are edits of published results that show no other results, by the names of the results.
var edits = map[string][]edit{
	"algorithmic-adam/copy-seed3": {
		{map[string]any{"seed": 4}, "seed is 4, but config.seed is 3"},
		{map[string]any{"recipe": "algorithmic-adam/reverse"}, "its name must be"},
		{map[string]any{"config.seed": 4}, "config.seed is 4"},
		{map[string]any{"config.name": "algorithmic-adam/reverse"}, "would be trained with"},
		{map[string]any{"config.name": gone}, "would be trained with"},
		{map[string]any{"config.training.label_smoothing": 0.1}, "would be trained with"},
		{map[string]any{"config.training.pretrained": "copy-seed3"}, "would be trained with"},
		{map[string]any{"parameters": 12147}, "parameters is 12147, the model has 121472"},
		{map[string]any{"step": 5000, "best_step": 5000}, `step is 5000 and stopped "done"`},
		{map[string]any{"step": 20000}, "step is 20000"},
		{map[string]any{"step": 5000, "best_step": 5000, "stopped": "patience"}, `stopped is "patience", which the configuration excludes`},
		{map[string]any{"best_step": 9999}, "best_step 9999"},
		{map[string]any{"stopped": "banana"}, `stopped is "banana"`},
		{map[string]any{"stopped": "interrupted"}, `stopped is "interrupted"`},
		{map[string]any{"chosen_by": "test accuracy"}, `chosen_by is "test accuracy"`},
		{map[string]any{"chosen_by": sweep.ByAccuracy}, "chosen_by is"},
		{map[string]any{"model": "LSTM, 1 layer, width 128"}, `model is "LSTM`},
		{map[string]any{"data": "reverse"}, `data is "reverse"`},
		{map[string]any{"validation": gone}, "validation is missing"},
		{map[string]any{"validation": -1}, "validation is -1"},
		{map[string]any{"validation": json.Number("1e999")}, "1e999"},
		{map[string]any{"seconds": 0}, "seconds is 0"},
		{map[string]any{"threads": 0}, "threads 0"},
		{map[string]any{"measured.sets.1.name": "lengths 1 to 40"}, "measured.sets are"},
		{map[string]any{"measured.sets.1.name": "length 400"}, "as that of a set before"},
		{map[string]any{"measured.sets.9": gone}, "measured.sets are"},
		{map[string]any{"measured.sets.2.examples": 500}, "1000 sequences of 500"},
		{map[string]any{"measured.sets.2.examples": 500, "measured.sets.2.decoded.sequences": share(500, 500)}, "measured.sets are"},
		{map[string]any{"measured.sets.2.decoded.tokens": share(40000, 40000)}, "has 40000 tokens, want 41000"},
		{map[string]any{"measured.sets.0.decoded.sequences": share(1000, 1000)}, "of 0 wrong answers"},
		{map[string]any{"measured.sets.0.decoded.sequences": share(1000, 1000), "measured.sets.0.first_wrong": 0}, "wrong tokens in 0 wrong sequences"},
		{map[string]any{"measured.sets.0.decoded.sequences.value": 0.5}, "value is 0.5"},
		{map[string]any{"measured.sets.0.forced": gone}, "teacher forcing false"},
		{map[string]any{"measured.sets.0.first_wrong": 1.5}, "first_wrong is 1.5"},
		{map[string]any{"measured.sets.0.encoder_ponder": 4.5}, "ponder time is 4.5"},
	},
	"algorithmic-adam-lstm/copy-seed2": {
		{map[string]any{"validation": 1e-9}, "after the same update"},
		{map[string]any{"curve.seconds.0": 1e7}, "seconds[1] is"},
	},
	"translation/news-seed1": {
		{map[string]any{"measured.sets.1.bleu": 15.31}, "bleu is 15.31, but the note"},
		{map[string]any{"measured.sets.1.chrf": 99}, "chrf is 99, but the note"},
		{map[string]any{"measured.sets.1.notes": []string{}}, "notes have BLEU 0 times"},
		{map[string]any{"measured.sets.1.sentences": 2000}, "measured.sets are"},
		{map[string]any{"measured.sets.1.alpha": 1.1}, "alpha is 1.1"},
		{map[string]any{"measured.sets.0.name": "newstest2012"}, "measured.sets are"},
		{map[string]any{"parameters": 1712832 + 76}, "which are 10001 tokens"},
	},
	"agreement-adaptive/natural-text-seed2": {
		{map[string]any{"measured.sets.0.metrics.1.value": 7}, "a share is from 0 to 1"},
		{map[string]any{"measured.sets.0.metrics.1.value": 0.87}, "cannot give"},
		{map[string]any{"measured.sets.0.metrics.1.value": nil}, "is missing"},
		{map[string]any{"measured.sets.0.metrics.2.value": 0.57}, "value is 0.57"},
		{map[string]any{"measured.sets.0.metrics.2": named("1 always plural", 30151, 52101)}, "cannot give"},
		{map[string]any{"measured.sets.0.metrics.3": named("1 last word", 30151, 52101)}, "test: baselines"},
		{map[string]any{"measured.sets.0.metrics.3.name": "1 last"}, "test: metrics"},
		{map[string]any{"measured.sets.0.metrics.3": gone}, "test: metrics"},
		{map[string]any{"measured.sets.0.decoder_ponder": 6.5}, "the ponder time"},
		{map[string]any{"measured.sets.0.ponder_deviation": 0.9}, "the ponder time"},
		{map[string]any{"measured.sets.0.ponder_deviation": 0.1}, "the ponder time"},
		{map[string]any{"measured.sets.0.ponder_tenths": gone, "measured.sets.0.ponder_deviation": 0.5}, "which its kinds cannot have"},
		{map[string]any{"measured.kinds.2.decoder_ponder": 0.5}, "the ponder time"},
		{map[string]any{"measured.kinds.2.ponder_deviation": 4}, "the ponder time"},
		{map[string]any{"parameters": 807041 + 1}, "which are 5258.00"},
		{map[string]any{"parameters": 807041 + 128}, "size of the vocabularies"},
	},
	"lambada/novels-words-seed1": {
		{map[string]any{"measured.sets.2.metrics.3.value": 206}, "the perplexity of 5153 last words is 206, but that"},
		{map[string]any{"measured.sets.2.metrics.3.value": 0.5}, "a perplexity at least 1"},
		{map[string]any{"measured.sets.0.metrics.5.value": 40}, "all tokens of the control set"},
		{map[string]any{"measured.sets.0.metrics.2": named("covered", 4000, 5000)}, "last words are correct"},
		{map[string]any{"measured.sets.5": gone}, "measured.sets are"},
	},
	"lambada/novels-pretrained-seed2": {
		{map[string]any{"config.training.pretrained": "novels-words-seed1"}, "would be trained with"},
		{map[string]any{"config.training.pretrained": "novels-seed2"}, "would be trained with"},
		{map[string]any{"config.training.pretrained": gone}, "would be trained with"},
	},
	"lambada/reading-seed1": {
		{map[string]any{"config.task.lambada_reading.prose": "other"}, "would be trained with"},
		{map[string]any{"measured.sets.0.metrics.1.value": 0.5}, "value is 0.5"},
	},
	"babi-1k-joint/joint-seed1": {
		{map[string]any{"parameters": 162304 + 1}, "which are 111.00"},
		{map[string]any{"parameters": 16230}, "which are -"},
		{map[string]any{"measured.tests.19": gone}, "measured.tests are of tasks"},
		{map[string]any{"measured.tests.3.task": 3}, "each once and in order"},
		{map[string]any{"measured.stand_in": "qa3.txt", "measured.stand_in_questions": 1000}, "measured.stand_in is"},
		{map[string]any{"validation": 1e-3}, "validation is 0.001"}, // of version 0.1
	},
	"babi-1k-single-transformer/task03-seed1": {
		{map[string]any{"curve": gone, "validation": 1e-3}, "wrong of 100 answers"},
	},
	"babi-10k-single/task03-seed1": {
		{map[string]any{"measured.stand_in": "", "measured.stand_in_questions": gone}, `measured.stand_in is ""`},
		{map[string]any{"measured.stand_in": ""}, `stand_in is "" with 1925`},
		{map[string]any{"config.task.babi.stand_in": gone}, "data is"},
		{map[string]any{"data": "bAbI en-10k task 3"}, "data is"},
	},
	"babi-10k-single-adaptive/task02-seed1": {
		{map[string]any{"measured.tests.0.questions": 500}, "stories of 500 questions"},
		{map[string]any{"measured.tests.0.task": 3}, "measured.tests are of tasks [3]"},
		{map[string]any{"measured.tests.0.wrong": -1}, "wrong is -1"},
		{map[string]any{"measured.tests.0.attention.0.stories": 900}, "attention has 900 stories"},
		{map[string]any{"measured.tests.0.attention.0.uniform": 0.5}, "uniform attention"},
		{map[string]any{"measured.tests.0.attention.1.share": 1.5}, "it is a share"},
		{map[string]any{"measured.tests.0.ponder_times": nil}, "has 0 ponder times"},
		{map[string]any{"measured.training_questions": 900}, "900 questions for training"},
		{map[string]any{"chosen_by": sweep.ByEntropy}, "chosen_by is"},
		{map[string]any{"model": "Universal Transformer, 6 steps, width 64, 4 heads"}, "model is"},
	},
}

// share is an accuracy as JSON.
func share(correct, total int) map[string]any {
	return map[string]any{"correct": correct, "total": total, "value": float64(correct) / float64(total)}
}

// named is a metric as JSON.
func named(name string, correct, total int) map[string]any {
	m := share(correct, total)
	m["name"] = name
	return m
}

// Each edit of a published result is noticed, in a copy of the results of its recipe.
func TestPublishedEdits(t *testing.T) {
	j, all := newJudge(t), publishedResults(t)
	copies := t.TempDir()
	for name, list := range edits {
		recipe, _, _ := strings.Cut(name, "-seed")
		facts := facts{}
		for _, r := range all {
			if r.Recipe == recipe {
				if err := r.Save(copies); err != nil {
					t.Fatal(err)
				}
			}
			if r.Name() != name && (r.Recipe == recipe || slices.Contains(peers, r.Recipe)) {
				j.result(r, facts)
			}
		}
		file := filepath.Join(copies, filepath.FromSlash(name)+".json")
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.refused(file, facts); err != nil {
			t.Errorf("%s: not edited: %v", name, err)
		}
		for _, e := range list {
			if err := os.WriteFile(file, edited(t, good, e.set), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := j.refused(file, facts); err == nil || !strings.Contains(err.Error(), e.says) {
				t.Errorf("%s with %v: %.300v, want %q", name, e.set, err, e.says)
			}
		}
	}
}

// A copy of another seed is noticed, also if its configuration has the other seed.
func TestPublishedCopies(t *testing.T) {
	copies := t.TempDir()
	for _, r := range publishedResults(t) {
		if r.Recipe == "algorithmic-adam/copy" && r.Seed < 3 {
			if err := r.Save(copies); err != nil {
				t.Fatal(err)
			}
		}
	}
	second, err := os.ReadFile(filepath.Join(copies, "algorithmic-adam", "copy-seed2.json"))
	if err != nil {
		t.Fatal(err)
	}
	for says, set := range map[string]map[string]any{
		"seed is 3, but config.seed is 2": {"seed": 3},
		"one is a copy of the other":      {"seed": 3, "config.seed": 3},
	} {
		if err := os.WriteFile(filepath.Join(copies, "algorithmic-adam", "copy-seed3.json"), edited(t, second, set), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := sweep.ReadAll(copies); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// refused returns the first error of a file: of its reader, or against the facts of other results.
func (j *judge) refused(file string, facts facts) error {
	r, err := sweep.Read(file)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(file, r.File()) {
		return fmt.Errorf("%s is the result of %s: its name must be %s", file, r.Name(), r.File())
	}
	return firstOf(j.result(r, maps.Clone(facts)))
}

func firstOf(list []error) error {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// edited returns a JSON text with fields set.
func edited(t *testing.T, text []byte, set map[string]any) []byte {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var fields any
	if err := d.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	for path, value := range set {
		fields = assigned(t, fields, strings.Split(path, "."), value)
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// assigned returns an object or a list with the element at a path set or deleted.
func assigned(t *testing.T, in any, path []string, value any) any {
	t.Helper()
	if len(path) == 0 {
		return value
	}
	switch in := in.(type) {
	case map[string]any:
		if value == any(gone) && len(path) == 1 {
			if _, ok := in[path[0]]; !ok {
				t.Fatalf("%s is not there", path[0])
			}
			delete(in, path[0])
			return in
		}
		in[path[0]] = assigned(t, in[path[0]], path[1:], value)
		return in
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(in) {
			t.Fatalf("element %s of %d: %v", path[0], len(in), err)
		}
		if value == any(gone) && len(path) == 1 {
			return slices.Delete(in, i, i+1)
		}
		in[i] = assigned(t, in[i], path[1:], value)
		return in
	}
	t.Fatalf("%v is no object and no list", in)
	return nil
}
