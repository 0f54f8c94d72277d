package penn

import (
	"strings"
	"testing"
)

// Long rows of marks cost time in proportion to their length.
// Caught when planted (the test does not end in a minute): every mark looks for a letter in all of the marks after it.
func TestLongRowsOfMarks(t *testing.T) {
	const n = 150_000
	for text, want := range map[string]int{
		"a" + strings.Repeat("--.", n):      1 + 2*n,
		"a" + strings.Repeat("'-", n) + "b": 1,
		"a" + strings.Repeat(".-", n) + "b": 1,
		strings.Repeat(".", 3*n):            n,
		strings.Repeat("a;", n) + "a--":     2*n + 2,
	} {
		if got := len(Words(text)); got != want {
			t.Errorf("%.10q: %d words, want %d", text, got, want)
		}
	}
}
