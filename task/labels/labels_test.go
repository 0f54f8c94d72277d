package labels

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// write makes a CSV file of the given rows.
func write(t *testing.T, rows ...[]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labels.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers is n rows of a number in words and the name of its remainder by 3.
func numbers(n int) (rows [][]string) {
	words := strings.Fields("zero one two three four five six seven eight nine")
	for i := range n {
		var text []string
		for _, d := range fmt.Sprint(i) {
			text = append(text, words[d-'0'])
		}
		rows = append(rows, []string{strings.Join(text, " "), []string{"none", "one left", "two left"}[i%3]})
	}
	return rows
}

func open(t *testing.T, c Labels) *Task {
	t.Helper()
	opened, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*Task)
}

func TestConformance(t *testing.T) {
	path := write(t, numbers(2000)...)
	for name, c := range map[string]Labels{
		"characters": {Path: path},
		"words":      {Path: path, Tokenizer: vocab.Whitespace, HeldOut: 0.3},
		"subwords":   {Path: path, Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, open(t, c))
			tasktest.Files(t, c, open(t, c), false)
		})
	}
}

// Every text has its own label, whatever its part; no text is in two parts; labels are classes of one id, in the order of their frequency.
// Caught when planted: labels of other rows, a split by row, the spaces around a label kept.
func TestParts(t *testing.T) {
	rows := numbers(3000)
	rows = append(rows, numbers(1500)...) // the first half twice
	for i := range rows {
		rows[i][1] = " " + rows[i][1]
	}
	tk := open(t, Labels{Path: write(t, rows...), Tokenizer: vocab.Whitespace})
	of := map[string]string{}
	for _, r := range rows {
		of[r[0]] = strings.TrimSpace(r[1])
	}
	part := map[string]string{}
	sizes := map[string]int{}
	for name, examples := range map[string][]task.Example{"training": tk.TrainingPart, "validation": tk.ValidationPart, "test": tk.TestPart} {
		sizes[name] = len(examples)
		for _, e := range examples {
			source, target := tk.v.Text(e)
			if o, label := e.Origin.(Origin).Text(); of[source] != target || o != source || label != target {
				t.Fatalf("%q has the label %q, its origin %q and %q", source, target, o, label)
			}
			if part[source] != "" && part[source] != name {
				t.Fatalf("%q is in %s and %s", source, part[source], name)
			}
			part[source] = name
		}
	}
	// 4500 rows, 5 % in each held-out part; half of the texts occur twice, so the deviation is at most 2 * sqrt(3000 * 0.05 * 0.95) = 24
	if sizes["training"]+sizes["validation"]+sizes["test"] != 4500 || math.Abs(float64(sizes["validation"])-225) > 120 || math.Abs(float64(sizes["test"])-225) > 120 {
		t.Errorf("%v", sizes)
	}
	if got := tk.Vocabularies().Target.Tokens(); !slices.Equal(got, []string{"none", "one left", "two left"}) {
		t.Errorf("labels %q", got)
	}
}

