package tabular_test

import (
	"fmt"
	"testing"

	"universal-transformer/internal/tabular"
)

// A NUL character in any line of a quoted field makes its row malformed, and no other.
// Caught when planted: a check of the first line alone; the lines of the field read as rows of their own.
func TestNULInField(t *testing.T) {
	path := write(t, "a.csv", []byte("x,a\n\"y\nz\x00\nw\",b\nv,c\n"))
	rows, _, err := read(t, tabular.Layout{}, path, columns("", ""))
	if want := "[1:x|a 2! it has a NUL character 5:v|c]"; err != nil || fmt.Sprint(rows) != want {
		t.Errorf("%q, %v, want %s", rows, err, want)
	}
}

// A file is csv by its name in upper case, too, also below that of a compression.
// Caught when planted: endings of compressions in lower case alone.
func TestUpperCaseNames(t *testing.T) {
	for _, name := range []string{"A.CSV", "A.CSV.GZ", "a.csv.XZ"} {
		if rows, _, err := read(t, tabular.Layout{}, write(t, name, zip([]byte("x,a\ny,b\n"))), columns("", "")); err != nil || fmt.Sprint(rows) != "[1:x|a 2:y|b]" {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}
