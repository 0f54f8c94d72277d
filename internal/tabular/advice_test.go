package tabular_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
)

// A setting is proposed for a file whose rows are malformed without it, and not for one row among others that are read.
// Caught when planted: advice for each row; none for a file; that of the last row in place of the first.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		layout  tabular.Layout
		content string
		want    string // "": the file is read
	}{
		"a comma among words": {tabular.Layout{Format: tabular.Spaces}, "Anna B\n,\nBonn O\n", ""},
		"a line among pairs":  {tabular.Layout{}, "x\ta\ny;z|b\nz\tb\n", ""},
		"a line before pairs": {tabular.Layout{}, "x,a\ny\tb\nz\tb\n", ""},
		"a word among csv":    {tabular.Layout{Format: tabular.CSV}, "x,a\nword\nz,b\n", ""},
		"commas":              {tabular.Layout{}, "x,a\ny,b\nz\tb\n", ":1: no tab between text and label: set task.format=csv if the fields stand between commas"},
		"commas alone":        {tabular.Layout{}, "x,a\ny;b\n", ":1: no tab between text and label: set task.format=csv if the fields stand between commas"},
	} {
		path := write(t, "data", []byte(c.content))
		cut := func(_ int, fields []string) ([]string, error) { return fields, nil }
		_, r, err := tabular.ReadFile(c.layout, path, columns("", ""), cut)
		if err == nil {
			err = r.Check("a text and its label")
		}
		if c.want == "" && (err != nil || r.Skipped != 1 || advised(r)) || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), path+c.want)) {
			t.Errorf("%s: %v, want %q\n%s", name, err, c.want, r)
		}
	}
}

// advised reports whether a line of a malformed row proposes a setting.
func advised(r tabular.Report) bool {
	return slices.ContainsFunc(r.Malformed, func(m tabular.Malformed) bool { return strings.Contains(m.Reason, "task.") })
}

// Texts that are nearly all identical are asked about, and those of a small file are not.
// Caught when planted: a share of identical rows instead of different ones; a question about 19 rows; none about 10 % different ones.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		rows, different int
		want            bool
	}{{600, 2, true}, {600, 60, true}, {600, 61, false}, {20, 2, true}, {19, 1, false}, {600, 600, false}} {
		var rows []uint64
		for i := range c.rows {
			rows = append(rows, uint64(i%c.different))
		}
		got := tabular.Alike(rows, func(h uint64) uint64 { return h }, "rows", "texts", "text_column")
		want := fmt.Sprintf("different texts in %d rows: %d; does task.text_column choose the right column?", c.rows, c.different)
		if c.want && got != want || !c.want && got != "" {
			t.Errorf("%d of %d are different: %q", c.different, c.rows, got)
		}
	}
}
