package agreement

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
)

// Of rows that are extended, every one begins with a row of training and ends in its tag; what stands between is phrases of other
// rows of training, from a preposition on; none is longer than the longest row; about as many are extended as were asked for; others
// are as they were. The two forms are extended alike.
// Caught when planted: phrases of the test, a tag of another row, the phrase before the preamble, a share of its complement.
func TestExtended(t *testing.T) {
	dir := numpred(t, 600)
	val, err := os.ReadFile(filepath.Join(dir, "numpred.val"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // room for phrases
		val = fmt.Appendf(val, "VBZ\tthe%s key number%d\n", strings.Repeat(" old", 15), i)
	}
	write(t, dir, "numpred.val", string(val))
	const share, n = 0.25, 3000
	for name, c := range map[string]task.Definition{
		"number":  Number{Path: dir, Regime: Enriched, Extended: share},
		"classes": Classes{Path: dir, Regime: Enriched, Extended: share},
	} {
		tk := opened(t, c)
		known, ends := map[string]bool{}, map[string]bool{}
		for _, r := range tk.training {
			known[r.text] = true
			for words := r.words()[:r.verb]; len(words) > 1; words = words[1:] {
				ends[strings.Join(words[1:], " ")] = true
			}
		}
		changed := 0
		for i := range int64(n) {
			source, target := tk.Vocabularies().Text(tk.Training(7, i))
			words := strings.Fields(source + " " + target)
			if known[strings.Join(words, " ")] {
				continue
			}
			changed++
			preamble, tag := words[:len(words)-1], words[len(words)-1]
			if len(preamble) > tk.longestPreamble() {
				t.Fatalf("%s: %d words, more than %d", name, len(preamble), tk.longestPreamble())
			}
			whole := slices.ContainsFunc(tk.training, func(r row) bool {
				own := r.words()
				at := r.verb
				return own[at] == tag && at < len(preamble) && slices.Equal(own[:at], preamble[:at]) && phrasesOf(preamble[at:], ends, maxPhrases)
			})
			if !whole {
				t.Fatalf("%s: %q is no row of training with phrases of others", name, words)
			}
		}
		if changed < n/5 || changed > n*3/10 {
			t.Errorf("%s: %d of %d extended, want a quarter", name, changed, n)
		}
	}
}

// phrasesOf tells whether words are one to most of the ends, each from a preposition on.
func phrasesOf(words []string, ends map[string]bool, limit int) bool {
	if len(words) == 0 || limit == 0 {
		return len(words) == 0
	}
	for n := 2; n <= min(longestPhrase, len(words)); n++ {
		if prepositions[words[0]] && ends[strings.Join(words[:n], " ")] && phrasesOf(words[n:], ends, limit-1) {
			return true
		}
	}
	return false
}

// A share that is none is refused, and so are rows without a phrase.
func TestExtendedRefusals(t *testing.T) {
	for _, share := range []float64{-0.1, 1.1} {
		if err := (Number{Path: "data", Regime: Natural, Extended: share}).Validate(); err == nil || !strings.Contains(err.Error(), "extended is") {
			t.Errorf("%v: %v", share, err)
		}
	}
	dir := numpred(t, 40)
	for _, name := range []string{"numpred.val", "numpred.test.1"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, strings.ReplaceAll(string(text), " of ", " and "))
	}
	if _, err := (Number{Path: dir, Regime: Enriched, Extended: 0.5}).Open(); err == nil || !strings.Contains(err.Error(), "no training row ends in a prepositional phrase") {
		t.Errorf("rows without a phrase: %v", err)
	}
}
