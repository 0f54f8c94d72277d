package paper

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Every published result can be read, and RESULTS.md and its figures are what they come to, to the last byte: ut report, or make report,
// writes them.
func TestPublishedPage(t *testing.T) {
	root := filepath.Join("..", "results")
	results, err := ReadAll(root)
	if err != nil || len(results) == 0 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	page := Render(results, root, "..")
	if len(page.Figures) < 3 {
		t.Errorf("%d figures are drawn, want one for each of 3 adaptive experiments at least", len(page.Figures))
	}
	for file, want := range page.Figures {
		if have, err := os.ReadFile(filepath.Join(root, file)); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what make report writes (%v)", file, err)
		}
	}
	have, err := os.ReadFile(filepath.Join("..", "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page.Bytes()) {
		t.Error("RESULTS.md is not what make report writes")
	}
}