// Columns are chosen by name; rows without a label are skipped and reported; labels of the file for evaluation are known, although they
// cannot be learned; a file to evaluate on may have others.
func TestFiles(t *testing.T) {
	path := write(t, append([][]string{{"id", "stars", "review"}, {"0", "", "no label"}, {"1", "5", ""}, {"2", "<end>", "reserved"}}, stars(60)...)...)
	held := write(t, []string{"review", "stars"}, []string{"text 1 q", "5"}, []string{"text 2", "0"})
	c := Labels{Path: path, HeldOutPath: held, TextColumn: "review", LabelColumn: "stars", Tokenizer: vocab.Whitespace}
	tk := open(t, c)
	notes := strings.Join(tk.Notes(), "\n")
	for _, want := range []string{`text is column "review", label is column "stars"`, "labels.csv:2: the label is empty", "labels.csv:3: the text is empty", "labels.csv:4: the label is the reserved token <end>",
		"60 usable, 3 malformed", `labels in held-out rows only, which cannot be learned: 1, ["0"]`, "held-out texts have 1 unknown token, among them [\"q\"]"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not have %q:\n%s", want, notes)
		}
	}
	examples, notesOfFile, err := c.Reader(tk.v).File(write(t, []string{"text 1", "5"}, []string{"text 2", "9"}))
	if err != nil || len(examples) != 2 || examples[1].Target[0] != vocab.End || !strings.Contains(strings.Join(notesOfFile, "\n"), `label that the model does not know, among them ["9"]`) {
		t.Errorf("%v, %q, %v", examples, notesOfFile, err)
	}
	other := write(t, []string{"en", "de"}, []string{"one", "eins"}, []string{"two", "zwei"})
	if _, _, err := c.Reader(tk.v).File(other); err == nil || !strings.Contains(err.Error(), `task.text_column is "review", but the columns are ["en" "de"]`) {
		t.Errorf("a file of another kind: %v", err)
	}
	if ids, err := c.Reader(tk.v).Target(" 5 "); err != nil || tk.v.Target.Token(ids[0]) != "5" || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := c.Reader(tk.v).Target("9"); err == nil {
		t.Error("an unknown label is accepted")
	}
}

// A header that is not recognized has a label that no other row has, which is an error, unless other labels are rare, too, or the header
// is denied.
func TestHeaderTakenForData(t *testing.T) {
	tsv := func(rows [][]string) string {
		path := filepath.Join(t.TempDir(), "labels.tsv")
		var text strings.Builder
		for _, r := range rows {
			text.WriteString(strings.Join(r, "\t") + "\n")
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := append([][]string{{"what", "remainder"}}, numbers(200)...)
	const want = `first row is read as data, but its label, "remainder", is that of no other row, and every other label is that of several: if it is a header, set task.header=yes, otherwise task.header=no`
	for name, c := range map[string]struct {
		config  Labels
		refused bool
	}{
		"header":         {Labels{Path: tsv(rows)}, true},
		"denied":         {Labels{Path: tsv(rows), Layout: tabular.Layout{Header: tabular.No}}, false},
		"declared":       {Labels{Path: tsv(rows), Layout: tabular.Layout{Header: tabular.Yes}}, false},
		"no header":      {Labels{Path: tsv(numbers(200))}, false},
		"rare elsewhere": {Labels{Path: tsv(append(slices.Clone(rows), []string{"x", "rare"}))}, false},
	} {
		if _, err := c.config.Open(); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error: %v", name, err, c.refused)
		}
	}
	// a run of an earlier version has learned the label of its header
	v := open(t, Labels{Path: tsv(rows), Layout: tabular.Layout{Header: tabular.No}}).Vocabularies()
	const note = `the first row is read as data ("remainder" is the label of no other row): if it is a header, set task.header=yes`
	if again, err := (Labels{Path: tsv(rows)}).OpenWith(v); err != nil || !strings.Contains(strings.Join(again.Notes(), "\n"), note) {
		t.Errorf("with the vocabularies of a run: %v", err)
	}
}

// stars is n rows of a number, one of five labels, and a text.
func stars(n int) (rows [][]string) {
	for i := range n {
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(1 + i%5), fmt.Sprintf("text %d", i)})
	}
	return rows
}

