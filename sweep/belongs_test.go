package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// A result is that of a cell only if it was measured by the cell's protocol. Results of earlier versions tell lengths and a number of examples.
// Caught when planted: no comparison; a comparison of lengths only; other numbers of drawn examples accepted in results of earlier versions.
func TestMismatch(t *testing.T) {
	for _, c := range []struct{ measure, found, want string }{
		{`{"length": 12, "count": 20}`, `"examples": 20, "lengths": "length 12", "measure": {"length": 12, "count": 20}`, ""},
		{`{"length": 12, "count": 20}`, `"examples": 20, "lengths": "length 3", "measure": {"length": 3, "count": 20}`, `was measured with {"length":3,"count":20}, but measure is {"length":12,"count":20}`},
		{`{"length": 12, "count": 20}`, `"examples": 10, "lengths": "length 12", "measure": {"length": 12, "count": 10}`, `with {"length":12,"count":10}`},
		{`{"teacher_forced": true}`, `"examples": 10, "lengths": "lengths as in training", "measure": {}`, `with {}, but measure is {"teacher_forced":true}`},
		{`{"file": "b.tsv"}`, `"examples": 10, "lengths": "of a.tsv", "measure": {"file": "a.tsv"}`, `with {"file":"a.tsv"}`},
		{`{"length": 12, "count": 20}`, `"examples": 20, "lengths": "length 12"`, ""},
		{`{"length": 12, "count": 20}`, `"examples": 20, "lengths": "length 3"`, "was measured on 20 examples, length 3, but"},
		{`{"length": 12, "count": 20}`, `"examples": 10, "lengths": "length 12"`, "was measured on 10 examples"},
		{`{"count": 20}`, `"examples": 10, "lengths": "lengths as in training"`, ""}, // a file may have fewer
		{`{"count": 20}`, `"examples": 30, "lengths": "lengths as in training"`, "was measured on 30 examples"},
		{`{"file": "a.tsv"}`, `"examples": 30, "lengths": "of a.tsv"`, ""},
		{`{}`, `"examples": 30, "lengths": "of a.tsv"`, "of a.tsv, but measure is {}"},
	} {
		run, err := resolve("own-pairs")
		cell := Cell{Recipe: "a", Run: run}
		if err := errors.Join(err, json.Unmarshal([]byte(c.measure), &cell.Protocol)); err != nil {
			t.Fatal(err)
		}
		r, m := example(), &Metrics{}
		r.Config, r.Measured = run.JSON(), json.RawMessage(`{"metrics": [{"name": "accuracy", "value": 0.5}], `+c.found+`}`)
		if err := r.Decode(m); err != nil {
			t.Fatal(err)
		}
		if err := cell.Mismatch(r, m); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, measured %s: %v, want %q", c.measure, c.found, err, c.want)
		}
		cell.Run.Training.Steps++
		if err := cell.Mismatch(r, m); err == nil || err.Error() != "has a result of another configuration" {
			t.Errorf("another configuration: %v", err)
		}
	}
}

// A result with a configuration that only another version knows is not that of the cell: it is of another configuration if known fields differ, and
// otherwise the two cannot be compared, which is an error that names the file and what to do. No cell takes it for its own, and no summary counts it.
// Caught when planted: the result taken for that of the cell; the fields that are known not compared.
func TestResultWithUnknownFields(t *testing.T) {
	cells := smallCells(t, t.TempDir())
	for i, c := range []struct {
		old, new string
		changed  bool
	}{
		{`"training":{`, `"training":{"later":7,`, false},
		{`"steps":60`, `"updates":60`, false},
		{`"halting":{"fixed":`, `"halting":{"constant":`, false},
		{`"width":16`, `"width":24,"later":{"of":16}`, true},
	} {
		cell, r := cells[i], example()
		config, err := json.Marshal(cell.Run.WithoutDirectories())
		if err != nil || !strings.Contains(string(config), c.old) {
			t.Fatalf("%s is not in %s, %v", c.old, config, err)
		}
		r.Recipe, r.Seed, r.TrainedBy.Version, r.ChosenBy = cell.Recipe, cell.Run.Seed, "0.9.0", ByAccuracy
		r.Measured = json.RawMessage(`{"examples": 20, "lengths": "length 4", "measure": {"length": 4, "count": 20}, "metrics": [{"name": "accuracy", "value": 0.5}]}`)
		r.Config = json.RawMessage(strings.Replace(string(config), c.old, c.new, 1))
		if err := r.Save(cell.Results); err != nil {
			t.Fatal(err)
		}
		if cell.Changed(r) != c.changed {
			t.Errorf("%s: changed is %v", c.new, !c.changed)
		}
		_, _, done, err := cell.Done()
		if c.changed {
			if err != nil || !done || cell.Mismatch(r, &Metrics{}).Error() != "has a result of another configuration" {
				t.Errorf("%s: %v, %v", c.new, done, err)
			}
			continue
		}
		for _, part := range []string{cell.File() + ": its configuration was written by 0.9.0+abc and cannot be compared", "remove the file and " + cell.Dir()} {
			if err == nil || done || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "line ") {
				t.Errorf("%s: %v, %v, want %q", c.new, done, err, part)
			}
		}
		run, got := runner(1)
		if err := run.Run(t.Context(), cells[i:i+1]); err == nil || got[cell.Name()].Err == nil || got[cell.Name()].Before {
			t.Errorf("%s: %v, %+v", c.new, err, got)
		}
		if _, err := Summarize(cells[i : i+1]); err == nil || !strings.Contains(err.Error(), cell.File()) {
			t.Errorf("%s: a summary, %v", c.new, err)
		}
	}
	if list, err := Summarize(cells[3:]); err != nil || list[0].Missing != 1 || len(list[0].Seeds) != 0 {
		t.Errorf("a summary of another configuration: %+v, %v", list, err)
	}
}

