package subword

import (
	"strings"
	"testing"
)

// Added tokens that are not in a long text are looked for once.
// Caught when planted: tokens looked for again after every cut (the test does not end in a minute).
func TestCutsOfALongText(t *testing.T) {
	f := form{added: []string{"ab"}}
	for c := 'c'; c <= 'z'; c++ {
		f.added = append(f.added, strings.Repeat(string(c), 2))
	}
	const n = 400_000
	found := 0
	for _, token := range f.cuts(strings.Repeat("ab ", n)) {
		if token != "" {
			found++
		}
	}
	if found != n {
		t.Errorf("%d tokens, want %d", found, n)
	}
}
