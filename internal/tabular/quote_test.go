package tabular

import (
	"runtime"
	"strings"
	"testing"
)

// rowsOf reads rows of csv with two columns, of which the number of allocated bytes may be at most limit times that of the text.
func rowsOf(t *testing.T, text string, limit int) (good, bad int) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := (Layout{Format: CSV, Header: No}).Parse(strings.NewReader(text), []Column{{Name: "text"}, {Name: "label"}}, func(r Row) {
		if r.Err == nil {
			good++
		} else {
			bad++
		}
	}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated, limit := after.TotalAlloc-before.TotalAlloc, uint64(limit*len(text)); allocated > limit {
		t.Errorf("%d bytes were allocated for a text of %d, more than %d", allocated, len(text), limit)
	}
	return good, bad
}

// A quote that does not end costs memory in proportion to the lines after it, and hides none of them.
// Caught when planted: lines joined one by one, which copies all lines before each.
func TestQuoteThatDoesNotEnd(t *testing.T) {
	const lines = 10_000
	if good, bad := rowsOf(t, "\"open,1\n"+strings.Repeat("a text of some words,2\n", lines), 300); good != lines || bad != 1 {
		t.Errorf("%d rows are good and %d bad", good, bad)
	}
}

// Lines after each of which a quoted field stays open cost memory in proportion to their number, whether or not a last line closes the field. Each of
// them begins a malformed row.
// Caught when planted: every row joins the lines after it again.
func TestManyQuotesThatDoNotEnd(t *testing.T) {
	const lines = 3000
	for name, last := range map[string]string{"open": "", "closed": "a\"\n"} {
		if good, bad := rowsOf(t, strings.Repeat("\"a\",,\"\n", lines)+last, 1500); good != 0 || bad != lines {
			t.Errorf("%s: %d rows are good and %d bad, want %d bad", name, good, bad, lines)
		}
	}
}
