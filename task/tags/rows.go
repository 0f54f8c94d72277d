package tags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
)

// A sentence is one usable sentence.
type sentence struct {
	hash   uint64 // of the words
	line   int    // its first line in its file, from 1
	origin Origin
}

// Origin is the words of a sentence and their tags.
type Origin struct{ words, tags []string }

// Text returns words and tags, each separated by spaces.
func (o Origin) Text() (source, target string) {
	return strings.Join(o.words, " "), strings.Join(o.tags, " ")
}

// document is a word of CoNLL files that begins a document and is no word of a text.
const document = "-DOCSTART-"

// columns returns the columns of words and tags.
func (c Tags) columns() []tabular.Column {
	return []tabular.Column{
		{Name: "word", Choice: c.WordColumn, Usual: []string{"word", "words", "token", "tokens", "form", "sentence", "text"}},
		{Name: "tag", Choice: c.TagColumn, Usual: []string{"tag", "tags", "ner", "ner_tag", "ner_tags", "label", "labels", "pos", "upos"}, Last: true},
	}
}

// wanted describes a row for messages.
const wanted = "a word and its tag in each row, and blank lines between the sentences"

// readFile reads all sentences of a file. It returns an error if the file is empty, or if none or fewer than half of them are usable.
func (c Tags) readFile(path string) ([]sentence, tabular.Report, error) {
	report := tabular.Report{Path: path, Unit: "sentences"}
	var rows []tabular.Row
	c.Layout.Otherwise = tabular.Spaces
	info, err := c.Layout.Read(path, c.columns(), func(row tabular.Row) { rows = append(rows, row) })
	report.Describe(info)
	if err != nil {
		return nil, report, err
	}
	sentences := c.sentences(rows, &report)
	var tags []string
	for _, s := range sentences {
		tags = append(tags, s.origin.tags...)
	}
	report.NoteFirst(c.Layout, "tag", tags)
	return sentences, report, report.Check(wanted)
}

// sentences returns the usable sentences of rows: each row, or the rows between blank lines.
func (c Tags) sentences(rows []tabular.Row, report *tabular.Report) (list []sentence) {
	if perRow(rows) {
		for _, row := range rows {
			list = tabular.Add(report, list, row, c.row)
		}
		return list
	}
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, blank)
		if n < 0 {
			n = len(rows)
		}
		if of := slices.DeleteFunc(rows[:n:n], begins); len(of) > 0 {
			list = c.add(report, list, of)
		}
		rows = rows[min(n+1, len(rows)):]
	}
	return list
}

// perRow reports whether every row is a sentence: more rows have several words and as many tags than one word and one tag. If no blank line
// is between rows, those of one word are short sentences and do not count.
func perRow(rows []tabular.Row) bool {
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	several, single := 0, 0
	for _, r := range rows {
		if r.Err != nil {
			continue
		}
		switch words, tags := len(strings.Fields(r.Fields[0])), len(strings.Fields(r.Fields[1])); {
		case words != tags:
		case words > 1:
			several++
		case words == 1:
			single++
		}
	}
	if !slices.ContainsFunc(rows, blank) {
		single = 0
	}
	return several > single
}

// blank reports whether a row separates sentences: an empty line, or a row of empty fields.
func blank(r tabular.Row) bool {
	return r.Err == tabular.ErrBlank || r.Err == nil && strings.TrimSpace(r.Fields[0]+r.Fields[1]) == ""
}

// begins reports whether a row begins a document.
func begins(r tabular.Row) bool { return r.Err == nil && r.Fields[0] == document }

// add appends a sentence with a word in each row, or counts it as malformed.
func (c Tags) add(report *tabular.Report, list []sentence, rows []tabular.Row) []sentence {
	whole := tabular.Row{Line: rows[0].Line}
	var words, tags []string
	for _, r := range rows {
		if r.Err == nil {
			r.Err = checkWord(r.Fields[0], r.Fields[1])
		}
		if r.Err != nil { // the whole sentence is skipped, since a gap would change what its words mean
			whole = r
			break
		}
		words, tags = append(words, r.Fields[0]), append(tags, r.Fields[1])
	}
	return tabular.Add(report, list, whole, func(line int, _ []string) (sentence, error) { return c.sentence(line, words, tags) })
}

// checkWord returns an error if a row does not have one word and its tag.
func checkWord(word, tag string) error {
	switch {
	case word == "":
		return errors.New("the word is empty")
	case tag == "":
		return errors.New("the tag is empty")
	case strings.ContainsFunc(word, unicode.IsSpace):
		return fmt.Errorf("the word %q has a space: replace it, for example by an underscore", word)
	case strings.ContainsFunc(tag, unicode.IsSpace):
		return fmt.Errorf("the tag %q has a space: replace it, for example by an underscore", tag)
	}
	return nil
}

// row converts the fields of a row that is a sentence.
func (c Tags) row(line int, fields []string) (sentence, error) {
	return c.sentence(line, strings.Fields(fields[0]), strings.Fields(fields[1]))
}

// sentence returns the sentence of words and their tags; the error says why it is malformed.
func (c Tags) sentence(line int, words, tags []string) (sentence, error) {
	s := sentence{line: line, origin: Origin{words, tags}}
	text, _ := s.origin.Text()
	s.hash = tabular.Hash(text)
	switch {
	case len(words) == 0:
		return s, errors.New("the sentence is empty")
	case len(words) != len(tags):
		return s, fmt.Errorf("%d words have %d tags: each needs one", len(words), len(tags))
	case len(words) > c.MaxLength && c.Path == "": // a file to evaluate on
		return s, fmt.Errorf("the sentence has %d words, more than %d", len(words), c.MaxLength)
	case len(words) > c.MaxLength:
		return s, fmt.Errorf("the sentence has %d words, more than task.max_length %d: raise it, or put blank lines between sentences", len(words), c.MaxLength)
	}
	for _, token := range slices.Concat(words, tags) {
		if vocab.Reserved(token) {
			return s, fmt.Errorf("the sentence has the reserved token %s", token)
		}
	}
	return s, nil
}
