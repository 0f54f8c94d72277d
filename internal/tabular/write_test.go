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
		layout  tabular.Layout
		columns []tabular.Column
		rows    [][]string
		want    string
	}{
		"a row like a header": {tabular.Layout{}, columns("", ""), [][]string{{"Text", "class"}, {"a", "b"}}, "[2:Text|class 3:a|b]"},
		"swapped":             {tabular.Layout{}, columns("2", "1"), [][]string{{"x", "a"}, {"text", "label"}}, "[1:x|a 2:text|label]"},
		"swapped, a header":   {tabular.Layout{}, columns("2", "1"), [][]string{{"text", "label"}}, "[2:text|label]"},
		"chosen by name":      {tabular.Layout{}, columns("", ""), [][]string{{"a \"quote\"", "b\tc\n"}}, `[1:a "quote"|b c ]`},
		"header configured":   {tabular.Layout{Header: "yes"}, columns("1", "2"), [][]string{{"a", "b"}}, "[2:a|b]"},
		"header denied":       {tabular.Layout{Header: "no"}, columns("", ""), [][]string{{"text", "label"}}, "[1:text|label]"},
		"csv":                 {tabular.Layout{Format: "csv"}, columns("", ""), [][]string{{"\"a\"", "b"}}, `[1:"a"|b]`},
		"semicolons":          {tabular.Layout{Delimiter: ";"}, columns("", ""), [][]string{{"a;c", "b"}}, "[1:a;c|b]"},
	} {
		var file bytes.Buffer
		if err := c.layout.Write(&file, c.columns, slices.Values(c.rows)); err != nil {
			t.Fatal(err)
		}
		got, _, err := read(t, c.layout.ForOther(), write(t, "f", file.Bytes()), c.columns)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %s, %v, want %s, in\n%s", name, got, err, c.want, &file)
		}
	}
}
