package viewer

import (
	"strings"
	"testing"
)

// The heading has the characters of the tokens and nothing else: a first token of up to 80 characters is whole, and the sign of omission
// follows what was cut. Caught when planted: a separator counted before the first token, which filled the token up with NUL characters.
func TestHead(t *testing.T) {
	for n := 70; n <= 80; n++ {
		phrase, word := strings.Repeat("a", n-2)+" b", strings.Repeat("a", n)
		for first, second := range map[string]string{phrase: strings.Repeat("c", 80) + " d", word: strings.Repeat("c", 80)} {
			if got := quoted([]string{first, second}).Text(); got != first+"…" {
				t.Errorf("%d characters: %q", n, got)
			}
		}
	}
	if got, want := quoted([]string{strings.Repeat("a", 81)}).Head().Marks[0].Token, strings.Repeat("a", 80)+"…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
