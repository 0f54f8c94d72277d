package labels

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// The most frequent label of the notes is that of the training part, whatever the file for evaluation has, and a training part of one label
// is refused, whatever the others have.
// Caught when planted: the most frequent of all rows; labels of all rows counted.
func TestLabelsOfTheTrainingPart(t *testing.T) {
	var rows, held [][]string
	for i := range 400 {
		rows = append(rows, []string{fmt.Sprint("training ", i), []string{"few", "most", "most"}[i%3]})
		held = append(held, []string{fmt.Sprint("other ", i), "few"}, []string{fmt.Sprint("more ", i), "few"})
	}
	tk := open(t, Labels{Path: write(t, rows...), HeldOutPath: write(t, held...)})
	count := 0
	for _, e := range tk.TrainingPart {
		if tk.v.Target.Token(e.Target[0]) == "most" {
			count++
		}
	}
	want := fmt.Sprintf(`2 labels; the most frequent, "most", is %.3f of the training examples`, float64(count)/float64(len(tk.TrainingPart)))
	if !slices.Contains(tk.Notes(), want) {
		t.Errorf("%q, want %q", tk.Notes(), want)
	}
	one, rare := write(t, relabeled(rows, "same")...), relabeled(rows, "most")
	for i := 0; i < len(rare); i += 100 {
		rare[i][1] = "rare"
	}
	for name, c := range map[string]struct {
		config Labels
		want   string
	}{
		"a file for evaluation": {Labels{Path: one, HeldOutPath: write(t, rows...)}, `all rows for training have the label "same", and only those held out have others, ["most" "few"]; lower`},
		"all are alike":         {Labels{Path: one, HeldOutPath: one, Layout: tabular.Layout{Header: tabular.No}}, `all rows have the label ["same"]: a classifier`},
		"nearly all held out":   {Labels{Path: write(t, rare...), HeldOut: 0.98}, "lower task.held_out or add rows: a classifier needs at least two labels"},
	} {
		c.config.Tokenizer = vocab.Whitespace
		if _, err := c.config.Open(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a classifier needs at least two labels") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// relabeled returns rows with one label.
func relabeled(rows [][]string, label string) (list [][]string) {
	for _, r := range rows {
		list = append(list, []string{r[0], label})
	}
	return list
}

// Columns that are swapped are asked about if all texts are alike: in an error with two texts, and in a note if no part is empty.
// Caught when planted: an empty part without the question; the question about a file for evaluation.
func TestSwappedColumns(t *testing.T) {
	var rows, many [][]string
	for i := range 600 {
		rows = append(rows, []string{[]string{"good", "bad"}[i%2], fmt.Sprint("text ", i)})
		many = append(many, []string{fmt.Sprint("class ", i%50), fmt.Sprint("text ", i)})
	}
	const question = "different texts in 600 rows: 2; does task.text_column choose the right column?"
	if _, err := (Labels{Path: write(t, rows...)}).Open(); err == nil || !strings.Contains(err.Error(), question) {
		t.Errorf("two texts: %v", err)
	}
	if _, err := (Labels{Path: write(t, rows...), HeldOutPath: write(t, numbers(300)...)}).Open(); err == nil || !strings.Contains(err.Error(), question) {
		t.Errorf("two texts and a file for evaluation: %v", err)
	}
	if notes := open(t, Labels{Path: write(t, many...), HeldOut: 0.4}).Notes(); !strings.Contains(strings.Join(notes, "\n"), "different texts in 600 rows: 50; does task.text_column") {
		t.Errorf("%q", notes)
	}
	tk := open(t, Labels{Path: write(t, numbers(300)...), HeldOutPath: write(t, slices.Repeat(numbers(2), 4000)...)})
	if notes := strings.Join(tk.Notes(), "\n"); strings.Contains(notes, "different texts") {
		t.Errorf("%s", notes)
	}
}

// A text of white space is an empty one in files and where texts are read, with every tokenizer.
// Caught when planted: spaces that are tokens in a file, or in a request; a no-break space that is none.
func TestBlankTexts(t *testing.T) {
	rows := append(numbers(300), []string{"   ", "none"}, []string{"\u00a0 ", "none"}, []string{" x ", "none"})
	for _, c := range []Labels{
		{Tokenizer: vocab.Characters}, {Tokenizer: vocab.Whitespace}, {Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 270}},
	} {
		c.Path = write(t, rows...)
		tk := open(t, c)
		if r := tk.reports[0]; r.Skipped != 2 || !strings.Contains(r.String(), "labels.csv:301: the text is empty") || !strings.Contains(r.String(), "labels.csv:302: the text is empty") {
			t.Errorf("%v: %s", c.Tokenizer, r)
		}
		for _, text := range []string{"", " ", "\t \u00a0"} {
			if in, err := c.Reader(tk.v).Read(text); err == nil || !strings.Contains(err.Error(), "is empty") {
				t.Errorf("%v: %q is read as %v, %v", c.Tokenizer, text, in, err)
			}
		}
		if _, err := c.Reader(tk.v).Read(" one "); err != nil {
			t.Errorf("%v: %v", c.Tokenizer, err)
		}
	}
}
