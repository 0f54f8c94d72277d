package tabular

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/internal/textfile"
)

// This file recognizes files of other formats by their first line, which would otherwise be refused row by row for another reason, or
// read as what they are not.

// foreign returns an error if the first line with text is JSON, or a row of csv that can be split only by another delimiter.
func (l Layout) foreign(text string, first Row, columns []Column) error {
	if filter := jq(strings.TrimSpace(text), columns); filter != "" {
		return textfile.ErrJSON(filter)
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

// jq returns the filter that converts a file of JSON, of which text is the first line, to the columns; "" if the line is not JSON.
func jq(text string, columns []Column) string {
	each, object := "", text
	first, several := strings.CutPrefix(text, "[{")
	first = strings.TrimSpace(first)
	switch {
	case text == "[" || several && !strings.Contains(text, "\t") && (first == "" || first[0] == '"'): // a row may begin so, too, as in [{x}]
		each, object = ".[] | ", strings.TrimSuffix(strings.Trim(text, "[]"), ",")
	case text == "{" || strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
	default:
		return ""
	}
	var members map[string]any
	_ = json.Unmarshal([]byte(object), &members) // nothing is known of a record of several lines
	var list []string
	for _, c := range columns {
		list = append(list, c.member(members))
	}
	return each + "[" + strings.Join(list, ", ") + "] | @tsv"
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member returns the filter for a column in a record of JSON: the member with the chosen or a usual name, of a list its elements.
func (c Column) member(members map[string]any) string {
	name := c.Name
	if c.named() {
		name = c.Choice
	} else if at := slices.IndexFunc(c.Usual, func(usual string) bool { _, has := members[usual]; return has }); at >= 0 {
		name = c.Usual[at]
	}
	path := "." + name
	if !identifier.MatchString(name) {
		path = fmt.Sprintf(".[%q]", name)
	}
	if _, several := members[name].([]any); several {
		path = "(" + path + ` | join(" "))`
	}
	return path
}
