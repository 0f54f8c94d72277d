package experiment_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
)

// Whatever the text, Parse gives an error of one line or a run that is valid, complete, and stable under writing and reading.
func FuzzParse(f *testing.F) {
	for _, e := range recipes.All() {
		f.Add(e.Run().JSON())
	}
	f.Add([]byte(`{"task": {"table": {"path": "x.tsv"}}, "model": {"encoder_decoder": {"positions": {"random_subset": {"max": 3}}}}}`))
	f.Add([]byte(`{"task": {"copy": null}, "training": {"schedule": null}}`))
	f.Add([]byte(`{"task": {"addition": {"base": 2}}, "model": null, "training": {"batch": {"rows": 1}}}`))
	f.Add([]byte(`{"task": {"labels": {"path": "x", "tokenizer": "characters"}}, "model": {"classifier": {"dropout": {}}}, "training": {"batch": {"tokens": 9}}}`))
	f.Add([]byte(`{"task": {"tags": null}, "model": {"tagger": {"dropout": null}}, "training": {"batch": null, "stop": null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := experiment.Parse(data)
		if err != nil {
			oneLine(t, err)
			return
		}
		stable(t, r)
	})
}

// Whatever is set, one assignment a line, Set gives an error of one line or a run that is valid and stable under writing and reading,
// and leaves the run that it was asked of alone.
func FuzzSet(f *testing.F) {
	for i, assignments := range []string{
		"model.width=128\nmodel.heads=4", "training.batch.boundaries=[5, 9]", `model.halting={"fixed": {"steps": 6}}`, "model.halting.graves.max_steps=3",
		`model.coordinates={"sinusoidal": {}}`, "model.positions.random_subset.max=30", "task.copy.max_length=20", "training.schedule.constant.rate=1e-3",
		"name=mine\nseed=18446744073709551615", "model.width.x=3", "model..width=5", "task=reverse", "=", "model={}\nmodel.x=1", "training.weight_decay=0.1",
	} {
		f.Add(assignments, uint8(i))
	}
	var runs []experiment.Run
	for _, e := range recipes.All() {
		runs = append(runs, e.Run())
	}
	f.Fuzz(func(t *testing.T, assignments string, which uint8) {
		before := runs[int(which)%len(runs)]
		content := before.JSON()
		r, err := before.Set(strings.Split(assignments, "\n")...)
		if !bytes.Equal(before.JSON(), content) {
			t.Fatalf("%q changes the run it was asked of", assignments)
		}
		if err != nil {
			oneLine(t, err)
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("%q: %v", assignments, err)
		}
		stable(t, r)
	})
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("an error of more than one line: %q", err)
	}
}

// stable checks that a run is itself again after being written and read.
func stable(t *testing.T, r experiment.Run) {
	t.Helper()
	if !json.Valid(r.JSON()) {
		t.Fatalf("%s", r.JSON())
	}
	again, err := experiment.Parse(r.JSON())
	if err != nil || !reflect.DeepEqual(again, r) || !bytes.Equal(again.JSON(), r.JSON()) {
		t.Fatalf("%s\nread again: %v\n%s", r.JSON(), err, again.JSON())
	}
}
