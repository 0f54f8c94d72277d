package tabular_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
)

// A file of JSON, and one of csv with another delimiter, are refused by their first line, with what reads them; a file that only begins like
// one is read.
// Caught when planted: quotes that are blamed for semicolons; rows of JSON taken for csv; rows split at a comma in a text.
func TestForeignFiles(t *testing.T) {
	const semicolons, lines = `the fields of the first row stand between ";", not between commas: set task.delimiter=";"`, `set task.delimiter="|"`
	const json = "it is JSON, which is not read: convert it with: jq -rn '"
	for name, c := range map[string]struct {
		layout        tabular.Layout
		file, content string
		text          string // the choice of the column
		want          string // part of the error; "": none
	}{
		"quoted semicolons":     {file: "a.csv", content: "\"text\";\"label\"\n\"good, or\";\"pos\"\n", want: semicolons},
		"semicolons":            {file: "a.csv", content: "text;label\nyes, good;pos\n", want: semicolons},
		"after a blank line":    {file: "a.csv", content: "\n\"text\";\"label\"\n", want: semicolons},
		"quoted lines":          {file: "a.csv", content: "\"text\"|\"label\"\n", want: lines},
		"declared":              {layout: tabular.Layout{Delimiter: ";"}, file: "a.csv", content: "text;label\nyes, good;pos\n"},
		"another file":          {layout: tabular.Layout{}.ForOther(), file: "a.csv", content: "text;label\nyes, good;pos\n"},
		"another, by name":      {layout: tabular.Layout{}.ForOther(), file: "a.csv", content: "text;label\nyes, good;pos\n", text: "text", want: `text_column is "text", but the columns are ["text;label"]: write "sep=;" in a line before it if`},
		"another that declares": {layout: tabular.Layout{}.ForOther(), file: "a.csv", content: "sep=;\ntext;label\nyes, good;pos\n", text: "text"},
		"a quote in a text":     {file: "a.csv", content: "a \"b\" c,d\nx,a\n"},
		"semicolons in a text":  {file: "a.csv", content: "a; b,c\nx,a\n"},
		"one column":            {file: "a.csv", content: "remark\nx,a\n"},
		"JSON lines":            {file: "a.jsonl", content: `{"class": 1, "text": "x"}` + "\n", want: json + `["text", "class"], (inputs | [.text, .class]) | @csv' < `},
		"JSON lines, chosen":    {file: "a.jsonl", content: `{"label": 1, "my text": "x"}` + "\n", text: "my text", want: json + `["my text", "label"], (inputs | [.["my text"], .label]) | @csv' < `},
		"an apostrophe":         {file: "a.jsonl", content: `{"it's": "x", "label": 2}` + "\n", text: "it's", want: json + `["it'\''s", "label"], (inputs | [.["it'\''s"], .label]) | @csv' < `},
		"JSON lines in .csv":    {file: "a.csv", content: `{"text": "x", "label": "a"}` + "\n", want: json + `["text", "label"], (inputs | [.text, .label]) | @csv' < `},
		"lists":                 {file: "a.jsonl", content: `{"text": ["x", "y"], "label": ["a", "b"]}` + "\n", want: json + `["text", "label"], (inputs | [(.text | join(" ")), (.label | join(" "))]) | @csv' < `},
		"another file of JSON":  {layout: tabular.Layout{}.ForOther(), file: "a.jsonl", content: "{}\n", want: json},
		"a text in braces":      {file: "a.tsv", content: "{x}\ta\n"},
		"a text in brackets":    {file: "a.tsv", content: "[{x}] y\ta\n"},
		"the same in csv":       {file: "a.csv", content: "[{x}] y,a\n"},
		"a list in a column":    {file: "a.tsv", content: "[{\"x\": 1}]\ta\n"},
		"JSON in a column":      {file: "a.tsv", content: "{\"x\": 1}\ta\n"},
		"JSON in a later row":   {file: "a.tsv", content: "x\ta\n{}\n"},
		"a bracket and its tag": {layout: tabular.Layout{Format: "spaces"}, file: "a", content: "[ O\n] O\n"},
	} {
		path := write(t, c.file, []byte(c.content))
		_, _, err := read(t, c.layout, path, columns(c.text, ""))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if strings.HasPrefix(c.want, json) && !strings.HasSuffix(err.Error(), " > "+strings.TrimSuffix(path, c.file)+map[bool]string{false: "a.csv", true: "a.new.csv"}[c.file == "a.csv"]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An error for the rows of a file tells of those that were left out, and no other error does.
func TestWithSkipped(t *testing.T) {
	whole := fmt.Errorf("all are the same")
	r := tabular.Report{Path: "a.csv", Lines: 5, Usable: 3}
	if err := tabular.WithSkipped(whole, r); err != whole {
		t.Errorf("nothing was left out: %v", err)
	}
	r.Skip(2, "no tab")
	r.Skip(4, "empty")
	const want = "all are the same; left out as malformed: 2 of 5 lines, first a.csv:2: no tab"
	if err := tabular.WithSkipped(whole, r); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := tabular.WithSkipped(nil, r); err != nil {
		t.Errorf("no error becomes %v", err)
	}
}

// Classes of one spelling are told by their bytes, and classes that nearly all rows have alone are remarked on.
// Caught when planted: case or form that is not compared; a remark on few classes, or on as many as half of the rows.
func TestClassNotes(t *testing.T) {
	if notes := tabular.ClassNotes("labels", []string{"pos", "neg", "Pos", "caf\u00e9", "cafe\u0301", "a b", "a  b"}, 100); len(notes) != 1 ||
		!strings.Contains(notes[0], `labels that differ only in case`) || !strings.Contains(notes[0], `"pos" and "Pos", "caf\u00e9" and "cafe\u0301", "a b" and "a  b"`) {
		t.Errorf("%q", notes)
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprint(i))
	}
	for _, c := range []struct {
		classes, rows int
		want          bool
	}{{30, 30, true}, {30, 59, true}, {30, 60, false}, {19, 19, false}, {20, 20, true}} {
		notes := tabular.ClassNotes("labels", many[:c.classes], c.rows)
		if got := slices.ContainsFunc(notes, func(line string) bool {
			return strings.Contains(line, fmt.Sprintf("%d labels in %d rows", c.classes, c.rows))
		}); got != c.want || len(notes) > 1 {
			t.Errorf("%d classes of %d rows: %q", c.classes, c.rows, notes)
		}
	}
}