func TestRefused(t *testing.T) {
	good := write(t, numbers(100)...)
	one := [][]string{}
	for _, r := range numbers(100) {
		one = append(one, []string{r[0], "same"})
	}
	for want, c := range map[string]Labels{
		"path is empty":         {},
		"held_out is 1":         {Path: good, HeldOut: 1},
		"give only one of them": {Path: good, HeldOut: 0.2, HeldOutPath: good},
		"min_count is -1":       {Path: good, MinCount: -1},
		"max_length is -1":      {Path: good, MaxLength: -1},
		"leave it out":          {Path: good, MinCount: 2, Tokenizer: vocab.Subwords},
		"no such file":          {Path: good + "x"},
		"format is":             {Path: good, Layout: tabular.Layout{Format: "xls"}},
		"but the columns are":   {Path: good, TextColumn: "review"},
		"at least two labels":   {Path: write(t, one...)},
		"at least two labels; left out as malformed: 2 of 102 rows, first": {Path: write(t, append(one, []string{"x"}, []string{"y", "a", "b"})...)},
		"each part needs some": {Path: write(t, numbers(2)...)},
		"raise it":             {Path: good, MaxLength: 2},
		"1 row for training, 0 for choosing a checkpoint and 100 for evaluation: each part needs some, and identical ones go to the same part; add rows": {Path: write(t, numbers(1)...), HeldOutPath: good},
		"has a header and nothing else: it must have a text and its label in each row":                                                                   {Path: write(t, []string{"text", "label"})},
		"row for training, ":    {Path: write(t, []string{"text", "label"}, []string{"x", "a"}), Tokenizer: vocab.Subwords},
		"none of 1 rows can be": {Path: write(t, []string{"a", ""})},
	} {
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// classes is a model that answers with given classes.
type classes struct {
	task.Model
	ids []vocab.ID
}

func (c classes) Classify(context.Context, []task.Example) (list []task.Classified, err error) {
	for _, id := range c.ids {
		list = append(list, task.Classified{Class: id})
	}
	return list, nil
}

// The figures are those of scikit-learn 1.9.1 for the same answers, one of them on an unknown label:
//
//	from sklearn.metrics import *
//	t = "a a b b c x".split(); p = "a b b b a c".split()
//	accuracy_score(t, p), f1_score(t, p, average="macro"), confusion_matrix(t, p)
func TestMeasure(t *testing.T) {
	target, err := vocab.New([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	var examples []task.Example
	for _, label := range strings.Fields("a a b b c x") {
		id, ok := target.ID(label)
		if !ok {
			id = vocab.End
		}
		examples = append(examples, task.Example{Target: []vocab.ID{id}, Origin: Origin{"text", label}})
	}
	m, err := Labels{}.Measure(task.Vocabularies{Target: target}).Measure(t.Context(), classes{ids: []vocab.ID{2, 3, 3, 3, 2, 4}}, examples)
	if err != nil || m.Metrics[0].Value != 0.5 || math.Abs(m.Metrics[1].Value-0.325) > 1e-9 || fmt.Sprint(m.Confusion.Counts) != "[[1 1 0 0] [0 2 0 0] [1 0 0 0] [0 0 1 0]]" {
		t.Errorf("%+v, %+v, %v", m.Metrics, m.Confusion, err)
	}
	if m.Answers[0].Text != "a" || !m.Answers[0].Correct || m.Answers[5].Correct || !strings.Contains(strings.Join(m.Notes, "\n"), "1 of 6 examples have a label that the model does not know") {
		t.Errorf("%+v, %q", m.Answers, m.Notes)
	}
}

// A file to evaluate on is compared with the training part, as long as that can be read.
// Caught when planted: the whole file for the training part; a note without the file.
func TestFileOfTrainingTexts(t *testing.T) {
	path := write(t, numbers(300)...)
	c := Labels{Path: path}
	tk := open(t, c)
	for _, gone := range []bool{false, true} {
		other := write(t, append(numbers(300), []string{"new", "none"})...)
		if gone {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		_, notes, err := c.Reader(tk.v).File(other)
		want := fmt.Sprintf("%d of 301 texts are also in the training part", len(tk.TrainingPart))
		if err != nil || slices.Contains(notes, want) == gone || len(tk.TrainingPart) >= 300 || gone && strings.Contains(strings.Join(notes, ""), "training part") {
			t.Errorf("without the file: %v: %q, %v, want %q", gone, notes, err, want)
		}
	}
}
