package sweep

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// withoutCurve is the number of published results without a learning curve, from before results had any. It is lowered, and never raised: a curve
// confirms validation and seconds.
const withoutCurve = 231

// Every published result is valid, in the form in which results are written, and says which build measured it. Caught when planted: a curve deleted.
func TestPublishedResults(t *testing.T) {
	lacking := 0
	for _, r := range asWritten(t, filepath.Join("..", "results")) {
		if r.Curve == nil {
			lacking++
		}
		if r.MeasuredBy.Version == "" || r.MeasuredBy.Commit == "" {
			t.Errorf("%s does not say which build measured it", r.Name())
		}
	}
	if lacking != withoutCurve {
		t.Errorf("%d results have no curve, want %d: the number falls, and never grows", lacking, withoutCurve)
	}
}

// asWritten returns the results below a folder, and checks that they have the form in which results are written.
func asWritten(t *testing.T, root string) []Result {
	t.Helper()
	copies := t.TempDir()
	all, err := ReadAll(root)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d results in %s, %v", len(all), root, err)
	}
	for _, r := range all {
		if err := r.Save(copies); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(root, r.File()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(copies, r.File())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is written: %v", r.File(), err)
		}
	}
	return all
}

// unrecordedSearches is what results of published searches do not record. Nothing is added to it.
var unrecordedSearches = map[string]string{
	"heads-copy/heads-1-seed1": "trained_by commit; measured_by commit",
	"heads-copy/heads-2-seed1": "trained_by commit; measured_by commit",
}

// The results of published searches and of the comparison of objectives of halting are in the form in which sweeps write them, with the whole
// provenance except for what is listed above, and [ReadAll] does not return them for the folder above. Caught when planted: the CPU of a result
// deleted; a commit added to a listed result; ReadAll that enters the folder.
func TestPublishedSearches(t *testing.T) {
	listed := maps.Clone(unrecordedSearches)
	for _, folder := range []string{SearchesFolder, HaltingFolder} {
		root := filepath.Join("..", "results", folder)
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			for _, r := range asWritten(t, filepath.Join(root, e.Name())) {
				name := e.Name() + "/" + r.Name()
				if got, want := missing(r.Header), unrecordedSearches[name]; got != want {
					t.Errorf("%s does not record %q, want %q", name, got, want)
				}
				delete(listed, name)
				if err := plausible(r.Header); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	for name := range listed {
		t.Errorf("%s is listed, but not published", name)
	}
}
