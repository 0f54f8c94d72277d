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
	cuts, cut := 0, f.cut(strings.Repeat("ab ", n))
	for _, token := cut(); token != ""; _, token = cut() {
		cuts++
	}
	if cuts != n {
		t.Errorf("%d cuts, want %d", cuts, n)
	}
}
