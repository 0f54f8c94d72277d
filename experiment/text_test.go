package experiment_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"universal-transformer/experiment"
)

// A configuration may have a byte order mark, and then means the same, also for the sizes of batches and the version.
// Caught when planted: a mark that is not skipped, where fields are merged (a panic), where sizes are looked for, and where the version is left out.
func TestParseWithMark(t *testing.T) {
	for _, data := range []string{
		`{"version": "1", "task": {"table": {"path": "x.tsv"}}}`,
		`{"task": {"table": {"path": "x.tsv"}}, "training": {"batch": {"rows": 8}}}`,
	} {
		want, err := experiment.Parse([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := experiment.Parse([]byte("\ufeff" + data))
		if err != nil || !bytes.Equal(got.JSON(), want.JSON()) {
			t.Errorf("%s: %s, %v", data, got.JSON(), err)
		}
	}
}

// A value with something behind it is text as a whole, which a number or a list cannot be.
// Caught when planted: what follows a closing bracket or brace is dropped.
func TestSetRefusesMore(t *testing.T) {
	r := experiment.Defaults()
	if err := json.Unmarshal([]byte(`{"task": {"table": {"path": "x.tsv"}}}`), &r); err != nil {
		t.Fatal(err)
	}
	for _, assignment := range []string{"training.steps=100]", "training.steps=100}0", "training.batch.boundaries=[8, 10]]", "training.steps=1 2",
		`model.transition={"separable_convolution": {"widths": [3, 5, 7]}}`, `model.transition={"separable_convolution": {"widths": [3]}}`} {
		if got, err := r.Set(assignment); err == nil {
			t.Errorf("%s is accepted: %d steps, boundaries %v", assignment, got.Training.Steps, got.Training.Batch.Boundaries)
		}
	}
	if got, err := r.Set(`name="a"]b`); err != nil || got.Name != `"a"]b` {
		t.Errorf("name is %q, %v", got.Name, err)
	}
}