// A result of a run with a type of another module has the cell's configuration wherever the files of its task are.
// Caught when planted: a configuration compared without the types of the cell; a field that the result lacks taken from the cell.
func TestUnchangedWithTypesOfOtherModules(t *testing.T) {
	cell := smallCells(t, t.TempDir())[0]
	cell.Run.Task.Value = Elsewhere{Path: "here/words.txt"}
	r, moved := example(), cell.Run
	moved.Task.Value = Elsewhere{Path: "there/list.txt"}
	r.Config = moved.JSON()
	if cell.Changed(r) {
		t.Error("files in another place are another configuration")
	}
	moved.Task.Value = Elsewhere{Path: "here/words.txt", Length: 3}
	r.Config = moved.JSON()
	if !cell.Changed(r) {
		t.Error("another length is no other configuration")
	}
	cell.Run.Task.Value = Elsewhere{Path: "here/words.txt", Repeats: 2}
	moved.Task.Value = Elsewhere{Path: "here/words.txt"}
	r.Config = moved.JSON()
	if !cell.Changed(r) {
		t.Error("a field that the result lacks is no other configuration")
	}
}

// Elsewhere is a task of another module that reads a file, wherever it is.
type Elsewhere struct {
	algorithmic.Copy
	Path    string `json:"path" file:"any"`
	Length  int    `json:"length"`
	Repeats int    `json:"repeats,omitempty"`
}

