package tabular_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"universal-transformer/internal/tabular"
)

// Rows that are written are read back, whatever their first row looks like and wherever the columns are. Characters that have a meaning
// in files are spaces.
// Caught when planted: no header above a first row of usual names; columns in the order of the list.
func TestWrite(t *testing.T) {
	for name, c := range map[string]struct {
		columns []tabular.Column
		rows    [][]string
		want    string
	}{
		"a row like a header": {columns("", ""), [][]string{{"Text", "class"}, {"a", "b"}}, "[2:Text|class 3:a|b]"},
		"swapped":             {columns("2", "1"), [][]string{{"x", "a"}, {"text", "label"}}, "[1:x|a 2:text|label]"},
		"swapped, a header":   {columns("2", "1"), [][]string{{"text", "label"}}, "[2:text|label]"},
		"chosen by name":      {columns("", ""), [][]string{{"a \"quote\"", "b\tc\n"}}, `[1:a "quote"|b c ]`},
	} {
		var file bytes.Buffer
		if err := tabular.Write(&file, c.columns, slices.Values(c.rows)); err != nil {
			t.Fatal(err)
		}
		got, _, err := read(t, tabular.Layout{}, write(t, "f", file.Bytes()), c.columns)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %s, %v, want %s, in\n%s", name, got, err, c.want, &file)
		}
	}
}
