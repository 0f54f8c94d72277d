package tabular_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
)

// jsonFiles are files of JSON with the filter that converts them.
var jsonFiles = map[string]struct{ content, filter string }{
	"lines": {`{"text": "a\\n b", "label": 1}` + "\n" + `{"text": "x", "label": 2}` + "\n", `["text", "label"], (inputs | [.text, .label]) | @csv`},
	"a list": {"[\n {\"id\": 1,\n  \"text\": \"a\\n b\\t\\\\c \\\"d\\\"\", \"class\": true}, {\"text\": \"x\"}]\n",
		`["text", "class"], (inputs | .[] | [.text, .class]) | @csv`},
	"a list in a line": {`[{"text": "x", "class": "a"}, {}]`, `["text", "class"], (inputs | .[] | [.text, .class]) | @csv`},
	"an object":        {"{\n \"label\": \"a\",\n \"text\": \"x\"}\n", `["text", "label"], (inputs | [.text, .label]) | @csv`},
	"data":             {`{"data": [{"text": "x", "label": "a"}]}`, `["text", "label"], (inputs | .data[] | [.text, .label]) | @csv`},
	"data of lines":    {"{\"version\": 1, \"data\": [\n{\"text\": \"x\", \"label\": \"a\"},\n{}]}", `["text", "label"], (inputs | .data[] | [.text, .label]) | @csv`},
	"data inside":      {"{\n\"all of\": {\"n\": [1], \"my rows\": [{\"text\": \"x\", \"label\": \"a\"}]}}", `["text", "label"], (inputs | .["all of"]["my rows"][] | [.text, .label]) | @csv`},
	"data of 80 kB": {`{"data": [` + strings.Repeat(`{"text": "some words", "label": "a"},`, 2000) + `{}]}`,
		`["text", "label"], (inputs | .data[] | [.text, .label]) | @csv`},
	"a line of 2 MB": {`{"data": [` + strings.Repeat(`{"text": "some words", "label": "a"},`, 32_000) + `{}]}`,
		`["text", "label"], (inputs | .data[] | [.text, .label]) | @csv`},
	"lines with lists":     {`{"text": "x", "label": "a", "spans": [{"from": 1}]}` + "\n", `["text", "label"], (inputs | [.text, .label]) | @csv`},
	"other names":          {`{"content": "x", "rating": 5, "tags": ["a", "b"], "more": {"y": 1}}` + "\n", `["content", "rating", "tags"], (inputs | [.content, .rating, (.tags | join(" "))]) | @csv`},
	"other names and list": {`{"content": "x", "spans": [{"from": 1}], "rating": 5}` + "\n" + `{"content": "y"}` + "\n", `["content", "rating"], (inputs | [.content, .rating]) | @csv`},
	"one other name":       {`{"text": "x", "stars": 5}` + "\n", `["text", "stars"], (inputs | [.text, .stars]) | @csv`},
	"a label of members":   {`{"text": "x", "label": {"name": "a"}, "stars": 5}` + "\n", `["text", "stars"], (inputs | [.text, .stars]) | @csv`},
}

// A file of JSON is answered with a filter of the members that its first record has, wherever the records are; if they are none of those
// that are looked for, they are to be chosen. The command makes a file that has the records, with their backslashes and quotes.
// Caught when planted: members that no record has, the first object for a record, backslashes that are escaped, no header, lists of objects
// as fields, a file that is only read up to its first line.
func TestJSON(t *testing.T) {
	jq, missing := exec.LookPath("jq")
	for name, c := range jsonFiles {
		path := write(t, "a.json", []byte(c.content))
		_, _, err := read(t, tabular.Layout{}, path, columns("", ""))
		if err == nil || !strings.Contains(err.Error(), " it with: jq -rn '"+c.filter+"' < "+path+" > ") {
			t.Errorf("%s: %v, want %s", name, err, c.filter)
			continue
		}
		chosen := strings.Contains(c.filter, `["text", "label"]`) || strings.Contains(c.filter, `["text", "class"]`)
		if asks := strings.Contains(err.Error(), "choose by name, or by number, with task.text_column=NAME and task.label_column=NAME"); asks == chosen {
			t.Errorf("%s: %v", name, err)
		}
		if missing != nil || len(c.content) > 10_000 {
			continue
		}
		out, err := exec.CommandContext(t.Context(), jq, "-rn", c.filter, path).Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, info, err := read(t, tabular.Layout{Format: tabular.CSV, Header: tabular.Yes}, path, columns("", ""))
		if first := map[string]string{"lines": `2:a\n b|1`, "a list": `2:a  b \c "d"|true`}[name]; err != nil || len(rows) == 0 || !info.Named || first != "" && !slices.Contains(rows, first) {
			t.Errorf("%s: %q, %v\n%.200s", name, rows[:min(3, len(rows))], err, out)
		}
	}
}
