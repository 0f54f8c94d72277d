package paper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// README prints the results of table 4 of the seeds that validation chose.
func TestReadmeHasTheResults(t *testing.T) {
	results, err := ReadAll(filepath.Join("..", "results"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lowest := 1.0
	for _, r := range of(results, "algorithmic") {
		if r.Task == "copy" {
			lowest = min(lowest, r.Measured.(*sequencesMeasured).set("length 400").Decoded.Sequences.Value())
		}
	}
	if want := fmt.Sprintf("one of the three for `copy` reaches %.3f.", lowest); !bytes.Contains(readme, []byte(want)) {
		t.Errorf("README lacks %q", want)
	}
	for experiment, title := range map[string]string{"algorithmic": "loss of three ", "algorithmic-paper": "one seed "} {
		row := title + "|"
		for _, label := range []string{"copy", "reverse", "addition"} {
			seeds := slices.DeleteFunc(of(results, experiment), func(r Result) bool { return r.Task != label })
			row += " " + decimals(chosenMeasured(seeds).set("length 400").Decoded.Sequences) + " |"
		}
		if !bytes.Contains(readme, []byte(row)) {
			t.Errorf("README lacks the row of table 4 that ends in %q", row)
		}
	}
}
