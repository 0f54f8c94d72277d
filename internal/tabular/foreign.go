package tabular

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/textfile"
)

// This file recognizes files of other formats by their first line, which would otherwise be refused row by row for another reason, or
// read as what they are not.

// foreign returns an error if the first line with text is JSON, or a row of csv that can be split only by another delimiter. head returns
// the first bytes of the file.
func (l Layout) foreign(text string, first Row, columns []Column, head func() []byte) error {
	if text = strings.TrimSpace(text); text != "" && isJSON(text, nil) || text == "" && isJSON("", head()) {
		filter, all := jq(head(), columns)
		choice := ""
		if !all {
			choice = l.chosenBy(columns)
		}
		return textfile.ErrJSON(filter, choice)
	}
	if errors.Is(first.Err, errQuote) {
		return l.wrongDelimiter(text, first)
	}
	return nil
}

// wrongDelimiter returns an error if the first row of csv is a single field, or none because of its quotes, and has several between
// semicolons or vertical lines.
func (l Layout) wrongDelimiter(text string, first Row) error {
	if l.Format != CSV || l.Delimiter != "" || l.other || len(first.Fields) > 1 {
		return nil
	}
	for _, delimiter := range ";|" {
		s := scanner{comma: delimiter}
		if fields, err := s.fields(strings.NewReader(text)); err == nil && len(fields) > 1 {
			return fmt.Errorf("the fields of the first row stand between %q, not between commas: set task.delimiter=%q", string(delimiter), string(delimiter))
		}
	}
	return nil
}
