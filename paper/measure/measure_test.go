package measure

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// Cells come with the first seed before any with the second, and lie in folders of their rows.
func TestCells(t *testing.T) {
	r := request("babi-1k-single", distribution(t), t.TempDir())
	r.Columns, r.Seeds = []string{"2", "task01"}, []uint64{7, 3}
	cells := r.cells(t)
	names := ""
	for _, c := range cells {
		names += c.Name() + " "
	}
	if want := "babi-1k-single/task01-seed7 babi-1k-single/task02-seed7 babi-1k-single/task01-seed3 babi-1k-single/task02-seed3 "; names != want {
		t.Errorf("%s, want %s", names, want)
	}
	if c := cells[3]; c.Run.Seed != 3 || c.Run.Training.Steps != 60 || c.Dir() != filepath.Join(r.Runs, "babi-1k-single", "task02-seed3") {
		t.Errorf("%+v in %s", c.Run, c.Dir())
	}
}

// Of all columns those without files are left out, once for all seeds; of chosen columns a missing file is the error.
func TestCellsWithoutFiles(t *testing.T) {
	data := distribution(t)
	r := request("babi-1k-single", data, t.TempDir())
	r.Columns, r.Seeds = nil, []uint64{1, 2}
	if cells, leftOut, err := r.Cells(); err != nil || len(cells) != 4 || len(leftOut) != 18 || !strings.Contains(leftOut[0].Error(), "en/qa3_train.txt is missing") {
		t.Errorf("%d cells, %d left out, %v", len(cells), len(leftOut), err)
	}
	for want, change := range map[string]func(*Request){
		"en/qa3_train.txt is missing":     func(r *Request) { r.Columns = []string{"1", "3"} },
		"en-10k/qa1_train.txt is missing": func(r *Request) { r.Rows, r.Columns = []string{"babi-10k-joint"}, nil },
		"nowhere":                         func(r *Request) { r.Data["data"] = "nowhere" },
		"partial.txt":                     func(r *Request) { r.Data["stand-in"] = "partial.txt" },
		"no such file":                    func(r *Request) { r.Data["stand-in"] = "qa1_gone.txt" },
		"did you mean \"model.width\"":    func(r *Request) { r.Set = []string{"model.widht=3"} },
		`did you mean "babi-1k-single"`:   func(r *Request) { r.Rows = []string{"babi-1k-singel"} },
	} {
		r := request("babi-1k-single", data, t.TempDir())
		change(&r)
		if cells, _, err := r.Cells(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d cells, %v, want %q", len(cells), err, want)
		}
	}
}

// FuzzMeasured decodes what a result file may hold as every type: it is refused, or valid and itself after writing and reading. A count
// cannot be missing where it decides a figure.
func FuzzMeasured(f *testing.F) {
	for _, seed := range []string{
		`{"stand_in": "", "training_questions": 9, "validation": {"questions": 2, "wrong": 1}, "tests": [{"task": 1, "questions": 3, "wrong": 1, "ponder_times": null, "attention": [{"stories": 1, "share": 0.5, "uniform": 0.2}]}]}`,
		`{"sets": [{"name": "test", "examples": 3, "method": "m", "metrics": [{"name": "accuracy", "value": 0.5, "correct": 1, "total": 2}]}]}`,
		`{"sets": [{"name": "mix", "examples": 2, "decoded": {"tokens": {"correct": 1, "total": 2, "value": 0.5}, "sequences": {"correct": 1, "total": 2, "value": 0.5}}}]}`,
		`{"sets": [{"name": "val", "sentences": 2, "method": "m", "alpha": 1, "bleu": 40.5, "chrf": 60, "notes": [], "seconds": 1}]}`,
		`{"sets": null}`, `{"tests": []}`, `null`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, table := range paper.All() {
			m := New(table)
			if (sweep.Result{Measured: data}).Decode(m) != nil {
				continue
			}
			written, err := json.Marshal(m)
			if err != nil {
				t.Fatalf("table %d: %v", table.Number, err)
			}
			again := New(table)
			if err := (sweep.Result{Measured: written}).Decode(again); err != nil || again.Summary() != m.Summary() {
				t.Fatalf("table %d: %s after %s: %v", table.Number, written, data, err)
			}
		}
	})
}

// What cannot be is refused with the name of its field.
func TestValidate(t *testing.T) {
	for want, c := range map[string]struct {
		table int
		data  string
	}{
		"tests[0].wrong is 4 of 3 questions":    {1, `{"stand_in": "", "training_questions": 9, "validation": {"questions": 2, "wrong": 1}, "tests": [{"task": 1, "questions": 3, "wrong": 4, "ponder_times": null, "attention": null}]}`},
		"validation.wrong is -1 of 2 questions": {1, `{"stand_in": "", "training_questions": 9, "validation": {"questions": 2, "wrong": -1}, "tests": [{"task": 1, "questions": 3, "wrong": 1, "ponder_times": null, "attention": null}]}`},
		"sets are missing":                      {2, `{"sets": []}`},
		"sets[0].examples is 0":                 {3, `{"sets": [{"name": "test", "examples": 0, "method": "m", "metrics": []}]}`},
		"sets[0].decoded has 2 sequences of 3":  {4, `{"sets": [{"name": "mix", "examples": 3, "decoded": {"tokens": {"correct": 1, "total": 2, "value": 0.5}, "sequences": {"correct": 1, "total": 2, "value": 0.5}}}]}`},
		"sets[0].cut is 4 of 2 examples":        {5, `{"sets": [{"name": "mix", "examples": 2, "cut": 4, "decoded": {"tokens": {"correct": 1, "total": 2, "value": 0.5}, "sequences": {"correct": 1, "total": 2, "value": 0.5}}}]}`},
		"sets[0].bleu is 101":                   {7, `{"sets": [{"name": "val", "sentences": 2, "method": "m", "alpha": 1, "bleu": 101, "chrf": 60, "notes": [], "seconds": 1}]}`},
	} {
		err := (sweep.Result{Measured: json.RawMessage(c.data)}).Decode(New(paper.All()[c.table-1]))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
