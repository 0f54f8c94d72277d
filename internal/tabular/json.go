package tabular

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
)

// This file finds the filter of jq that converts a file of JSON to CSV with a header.

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	unfinished = regexp.MustCompile(`^\{\s*"[^"\t]*"\s*:[^\t]*[\[{,:]$`) // a line that begins an object and does not end it
)

// A headReader keeps the first bytes that are read.
type headReader struct {
	io.Reader
	head []byte
}

func (h *headReader) Read(p []byte) (n int, err error) {
	n, err = h.Reader.Read(p)
	h.head = append(h.head, p[:min(n, detected-len(h.head))]...)
	return n, err
}

// isJSON reports whether a file begins with JSON. text is its first line with text, empty if that is too long. A row may begin with
// brackets, too, as in [{x}].
func isJSON(text string, head []byte) bool {
	if text == "" {
		text = strings.TrimSpace(string(head))
		return strings.HasPrefix(text, `{"`) && !strings.Contains(text, "\t") || strings.HasPrefix(text, "[{") && isJSON(text, nil)
	}
	first, several := strings.CutPrefix(text, "[{")
	first = strings.TrimSpace(first)
	switch {
	case text == "[", text == "{":
		return true
	case several:
		return !strings.Contains(text, "\t") && (first == "" || first[0] == '"')
	}
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) || unfinished.MatchString(text)
}

// jq returns the filter that converts a file of JSON, which begins with head, to the columns, and whether its records have all of them. If
// they do not, the filter converts all members that can be fields.
func jq(head []byte, columns []Column) (filter string, all bool) {
	d := json.NewDecoder(bytes.NewReader(head))
	first, _ := partial(d)
	second, _ := partial(d)
	_, several := second.(object)
	path, record := recordsIn(first, "", several, columns)
	names, all := record.members(columns)
	var header, fields []string
	for _, name := range names {
		field := member("", name)
		if list, ok := record.values[name].([]any); ok && list != nil {
			field = "(" + field + ` | join(" "))`
		}
		header, fields = append(header, literal(name)), append(fields, field)
	}
	return "[" + strings.Join(header, ", ") + "], (inputs | " + path + "[" + strings.Join(fields, ", ") + "]) | @csv", all
}

// An object is a JSON object, perhaps cut off, with its members in their order.
type object struct {
	names  []string
	values map[string]any
}

// partial reads a JSON value. If the data end inside, it returns what it has read, and not ok.
func partial(d *json.Decoder) (value any, ok bool) {
	start, err := d.Token()
	switch {
	case err != nil:
		return nil, false
	case start == json.Delim('['):
		list := []any{}
		for d.More() {
			element, ok := partial(d)
			list = append(list, element)
			if !ok {
				return list, false
			}
		}
		_, err := d.Token()
		return list, err == nil
	case start != json.Delim('{'):
		return start, true
	}
	o := object{values: map[string]any{}}
	for d.More() {
		token, err := d.Token()
		name, named := token.(string)
		if err != nil || !named {
			return o, false
		}
		member, ok := partial(d)
		if !slices.Contains(o.names, name) {
			o.names = append(o.names, name)
		}
		if o.values[name] = member; !ok {
			return o, false
		}
	}
	_, err = d.Token()
	return o, err == nil
}

// recordsIn finds the records in a value: its elements, those of the first list of objects in it, or the value itself if it is one of
// several or has a member that a column looks for. path is the filter that leads to each record.
func recordsIn(value any, at string, several bool, columns []Column) (path string, first object) {
	switch v := value.(type) {
	case []any:
		if len(v) > 0 {
			if o, ok := v[0].(object); ok {
				if at == "" {
					at = "."
				}
				return at + "[] | ", o
			}
		}
	case object:
		if several || slices.ContainsFunc(columns, func(c Column) bool { _, found := v.column(c); return found }) {
			return "", v
		}
		for _, name := range v.names {
			if path, o := recordsIn(v.values[name], member(at, name), false, nil); path != "" {
				return path, o
			}
		}
		return "", v
	}
	return "", first
}

// column returns the name of the member that a column looks for: the chosen one, or one with a usual name.
func (o object) column(c Column) (name string, found bool) {
	if c.named() {
		_, found = o.values[c.Choice]
		return c.Choice, found
	}
	for _, name := range c.Usual {
		if _, found := o.values[name]; found {
			return name, true
		}
	}
	return c.Name, false
}

// members returns the names of the members of the columns, or those of all that can be fields if a column has none.
func (o object) members(columns []Column) (names []string, all bool) {
	all = true
	for _, c := range columns {
		name, found := o.column(c)
		names, all = append(names, name), all && found && fits(o.values[name])
	}
	if all {
		return names, true
	}
	usable := slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return !fits(o.values[name]) })
	if len(usable) < len(columns) { // nothing is known of a record that is far inside
		return names, len(usable) == 0
	}
	return usable, false
}

// fits reports whether a member can be a field: a text, a number, or a list of them.
func fits(member any) bool {
	list, ok := member.([]any)
	if !ok {
		list = []any{member}
	}
	return !slices.ContainsFunc(list, func(element any) bool {
		switch element.(type) {
		case object, []any:
			return true
		}
		return false
	})
}

// member returns the filter for a member of what another filter leads to.
func member(of, name string) string {
	switch {
	case identifier.MatchString(name):
		return of + "." + name
	case of == "":
		of = "."
	}
	return of + "[" + literal(name) + "]"
}

// literal returns a text as JSON.
func literal(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string is JSON
	return strings.TrimSuffix(b.String(), "\n")
}
