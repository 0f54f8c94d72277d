package labels

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// A row is one usable row.
type row struct {
	hash   uint64 // of the text
	line   int    // its first line in its file, from 1
	origin Origin
	tokens []string // of the text; a text that will be split into subwords is one token
}

// Origin is the text and the label that an example was made from.
type Origin struct{ text, label string }

// Text returns the text and its label.
func (o Origin) Text() (source, target string) { return o.text, o.label }

// columns returns the columns of text and label.
func (c Labels) columns() []tabular.Column {
	return []tabular.Column{
		{Name: "text", Choice: c.TextColumn, Usual: []string{"text", "sentence", "review", "message", "comment"}},
		{Name: "label", Choice: c.LabelColumn, Usual: []string{"label", "class", "category", "target", "sentiment"}},
	}
}

// wanted describes a row for messages.
const wanted = "a text and its label in each row"

// readFile reads all rows of a file. It returns an error if the file is empty, or if none or fewer than half of its rows are usable.
func (c Labels) readFile(path string) ([]row, tabular.Report, error) {
	rows, report, err := tabular.ReadFile(c.Layout, path, c.columns(), c.row)
	if err == nil {
		err = report.Check(wanted)
	}
	report.NoteFirst(c.Layout, "label", ofRows(rows))
	return rows, report, err
}

// ofRows returns the label of each row.
func ofRows(rows []row) []string {
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = r.origin.label
	}
	return labels
}

// row converts the fields of a row; the error says why it is malformed.
func (c Labels) row(line int, fields []string) (row, error) {
	r := row{hash: tabular.Hash(fields[0]), line: line, origin: Origin{fields[0], strings.TrimSpace(fields[1])}}
	switch label := r.origin.label; {
	case label == "":
		return r, errors.New("the label is empty")
	case vocab.Reserved(label):
		return r, fmt.Errorf("the label is the reserved token %s", label)
	}
	var err error
	switch {
	case blank(r.origin.text):
		return r, errors.New("the text is empty")
	case c.Tokenizer == vocab.Subwords:
		r.tokens, err = []string{r.origin.text}, subword.CheckText(r.origin.text)
		return r, err
	}
	if r.tokens, err = c.Tokenizer.Split(r.origin.text); err != nil {
		return r, fmt.Errorf("text: %w", err)
	}
	for _, token := range r.tokens {
		if vocab.Reserved(token) {
			return r, fmt.Errorf("the text has the reserved token %s", token)
		}
	}
	return r, c.checkLength(len(r.tokens), "tokens")
}

// blank reports whether a text has white space only, which counts as empty everywhere.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (c Labels) checkLength(n int, unit string) error {
	switch {
	case n == 0:
		return errors.New("the text is empty")
	case n <= c.MaxLength:
		return nil
	case c.Path == "": // a file to evaluate on
		return fmt.Errorf("the text has %d %s, more than %d", n, unit, c.MaxLength)
	}
	return fmt.Errorf("the text has %d %s, more than task.max_length %d: raise it", n, unit, c.MaxLength)
}

// cut splits texts into subwords, and leaves out those with too many.
func (c Labels) cut(pieces *subword.Pieces, rows []row, report *tabular.Report) (kept []row, err error) {
	for _, r := range rows {
		if r.tokens, err = pieces.Split(r.origin.text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", report.Path, r.line, err)
		}
		if problem := c.checkLength(len(r.tokens), "subwords"); problem != nil {
			report.Usable--
			report.Skip(r.line, problem.Error())
			continue
		}
		kept = append(kept, r)
	}
	return kept, nil
}

// maxTokens is the maximum length of a text of a file to evaluate on.
const maxTokens = 10_000

// fileReader returns a function that reads files with the columns of the configuration. Files that do not have them, but two columns
// without a header, are also read: the model knows the label of their first row.
func (c Labels) fileReader(v task.Vocabularies) func(path string) ([]task.Example, []string, error) {
	return func(path string) ([]task.Example, []string, error) {
		own := c
		c := Labels{TextColumn: c.TextColumn, LabelColumn: c.LabelColumn, Layout: c.ForOther(), Tokenizer: v.Tokenizer, MaxLength: max(maxTokens, c.MaxLength)}
		rows, report, err := c.readFile(path)
		var missing *tabular.ColumnError
		if errors.As(err, &missing) && missing.Fields == 2 {
			c.TextColumn, c.LabelColumn = "", ""
			var problem error
			rows, report, problem = c.readFile(path)
			if problem == nil && (report.HasHeader() || knows(v, rows)) {
				err = nil
			}
		}
		if err == nil && v.Subwords != nil {
			rows, err = c.cut(v.Subwords, rows, &report)
		}
		if err != nil {
			return nil, nil, err
		}
		unknown, labels := tabular.UnknownTokens{}, tabular.UnknownTokens{}
		examples := make([]task.Example, len(rows))
		for i, r := range rows {
			examples[i] = encode(v, r, &unknown)
			if _, known := v.Target.ID(r.origin.label); !known {
				labels.Add(r.origin.label)
			}
		}
		notes := append(strings.Split(report.String(), "\n"), unknown.Lines("texts")...)
		notes = append(notes, tabular.RepeatedNote(rows, own.trained(), hashOf, "texts")...)
		if labels.Count > 0 {
			notes = append(notes, fmt.Sprintf("%s a label that the model does not know, among them %q: counted as wrong", quantity.Of(labels.Count, "row has", "rows have"), labels.Tokens))
		}
		return examples, notes, nil
	}
}

// knows reports whether the label of the first row is one of the model's.
func knows(v task.Vocabularies, rows []row) bool {
	_, known := v.Target.ID(rows[0].origin.label)
	return known
}

// encode encodes a row, and records unknown tokens. A label that the vocabulary does not have becomes End, which no model answers.
func encode(v task.Vocabularies, r row, unknown *tabular.UnknownTokens) task.Example {
	e := task.Example{Origin: r.origin}
	replacement, _ := v.Source.Unknown()
	for _, token := range r.tokens {
		id, known := v.Source.ID(token)
		if !known { // never a subword
			id = replacement
			if unknown != nil {
				unknown.Add(token)
			}
		}
		e.Source = append(e.Source, id)
	}
	class, known := v.Target.ID(r.origin.label)
	if !known {
		class = vocab.End
	}
	e.Target = []vocab.ID{class}
	return e
}
