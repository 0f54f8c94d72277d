package recipes_test

import (
	"path/filepath"
	"testing"

	"universal-transformer/sweep"
)

// publishedResults reads the published results.
func publishedResults(t *testing.T) []sweep.Result {
	t.Helper()
	results, err := sweep.ReadAll(filepath.Join("..", "..", "results"))
	if err != nil || len(results) == 0 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	return results
}

// Every published result is one that its recipe gives: its configuration, to the last field, its descriptions, the end of its training, its number
// of parameters, its test sets, their numbers of examples and tokens, and the figures that the data alone determine. [TestPublishedEdits] shows
// what this notices.
func TestPublishedResults(t *testing.T) {
	for _, err := range newJudge(t).judge(publishedResults(t)) {
		t.Error(err)
	}
}
