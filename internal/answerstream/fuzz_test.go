package answerstream

import (
	"strings"
	"testing"
)

// A text that comes in pieces ends before the first of the stops, wherever the pieces are divided.
func FuzzStopper(f *testing.F) {
	f.Add("2026", "02", "6", uint8(1))
	f.Add("aaab", "aab", "ab", uint8(2))
	f.Add("xabcx", "abc", "b", uint8(1)) // one within the other
	f.Add("xab", "abc", "b", uint8(1))
	f.Fuzz(func(t *testing.T, text, one, two string, size uint8) {
		if one == "" || two == "" || size == 0 {
			t.Skip()
		}
		want, stopped := text, false
		for i := range len(text) { // a plain loop over all places
			if strings.HasPrefix(text[i:], one) || strings.HasPrefix(text[i:], two) {
				want, stopped = text[:i], true
				break
			}
		}
		s, got := stopper{stops: []string{one, two}}, ""
		for rest := text; rest != ""; {
			n := min(int(size), len(rest))
			got, rest = got+s.add(rest[:n]), rest[n:]
		}
		if got += s.rest(); got != want || s.stopped != stopped {
			t.Errorf("%q with stops %q and %q in pieces of %d: %q, want %q", text, one, two, size, got, want)
		}
	})
}