// pairs writes a file of pairs whose targets are chosen by shift.
func pairs(t *testing.T, path string, shift int) {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%c %c\t%c\n", 'a'+i%6, 'a'+i/6%6, 'a'+(i+shift)%6)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pairsCells returns the file and the cells of a sweep over the pairs in a folder.
func pairsCells(t *testing.T, root string, seeds int) (File, []Cell) {
	t.Helper()
	f, err := ParseFile(fmt.Appendf(nil, `{"name": "pairs", "base": {"task": {"table": {"path": %q}}, "model": {"encoder_decoder": {"width": 16, "heads": 2, "halting": {"fixed": {"steps": 1}}}}},
		"set": ["training.steps=4", "training.evaluate_every=4", "training.checkpoint_every=4"], "seeds": %d, "measure": {"file": %q}}`,
		filepath.Join(root, "pairs.tsv"), seeds, filepath.Join(root, "test.tsv")))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(filepath.Join(root, "out"), func(string) (experiment.Run, error) { return experiment.Run{}, errors.New("no recipe is wanted") })
	if err != nil {
		t.Fatal(err)
	}
	return f, cells
}

// A seed is not trained or measured on other data than the finished ones, and results of different data have no mean. A finished sweep
// needs no data. A run whose result was removed is measured again, without advice on how to train it further.
// Caught when planted: finished cells not compared; only the data of training compared; no comparison in the summary; the advice logged; a
// result read once more for its digests.
func TestDataOfSeeds(t *testing.T) {
	root := t.TempDir()
	data, test := filepath.Join(root, "pairs.tsv"), filepath.Join(root, "test.tsv")
	pairs(t, data, 0)
	pairs(t, test, 0)
	one, cells := pairsCells(t, root, 1)
	run, got := runner(1)
	if err := run.Run(t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	first := got["base-seed1"]
	digests := digestsOf(first.Result, first.Measured)
	if len(digests) != 4 || digests["training"] == "" || digests["validation"] == "" || digests["test"] == "" || digests["measure.file"] == "" {
		t.Errorf("%+v", digests)
	}
	two, both := pairsCells(t, root, 2)
	read := 0
	both[0].New = func() Measured { read++; return &Metrics{} }
	if err := two.Check(t.Context(), both, nil); err != nil || read != 1 {
		t.Errorf("the same data: %v, the result is read %d times", err, read)
	}
	pairs(t, test, 2)
	if err := two.Check(t.Context(), both, nil); err == nil || !strings.Contains(err.Error(), cells[0].File()+" is of other data than those that are read now (measure.file): restore the files, or remove it and "+cells[0].Dir()) {
		t.Errorf("another file to measure: %v", err)
	}
	pairs(t, test, 0)
	pairs(t, data, 2)
	if err := two.Check(t.Context(), both, nil); err == nil || !strings.Contains(err.Error(), "(test, training, validation)") {
		t.Errorf("other data: %v", err)
	}
	if err := run.Run(t.Context(), both); err != nil { // as if the file had been replaced while seed 1 was trained
		t.Fatal(err)
	}
	if _, err := Summarize(both); err == nil || !strings.Contains(err.Error(), "base-seed1.json and "+both[1].File()+" are of different data (test, training, validation) and cannot be compared") {
		t.Errorf("a mean over different data: %v", err)
	}

	pairs(t, data, 0)
	var log []string
	run.Log = func(line string) { log = append(log, line) }
	if err := errors.Join(os.Remove(cells[0].File()), run.Run(t.Context(), cells)); err != nil || got["base-seed1"].Before {
		t.Fatal(err)
	}
	if text := strings.Join(log, "\n"); strings.Contains(text, "train further") || !strings.Contains(text, "base-seed1: training has finished before: the checkpoint is only measured") {
		t.Errorf("%s", text)
	}
	if err := errors.Join(os.Remove(data), os.Remove(test), one.Check(t.Context(), cells, nil)); err != nil {
		t.Errorf("a finished sweep without its data: %v", err)
	}
	if _, err := Summarize(cells); err != nil {
		t.Errorf("a finished sweep without its data: %v", err)
	}
}

// Examples for choosing a checkpoint are named in the result. Caught when planted: the name of the lengths alone.
func TestValidationIsNamed(t *testing.T) {
	cells := smallCells(t, t.TempDir())[:1]
	cells[0].Protocol = Protocol{Selection: task.Selection{Validation: true, Length: 4, Count: 5}}
	run, got := runner(1)
	if err := run.Run(t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	if m := got["one-seed4"].Measured.(*Metrics); m.Lengths != "validation, length 4" || m.Examples != 5 {
		t.Errorf("%+v", m)
	}
}

// Digests of data that one side did not record are no difference; those of the file of examples are, where both have one.
// Caught when planted: a side with the digest of its file alone that counts as other data; a file that is not compared.
func TestDiffering(t *testing.T) {
	type digests = map[string]string
	for _, c := range []struct {
		a, b digests
		want string
	}{
		{nil, digests{"training": "x"}, ""}, {digests{"training": "x", "test": "y"}, digests{"training": "x", "test": "y"}, ""},
		{digests{"training": "x", "test": "y"}, digests{"training": "z"}, "test, training"},
		{digests{filePart: "f"}, digests{"training": "x", filePart: "f"}, ""}, {digests{filePart: "f"}, digests{"training": "x"}, ""},
		{digests{filePart: "f"}, digests{"training": "x", filePart: "g"}, filePart}, {digests{filePart: "f"}, digests{filePart: "g"}, filePart},
		{digests{"training": "x", filePart: "f"}, digests{"training": "x", filePart: "g"}, filePart},
		{digests{"training": "x", filePart: "f"}, digests{"training": "x"}, filePart},
		{digests{"training": "x", filePart: "f"}, digests{"training": "z", filePart: "g"}, "training"},
	} {
		for range 2 {
			if got := differing(c.a, c.b); got != c.want {
				t.Errorf("%v and %v: %q, want %q", c.a, c.b, got, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

// Results with digests of their data are compared with each other, also if a result without them stands before. Caught when planted: results that are
// compared with the first one only.
func TestDataGroups(t *testing.T) {
	groups := dataGroups{}
	add := func(seed uint64, data map[string]string) error {
		c := Cell{Recipe: "base", Run: experiment.Run{Task: experiment.Task{Value: algorithmic.Copy{}}, Seed: seed}}
		var r Result
		r.DataDigests = data
		return groups.add(c, r, &Metrics{FileDigest: "f"})
	}
	for seed, data := range []map[string]string{nil, {"training": "x"}, nil, {"training": "x"}} {
		if err := add(uint64(seed), data); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if err := add(4, map[string]string{"training": "y"}); err == nil || !strings.Contains(err.Error(), "base-seed1.json and ") || !strings.Contains(err.Error(), "(training)") {
		t.Errorf("other data: %v", err)
	}
}
