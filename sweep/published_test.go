package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Every published result is valid, in the form in which results are written, and says which build measured it.
func TestPublishedResults(t *testing.T) {
	root, copies := filepath.Join("..", "results"), t.TempDir()
	all, err := ReadAll(root)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d results, %v", len(all), err)
	}
	for _, r := range all {
		if r.MeasuredBy.Version == "" || r.MeasuredBy.Commit == "" {
			t.Errorf("%s does not say which build measured it", r.Name())
		}
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
}
