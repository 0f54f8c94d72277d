package quantity

import "testing"

// One thing is in the singular, none and several are in the plural. Caught when planted: none in the singular, one in the plural.
func TestOf(t *testing.T) {
	for n, want := range []string{"0 classes", "1 class", "2 classes"} {
		if got := Of(n, "class", "classes"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n, want := range []string{"0 rows", "1 row", "2 rows"} {
		if got := Regular(n, "rows"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
