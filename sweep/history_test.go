package sweep

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every commit of a published result is in the history of the repository. Where there is none, as in an archive, a shallow clone or a copy that
// begins a history of its own, the test is skipped.
// Caught when planted: the commit deadbeefdead in a trained_by, in a measured_by and in a file of depth.
func TestPublishedCommits(t *testing.T) {
	commits := map[string]string{} // with a result that has it
	for _, r := range publishedResults(t) {
		for _, p := range []Provenance{r.TrainedBy, r.MeasuredBy} {
			for c := range strings.SplitSeq(p.Commit, "; ") {
				commits[c] = r.Name()
			}
		}
	}
	for name, c := range depthCommits(t) {
		commits[c] = name
	}
	delete(commits, "")
	history := history(t)
	var lost []string
	for c, name := range commits {
		if at, _ := slices.BinarySearch(history, c); at == len(history) || !strings.HasPrefix(history[at], c) {
			lost = append(lost, fmt.Sprintf("%s has the commit %s, which is not in the history", name, c))
		}
	}
	if len(lost) == len(commits) {
		t.Skip("commits of results: the repository has another history")
	}
	for _, text := range lost {
		t.Error(text)
	}
}

// history returns the hashes of all commits up to HEAD, sorted. It skips the test where there is no whole history.
func history(t *testing.T) []string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			t.Skipf("commits of results: there is no history of git: git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	top, err := os.Stat(git("rev-parse", "--show-toplevel"))
	if here, err2 := os.Stat(root); err != nil || err2 != nil || !os.SameFile(top, here) {
		t.Skipf("commits of results: %s is not the root of a checkout", root)
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		t.Skip("commits of results: the clone is shallow")
	}
	list := strings.Fields(git("rev-list", "HEAD"))
	slices.Sort(list)
	return list
}
